//! The drives that are tried: every built-in profile with its variants, and exact drives.

use anyhow::anyhow;
use drive::profile::{DriveProfile, built_in};
use drive::{Host, Model, ModelQueue};
use measure::Run;
use measure::probe::Alignment;
use units::stripe::Rotation;

use super::exact::{Exact, Shape};
use super::truth::Truth;
use crate::bench;

/// A drive, and what may be found of it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) name: String,
    made: Made,
    pub(super) truth: Truth,
    /// Of a hundred probes, the least that must find all that there is.
    pub(super) right_percent: u64,
}

/// Plan of a drive.
#[derive(Clone, Debug)]
enum Made {
    Profile(Box<DriveProfile>),
    Exact(Exact),
}

/// The length of the stretch of a drive on which it is measured.
const SCRATCH_BYTES: u64 = 64 << 20;
/// Distance of places where a stretch may start: far enough that caches share nothing.
const START_BYTES: u64 = 1 << 30;
const STARTS: u64 = 7;
/// The longest operation.
const BUFFER_BYTES: usize = 128 << 10;
/// Time of a host between two operations, in nanoseconds.
pub(super) const TURNAROUND_NS: u64 = 4_000;

impl Case {
    /// The drive, at time 0.
    ///
    /// # Errors
    /// When it cannot be.
    pub(super) fn model(&self, seed: u64) -> anyhow::Result<Box<dyn Model>> {
        match &self.made {
            Made::Profile(profile) => Ok(profile.model()?),
            Made::Exact(exact) => exact.model(seed),
        }
    }

    /// A queue of that depth over the stretch that `seed` picks.
    ///
    /// # Errors
    /// When the drive cannot be.
    pub(super) fn queue(
        &self,
        depth: u16,
        seed: u64,
    ) -> anyhow::Result<ModelQueue<Box<dyn Model>>> {
        let model = self.model(seed)?;
        let host = Host {
            depth,
            buffer_bytes: BUFFER_BYTES,
            start_bytes: start_bytes(seed),
            turnaround_ns: TURNAROUND_NS,
            has_cache: model.has_write_cache(),
            has_fua: false,
        };
        Ok(ModelQueue::new(model, host))
    }
}

/// The stretch of a drive that `seed` picks.
pub(super) fn stretch(seed: u64) -> Run {
    let address_bytes = start_bytes(seed);
    Run { offset_bytes: 0, length_bytes: SCRATCH_BYTES, leaf: 0, address_bytes }
}

fn start_bytes(seed: u64) -> u64 {
    START_BYTES * (1 + seed % STARTS)
}

/// A built-in drive with other values.
struct Variant {
    name: &'static str,
    of: &'static str,
    /// The drive that it is made of, where that is another one.
    member: Option<&'static str>,
    values: &'static [(&'static str, &'static str)],
}

const fn variant(
    name: &'static str,
    of: &'static str,
    member: Option<&'static str>,
    values: &'static [(&'static str, &'static str)],
) -> Variant {
    Variant { name, of, member, values }
}

/// Nearly all of what is sure must be found.
const NEARLY_ALL: u64 = 95;

