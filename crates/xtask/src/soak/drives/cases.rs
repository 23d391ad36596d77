//! The drives that are tried: every built-in profile, and shapes made of them.

use anyhow::{Context as _, anyhow};
use drive::profile::{DriveProfile, built_in};

use super::truth::Truth;

/// A drive, and what may be found of it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) profile: DriveProfile,
    pub(super) truth: Truth,
    /// How many of a hundred probes must find all that there is.
    pub(super) right_percent: u64,
}

/// A built-in drive with other values.
struct Shape {
    name: &'static str,
    of: &'static str,
    /// What it is made of, where that is another drive.
    member: Option<&'static str>,
    values: &'static [(&'static str, &'static str)],
}

const fn shape(
    name: &'static str,
    of: &'static str,
    member: Option<&'static str>,
    values: &'static [(&'static str, &'static str)],
) -> Shape {
    Shape { name, of, member, values }
}

/// Nearly all of what is sure must be found.
const NEARLY_ALL: u64 = 95;

const SHAPES: &[Shape] = &[
    shape("512e disk, batched", "hdd-7200-512e", None, &[("rmw", "batched")]),
    shape("512e disk, serial", "hdd-7200-512e", None, &[("rmw", "serial")]),
    shape("512e disk, buffered", "hdd-7200-512e", None, &[("rmw", "buffered")]),
    shape("512e disk, origin 3584", "hdd-7200-512e", None, &[("origin", "3584")]),
    shape(
        "512e disk, batched, origin 512",
        "hdd-7200-512e",
        None,
        &[("rmw", "batched"), ("origin", "512")],
    ),
    shape("512e disk, depth 4", "hdd-7200-512e", None, &[("depth", "4")]),
    shape("512e disk, depth 16", "hdd-7200-512e", None, &[("depth", "16")]),
    shape("512e disk, depth 31", "hdd-7200-512e", None, &[("depth", "31")]),
    shape("512e disk, in order", "hdd-7200-512e", None, &[("scheduler", "fifo")]),
    shape("512e disk, depth 64", "hdd-7200-512e", None, &[("depth", "64")]),
    shape("flash, one slot", "dc-p3700", None, &[("rmw_queue", "0"), ("rmw_slots", "1")]),
    shape("flash, origin 3584", "m4-256", None, &[("origin", "3584")]),
    shape("flash of 16K", "m4-256", None, &[("unit", "16 KiB"), ("page", "16 KiB")]),
    shape(
        "flash of 16K, origin 512",
        "m4-256",
        None,
        &[("unit", "16 KiB"), ("page", "16 KiB"), ("origin", "512")],
    ),
    shape("flash, 8 dies", "950-pro", None, &[("dies", "8")]),
    shape("flash, 14 dies", "950-pro", None, &[("dies", "14"), ("channels", "7")]),
    shape("flash, 8 dies of 16K", "950-pro", None, &[("dies", "8"), ("page", "16 KiB")]),
    shape(
        "flash, 8 dies of 16K, origin 3584",
        "950-pro",
        None,
        &[("dies", "8"), ("page", "16 KiB"), ("origin", "3584")],
    ),
    shape(
        "flash, 8 dies of 64K, origin 2048",
        "950-pro",
        None,
        &[("dies", "8"), ("page", "64 KiB"), ("origin", "2048")],
    ),
    shape("RAID0 3x64K", "raid0-2x16k", None, &[("members", "3"), ("chunk", "64 KiB")]),
    shape("RAID0 14x64K", "raid0-2x16k", None, &[("members", "14"), ("chunk", "64 KiB")]),
    shape(
        "RAID0 4x128K of 512e",
        "raid0-2x16k",
        Some("hdd-7200-512e"),
        &[("members", "4"), ("chunk", "128 KiB")],
    ),
    shape(
        "RAID0 4x64K of flash",
        "raid0-2x16k",
        Some("m4-256"),
        &[("members", "4"), ("chunk", "64 KiB"), ("turns", "no")],
    ),
    shape("RAID1 of 512e", "raid0-2x16k", Some("hdd-7200-512e"), &[("level", "raid1")]),
    shape(
        "RAID10 4x64K",
        "raid0-2x16k",
        None,
        &[("level", "raid10"), ("members", "4"), ("chunk", "64 KiB")],
    ),
    shape(
        "RAID10 6x64K of 512e",
        "raid0-2x16k",
        Some("hdd-7200-512e"),
        &[("level", "raid10"), ("members", "6"), ("chunk", "64 KiB")],
    ),
    shape(
        "RAID5 5x16K of flash",
        "raid5-5x64k",
        Some("dc-p3700"),
        &[("chunk", "16 KiB"), ("turns", "no")],
    ),
    shape(
        "RAID5 3x32K",
        "raid5-5x64k",
        Some("hdd-7200-512n"),
        &[("members", "3"), ("chunk", "32 KiB")],
    ),
    shape("controller, 64 MiB", "raid5-bbu", None, &[("cache", "64 MiB")]),
    shape("controller over RAID0", "raid5-bbu", Some("raid0-2x16k"), &[]),
];

impl Case {
    fn new(name: String, profile: DriveProfile) -> anyhow::Result<Case> {
        let truth = Truth::of(&profile)?;
        profile.model().map_err(|fault| anyhow!("{name} cannot be: {fault}"))?;
        let right_percent = if SURE.contains(&name.as_str()) { NEARLY_ALL } else { 0 };
        Ok(Case { name, profile, truth, right_percent })
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

/// Every built-in profile, and the shapes.
///
/// # Errors
/// When a shape is of no built-in drive, or cannot be.
pub(super) fn all() -> anyhow::Result<Vec<Case>> {
    let built_in = built_in().iter();
    let own = built_in.map(|profile| Case::new(profile.name.clone(), profile.clone()));
    own.chain(SHAPES.iter().map(shaped)).collect()
}

fn shaped(shape: &Shape) -> anyhow::Result<Case> {
    let of = built_in().iter().find(|profile| profile.name == shape.of);
    let mut profile = of.with_context(|| format!("{}: no {}", shape.name, shape.of))?.clone();
    for (key, text) in shape.values {
        profile =
            profile.with(key, text).map_err(|problem| anyhow!("{}: {problem}", shape.name))?;
    }
    if let Some(member) = shape.member {
        profile.member = Some(member.to_owned());
    }
    Case::new(shape.name.to_owned(), profile)
}
