//! The drives that are tried: every built-in profile, and its variants.

use anyhow::anyhow;
use drive::profile::{DriveProfile, built_in};
use drive::{HostRules, Model, ModelQueue};
use measure::MappedRun;

use super::exact::Exact;
use super::truth::Truth;
use crate::bench;

/// A drive, and what may be found of it.
#[derive(Clone, Debug)]
pub(super) struct DriveCase {
    pub(super) name: String,
    pub(super) made: DrivePlan,
    pub(super) truth: Truth,
    /// Of a hundred probes, the least that must find all that there is.
    pub(super) right_percent: u64,
}

/// Plan of a drive.
#[derive(Clone, Debug)]
pub(super) enum DrivePlan {
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

impl DriveCase {
    /// The drive, at time 0.
    ///
    /// # Errors
    /// When it cannot be.
    pub(super) fn model(&self, seed: u64) -> anyhow::Result<Box<dyn Model>> {
        match &self.made {
            DrivePlan::Profile(profile) => Ok(profile.model()?),
            DrivePlan::Exact(exact) => exact.model(seed),
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
        let host = HostRules {
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
pub(super) fn stretch(seed: u64) -> MappedRun {
    let address_bytes = start_bytes(seed);
    MappedRun { offset_bytes: 0, length_bytes: SCRATCH_BYTES, leaf: 0, address_bytes }
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
pub(super) const NEARLY_ALL: u64 = 95;

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

impl DriveCase {
    fn new(name: String, profile: DriveProfile) -> anyhow::Result<DriveCase> {
        let truth = Truth::of(&profile)?;
        profile.model().map_err(|fault| anyhow!("cannot make drive {name}: {fault}"))?;
        let right_percent = if SURE.contains(&name.as_str()) { NEARLY_ALL } else { 0 };
        Ok(DriveCase { name, made: DrivePlan::Profile(Box::new(profile)), truth, right_percent })
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
pub(super) fn all() -> anyhow::Result<Vec<DriveCase>> {
    let built_in = built_in().iter();
    let own = built_in.map(|profile| DriveCase::new(profile.name.clone(), profile.clone()));
    own.chain(VARIANTS.iter().map(varied)).collect()
}

fn varied(variant: &Variant) -> anyhow::Result<DriveCase> {
    let mut profile = bench::models::profile(variant.of)?.clone();
    for (key, text) in variant.values {
        profile =
            profile.with(key, text).map_err(|problem| anyhow!("{}: {problem}", variant.name))?;
    }
    if let Some(member) = variant.member {
        profile.member = drive::profile::called(member).cloned().map(Box::new);
    }
    DriveCase::new(variant.name.to_owned(), profile)
}