const VARIANTS: &[Variant] = &[
    variant("512e disk, batched", "hdd-7200-512e", None, &[("rmw", "batched")]),
    variant("512e disk, serial", "hdd-7200-512e", None, &[("rmw", "serial")]),
    variant("512e disk, buffered", "hdd-7200-512e", None, &[("rmw", "buffered")]),
    variant("512e disk, origin 3584", "hdd-7200-512e", None, &[("origin", "3584")]),
    variant(
        "512e disk, batched, origin 512",
        "hdd-7200-512e",
        None,
        &[("rmw", "batched"), ("origin", "512")],
    ),
    variant("512e disk, depth 4", "hdd-7200-512e", None, &[("depth", "4")]),
    variant("512e disk, depth 16", "hdd-7200-512e", None, &[("depth", "16")]),
    variant("512e disk, depth 31", "hdd-7200-512e", None, &[("depth", "31")]),
    variant("512e disk, in order", "hdd-7200-512e", None, &[("scheduler", "fifo")]),
    variant("512e disk, depth 64", "hdd-7200-512e", None, &[("depth", "64")]),
    variant("flash, one slot", "dc-p3700", None, &[("rmw_queue", "0"), ("rmw_slots", "1")]),
    variant("flash, origin 3584", "m4-256", None, &[("origin", "3584")]),
    variant("flash of 16K", "m4-256", None, &[("unit", "16 KiB"), ("page", "16 KiB")]),
    variant(
        "flash of 16K, origin 512",
        "m4-256",
        None,
        &[("unit", "16 KiB"), ("page", "16 KiB"), ("origin", "512")],
    ),
    variant("flash, 8 dies", "950-pro", None, &[("dies", "8")]),
    variant("flash, 14 dies", "950-pro", None, &[("dies", "14"), ("channels", "7")]),
    variant("flash, 8 dies of 16K", "950-pro", None, &[("dies", "8"), ("page", "16 KiB")]),
    variant(
        "flash, 8 dies of 16K, origin 3584",
        "950-pro",
        None,
        &[("dies", "8"), ("page", "16 KiB"), ("origin", "3584")],
    ),
    variant(
        "flash, 8 dies of 64K, origin 2048",
        "950-pro",
        None,
        &[("dies", "8"), ("page", "64 KiB"), ("origin", "2048")],
    ),
    variant("RAID0 3x64K", "raid0-2x16k", None, &[("members", "3"), ("chunk", "64 KiB")]),
    variant("RAID0 14x64K", "raid0-2x16k", None, &[("members", "14"), ("chunk", "64 KiB")]),
    variant(
        "RAID0 4x128K of 512e",
        "raid0-2x16k",
        Some("hdd-7200-512e"),
        &[("members", "4"), ("chunk", "128 KiB")],
    ),
    variant(
        "RAID0 4x64K of flash",
        "raid0-2x16k",
        Some("m4-256"),
        &[("members", "4"), ("chunk", "64 KiB"), ("turns", "no")],
    ),
    variant("RAID1 of 512e", "raid0-2x16k", Some("hdd-7200-512e"), &[("level", "raid1")]),
    variant(
        "RAID10 4x64K",
        "raid0-2x16k",
        None,
        &[("level", "raid10"), ("members", "4"), ("chunk", "64 KiB")],
    ),
    variant(
        "RAID10 6x64K of 512e",
        "raid0-2x16k",
        Some("hdd-7200-512e"),
        &[("level", "raid10"), ("members", "6"), ("chunk", "64 KiB")],
    ),
    variant(
        "RAID5 5x16K of flash",
        "raid5-5x64k",
        Some("dc-p3700"),
        &[("chunk", "16 KiB"), ("turns", "no")],
    ),
    variant(
        "RAID5 3x32K",
        "raid5-5x64k",
        Some("hdd-7200-512n"),
        &[("members", "3"), ("chunk", "32 KiB")],
    ),
    variant("controller, 64 MiB", "raid5-bbu", None, &[("cache", "64 MiB")]),
    variant("controller over RAID0", "raid5-bbu", Some("raid0-2x16k"), &[]),
];

impl Case {
    fn new(name: String, profile: DriveProfile) -> anyhow::Result<Case> {
        let truth = Truth::of(&profile)?;
        profile.model().map_err(|fault| anyhow!("{name} cannot be: {fault}"))?;
        let right_percent = if SURE.contains(&name.as_str()) { NEARLY_ALL } else { 0 };
        Ok(Case { name, made: Made::Profile(Box::new(profile)), truth, right_percent })
    }
}

/// Those of which all can be found, in spite of what their heads and dies do meanwhile.
const SURE: &[&str] = &[
    "hdd-7200-512e",
    "hdd-7200-512n",
    "wd10ears",
    "flash, one slot",
    "cloud-nvme-2019",
    "optane-p4800x",
    "gp2-100",
    "512e disk, batched",
    "512e disk, serial",
    "512e disk, buffered",
    "512e disk, origin 3584",
    "512e disk, batched, origin 512",
    "512e disk, depth 4",
    "512e disk, depth 16",
    "512e disk, depth 31",
    "512e disk, in order",
    "512e disk, depth 64",
    "RAID1 of 512e",
];

/// Every built-in profile, and its variants.
///
/// # Errors
/// When a variant is of no built-in drive, or cannot be.
pub(super) fn all() -> anyhow::Result<Vec<Case>> {
    let built_in = built_in().iter();
    let own = built_in.map(|profile| Case::new(profile.name.clone(), profile.clone()));
    own.chain(VARIANTS.iter().map(varied)).collect()
}

fn varied(variant: &Variant) -> anyhow::Result<Case> {
    let mut profile = bench::drive::profile(variant.of)?.clone();
    for (key, text) in variant.values {
        profile =
            profile.with(key, text).map_err(|problem| anyhow!("{}: {problem}", variant.name))?;
    }
    if let Some(member) = variant.member {
        profile.member = Some(member.to_owned());
    }
    Case::new(variant.name.to_owned(), profile)
}

const KIB: u64 = 1 << 10;

/// Flash without anything above it, with these starts, origin and lengths of writes.
pub(super) const fn flash(alignment_bytes: u64, origin_bytes: u64, size_bytes: u64) -> Exact {
    Exact {
        alignment_bytes,
        origin_bytes,
        size_bytes,
        part: 0.8,
        crypt_ns: (0, 0),
        tick_ns: 1,
        shape: Shape::Alone,
    }
}

/// Flash of 512 bytes, of which nothing is found.
const FINE: Exact = flash(512, 0, 512);
/// Flash of 4 KiB.
const USUAL: Exact = flash(4 * KIB, 0, 4 * KIB);

const fn raid0(exact: Exact, chunk_bytes: u64, members: u64) -> Exact {
    Exact { shape: Shape::Raid0 { members, chunk_bytes }, ..exact }
}

const fn raid5(exact: Exact, chunk_bytes: u64, members: u64, rotation: Rotation) -> Exact {
    Exact { shape: Shape::Raid5 { members, chunk_bytes, rotation }, ..exact }
}

const fn throttled(exact: Exact, per_second: u64, tokens: u64) -> Exact {
    Exact { shape: Shape::Throttled { per_second, tokens }, ..exact }
}

/// Findings on an exact drive.
#[derive(Clone, Copy)]
enum Finds {
    /// Its granule and its stripe must be.
    All,
    /// They may be: it is hard to tell.
    Hard,
    /// The stripe alone must be.
    Stripe,
    /// The stripe alone may be.
    HardStripe,
    /// Nothing must be.
    Nothing,
}

use Finds::{All, Hard, HardStripe, Nothing, Stripe};
use Rotation::{LeftAsymmetric, LeftSymmetric};

/// Flash that looks for operations every 4 ms.
const TICKING: Exact = Exact { tick_ns: 4_000_000, ..FINE };

#[rustfmt::skip]
const EXACT: &[(&str, Finds, Exact)] = &[
    ("512e flash", All, USUAL),
    ("16K size, 4K alignment", All, flash(4 * KIB, 0, 16 * KIB)),
    ("16K size and alignment", All, flash(16 * KIB, 0, 16 * KIB)),
    // A row of an array with parity looks the same.
    ("64K size and alignment", Nothing, flash(64 * KIB, 0, 64 * KIB)),
    ("512e, origin 3584", All, flash(4 * KIB, 3584, 4 * KIB)),
    ("RAID0 64K x 3", Stripe, raid0(FINE, 64 * KIB, 3)),
    ("RAID0 128K x 4", Stripe, raid0(FINE, 128 * KIB, 4)),
    ("RAID0 64K x 14", Stripe, raid0(FINE, 64 * KIB, 14)),
    ("RAID0 64K x 3 of 512e", Hard, raid0(USUAL, 64 * KIB, 3)),
    ("RAID0 16K x 5 of 512e", Hard, raid0(USUAL, 16 * KIB, 5)),
    ("512e flash, barely slower", Hard, Exact { part: 0.12, ..USUAL }),
    ("16K, origin 8K", Hard, flash(16 * KIB, 8 * KIB, 16 * KIB)),
    ("16K, origin 512", Hard, flash(16 * KIB, 512, 16 * KIB)),
    ("1K size and alignment", Hard, flash(KIB, 0, KIB)),
    ("64K size, 4K alignment", Hard, flash(4 * KIB, 0, 64 * KIB)),
    ("RAID5 64K x 4+1", HardStripe, raid5(FINE, 64 * KIB, 5, LeftSymmetric)),
    ("RAID5 64K x 4+1, asymm.", HardStripe, raid5(FINE, 64 * KIB, 5, LeftAsymmetric)),
    ("RAID5 64K x 4+1 of 512e", Hard, raid5(USUAL, 64 * KIB, 5, LeftSymmetric)),
    // A whole row is 48 KiB, which is no power of two.
    ("RAID5 16K x 3+1", HardStripe, raid5(FINE, 16 * KIB, 4, LeftSymmetric)),
    // A whole row is 64 KiB: less of it costs a read-modify-write, as with a granule, which it is
    // not.
    ("RAID5 16K x 4+1", HardStripe, raid5(FINE, 16 * KIB, 5, LeftSymmetric)),
    ("dm-crypt on 512e", All, Exact { crypt_ns: (30_000, 400), ..USUAL }),
    ("cloud, 3000 a second", Nothing, throttled(FINE, 3000, 1000)),
    ("cloud, 500 a second, ticks", Nothing, throttled(TICKING, 500, 100)),
    ("cloud, 100 a second", Nothing, throttled(FINE, 100, 1)),
    ("cloud, 300 a second, ticks", Nothing, throttled(TICKING, 300, 1)),
    ("polled every 4 ms", Nothing, TICKING),
    ("cloud on a granule of 16K", Hard, throttled(flash(16 * KIB, 0, 16 * KIB), 3000, 1000)),
    ("granule of 128K", Nothing, flash(128 * KIB, 0, 128 * KIB)),
    ("granule of 12K", Nothing, flash(12 * KIB, 0, 12 * KIB)),
    ("granule of 512", Nothing, FINE),
];

/// Drives of which it is known exactly what a write costs, on their own and in arrays, throttled
/// and polled.
pub(super) fn exact() -> Vec<Case> {
    EXACT.iter().map(|(name, finds, exact)| Case::exact(name, *finds, *exact)).collect()
}

impl Case {
    fn exact(name: &str, finds: Finds, exact: Exact) -> Case {
        let Exact { alignment_bytes, origin_bytes, size_bytes, shape, .. } = exact;
        let has_granule = matches!(finds, All | Hard);
        let is_hard = matches!(finds, Hard | HardStripe);
        let stripe = match shape {
            Shape::Raid0 { members, chunk_bytes } | Shape::Raid5 { members, chunk_bytes, .. } => {
                Some((chunk_bytes, members))
            }
            Shape::Alone | Shape::Throttled { .. } => None,
        };
        let alignment = Alignment { bytes: alignment_bytes, origin_bytes };
        let truth = Truth {
            alignment: has_granule.then_some(alignment),
            size_bytes: has_granule.then_some(size_bytes),
            stripe,
            ..Truth::default()
        };
        let right_percent = if is_hard { 0 } else { NEARLY_ALL };
        Case { name: name.to_owned(), made: Made::Exact(exact), truth, right_percent }
    }
}
