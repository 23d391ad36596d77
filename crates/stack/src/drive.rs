//! What the kernel says of a block device, and the units that follow.
//!
//! Source of the file names: `Documentation/ABI/stable/sysfs-block` of the Linux kernel. `size` and
//! `start` count 512-byte units whatever the logical sector is.

use device::KernelTree;
use units::{DiskText, Known, SectorSize, Source};

use crate::condition::Condition;
use crate::kernel::{self, KernelPartition, Mount};
use crate::unit::{UnitKind, Units};

/// The granule that is assumed where nothing confirms another: what drives have had since 2011.
pub const ASSUMED_GRANULE_BYTES: u64 = 4096;

/// What the kernel says of a block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drive {
    /// The kernel's name: `sda`, `nvme0n1`.
    pub name: String,
    /// The model as the kernel gives it.
    pub model: Option<DiskText>,
    /// Its length in bytes.
    pub length_bytes: Known<u64>,
    /// Whether it has rotating media.
    pub rotational: Known<bool>,
    /// Whether it can only be read.
    pub read_only: Known<bool>,
    /// `queue/logical_block_size`.
    pub logical_bytes: Known<u64>,
    /// `queue/physical_block_size`.
    pub physical_bytes: Known<u64>,
    /// `queue/minimum_io_size`.
    pub minimum_io_bytes: Known<u64>,
    /// `queue/optimal_io_size`; 0 means that none is reported.
    pub optimal_io_bytes: Known<u64>,
    /// `alignment_offset` of the whole device; -1 when stacking failed.
    pub alignment_offset_bytes: Known<i64>,
    /// `queue/discard_granularity`; 0 means that it cannot discard.
    pub discard_bytes: Known<u64>,
    /// `queue/atomic_write_unit_max_bytes`; 0 means that it has no atomic writes.
    pub atomic_bytes: Known<u64>,
    /// `queue/zoned`: `none`, `host-aware` or `host-managed`.
    pub zoned: Known<String>,
    /// Zone or segment length in bytes, from `queue/chunk_sectors`.
    pub zone_bytes: Known<u64>,
    /// The devices that it is made of, as `slaves` lists them: not empty for md, dm and bcache.
    pub slaves: Vec<String>,
    /// The file behind a loop device.
    pub backing_file: Option<DiskText>,
    /// The partitions that the kernel has, in the order of their starts.
    pub partitions: Vec<KernelPartition>,
    /// What is mounted from the device or a partition of it.
    pub mounts: Vec<Mount>,
    /// Where the kernel's ioctls answer otherwise than its files: `physical_block_size: sysfs says
    /// 512, the ioctl 4096`.
    pub disagreements: Vec<String>,
}

/// What ioctls answered of a block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// BLKSSZGET.
    pub logical_bytes: Known<u64>,
    /// BLKPBSZGET.
    pub physical_bytes: Known<u64>,
    /// BLKIOMIN.
    pub minimum_io_bytes: Known<u64>,
    /// BLKIOOPT.
    pub optimal_io_bytes: Known<u64>,
    /// BLKALIGNOFF.
    pub alignment_offset_bytes: Known<i64>,
}

impl Drive {
    /// What `tree` says of the whole block device `name`. Every missing file is an unknown with its
    /// reason.
    #[must_use]
    pub fn read(tree: &dyn KernelTree, name: &str) -> Drive {
        let base = format!("/sys/block/{name}");
        let text = |file: &str| tree.read(&format!("{base}/{file}"));
        let number = |file: &str| -> Known<u64> { parsed(&text(file), file) };
        let flag = |file: &str| match text(file) {
            Ok(text) => Known::yes(text == "1", Source::Sysfs),
            Err(error) => Known::no(error.to_string()),
        };
        let sectors = |file: &str| scaled(number(file), file);
        let some_text = |file: &str| {
            text(file).ok().filter(|text| !text.is_empty()).map(|text| DiskText::from(text.trim()))
        };
        Drive {
            name: units::text::escape(name.as_bytes()),
            model: some_text("device/model"),
            length_bytes: sectors("size"),
            rotational: flag("queue/rotational"),
            read_only: flag("ro"),
            logical_bytes: number("queue/logical_block_size"),
            physical_bytes: number("queue/physical_block_size"),
            minimum_io_bytes: number("queue/minimum_io_size"),
            optimal_io_bytes: number("queue/optimal_io_size"),
            alignment_offset_bytes: parsed(&text("alignment_offset"), "alignment_offset"),
            discard_bytes: number("queue/discard_granularity"),
            atomic_bytes: number("queue/atomic_write_unit_max_bytes"),
            zoned: match text("queue/zoned") {
                Ok(text) => Known::yes(units::text::escape(text.as_bytes()), Source::Sysfs),
                Err(error) => Known::no(error.to_string()),
            },
            zone_bytes: sectors("queue/chunk_sectors"),
            slaves: tree.list(&format!("{base}/slaves")).unwrap_or_default(),
            backing_file: some_text("loop/backing_file"),
            partitions: kernel::partitions(tree, name),
            mounts: kernel::mounts(tree, name),
            disagreements: Vec::new(),
        }
    }

    /// Takes what ioctls answered: where `/sys` told nothing it fills the gap, where it told
    /// something else that is kept, and the disagreement noted.
    pub fn take_answers(&mut self, answers: Answers) {
        let noted = &mut self.disagreements;
        take(noted, "logical_block_size", &mut self.logical_bytes, answers.logical_bytes);
        take(noted, "physical_block_size", &mut self.physical_bytes, answers.physical_bytes);
        take(noted, "minimum_io_size", &mut self.minimum_io_bytes, answers.minimum_io_bytes);
        take(noted, "optimal_io_size", &mut self.optimal_io_bytes, answers.optimal_io_bytes);
        let offset = answers.alignment_offset_bytes;
        take(noted, "alignment_offset", &mut self.alignment_offset_bytes, offset);
    }

    /// The logical sector; 512 where it is unknown or makes no sense, which is a finding elsewhere.
    #[must_use]
    pub fn sector(&self) -> SectorSize {
        let bytes = self.logical_bytes.value().copied();
        bytes.and_then(SectorSize::new).unwrap_or(SectorSize::B512)
    }

    /// Why the reported physical sector cannot be right; `None` when it can, or is unknown.
    ///
    /// Kernels and bridges have reported 0, 3, and values below the logical sector.
    #[must_use]
    pub fn absurd_physical(&self) -> Option<String> {
        let physical = *self.physical_bytes.value()?;
        let logical = self.sector().bytes();
        if !physical.is_power_of_two() {
            Some(format!("{physical} is no power of two"))
        } else if physical < logical {
            Some(format!("{physical} is below the logical sector of {logical}"))
        } else if physical > 16 << 20 {
            Some(format!("{physical} is above 16 MiB, which no drive has"))
        } else {
            None
        }
    }

    /// Why the reported optimal I/O size cannot be right; `None` when it can, or is unknown or 0.
    ///
    /// USB bridges report 65535 sectors (0xffff, "no limit"), which every partitioner then obeys:
    /// util-linux issue 1221.
    #[must_use]
    pub fn absurd_optimal(&self) -> Option<String> {
        let optimal = self.optimal_io_bytes.value().copied().filter(|&bytes| bytes > 0)?;
        let physical = self.physical_bytes.value().copied().filter(|&bytes| bytes > 0);
        let physical = physical.unwrap_or_else(|| self.sector().bytes());
        let sectors = optimal.checked_div(self.sector().bytes()).unwrap_or(0);
        if sectors == 0xffff || optimal == 0xffff * 512 {
            Some(format!("{optimal} is 65535 sectors, a controller's way to say nothing"))
        } else if !optimal.is_multiple_of(physical) {
            Some(format!("{optimal} is no multiple of the physical sector of {physical}"))
        } else {
            None
        }
    }

    /// The units of the device, judged under `told` where the user tells another disk.
    #[must_use]
    pub fn units(&self, told: Option<&Condition>) -> Units {
        let mut units = Units::new();
        if let Known::Yes(fact) = &self.logical_bytes {
            units.put_used(UnitKind::LogicalSector, fact.value, fact.source, "logical_block_size");
        }
        self.put_granule(&mut units);
        self.put_hints(&mut units);
        if let Some(told) = told {
            put_told(&mut units, told);
        }
        units
    }

    fn put_granule(&self, units: &mut Units) {
        let kind = UnitKind::Granule;
        let origin = self.origin_bytes();
        if let Some(reason) = self.absurd_physical() {
            units.put_unused(kind, self.physical_bytes.clone(), &reason);
        } else if let Known::Yes(physical) = &self.physical_bytes {
            let nvme = self.name.starts_with("nvme");
            let preferred = self.minimum_io_bytes.value().copied().filter(|bytes| {
                nvme && bytes.is_power_of_two() && *bytes > physical.value && *bytes <= 1 << 20
            });
            if let Some(bytes) = preferred {
                // Linux folds NPWG into minimum_io_size, and min(NPWG, AWUPF) into the physical
                // sector, so the latter can be too small (drivers/nvme/host/core.c).
                units.put_unused(kind, self.physical_bytes.clone(), "physical_block_size");
                let note = "minimum_io_size, where Linux puts NVMe's NPWG";
                units.put_used_from(kind, bytes, origin, Source::Sysfs, note);
                return;
            }
            if physical.value > 512 {
                let note = "physical_block_size";
                units.put_used_from(kind, physical.value, origin, physical.source, note);
                return;
            }
            let note = "physical_block_size; nothing confirms 512";
            units.put_unused(kind, self.physical_bytes.clone(), note);
        } else {
            units.put_unused(kind, self.physical_bytes.clone(), "physical_block_size");
        }
        put_assumed(units);
    }

    /// A whole device's alignment_offset is the address of its first aligned block.
    fn origin_bytes(&self) -> u64 {
        let offset = self.alignment_offset_bytes.value().copied().unwrap_or(0);
        u64::try_from(offset).unwrap_or(0)
    }

    fn put_hints(&self, units: &mut Units) {
        let zero = |known: &Known<u64>| known.value() == Some(&0);
        if !zero(&self.atomic_bytes) {
            units.put_unused(UnitKind::Atomic, self.atomic_bytes.clone(), "atomic_write_unit_max");
        }
        if !zero(&self.discard_bytes) {
            let note = "discard_granularity";
            units.put_unused(UnitKind::Discard, self.discard_bytes.clone(), note);
        }
        if let Some(reason) = self.absurd_optimal() {
            units.put_unused(UnitKind::FullStripe, self.optimal_io_bytes.clone(), &reason);
        } else if self.optimal_io_bytes.value().is_some_and(|&bytes| bytes > 0) {
            let note = "optimal_io_size, a hint";
            units.put_unused(UnitKind::FullStripe, self.optimal_io_bytes.clone(), note);
        }
    }
}

/// The units of a regular file that holds a disk: nothing is known of the disk on which it will
/// land, unless `told`.
#[must_use]
pub fn image_units(told: Option<&Condition>) -> Units {
    let mut units = Units::new();
    units.put_used(UnitKind::LogicalSector, 512, Source::Assumed, "an image names no disk");
    put_assumed(&mut units);
    if let Some(told) = told {
        put_told(&mut units, told);
    }
    units
}

fn put_assumed(units: &mut Units) {
    let note = "nothing confirms another; --on tells";
    units.put_used(UnitKind::Granule, ASSUMED_GRANULE_BYTES, Source::Assumed, note);
}

fn put_told(units: &mut Units, told: &Condition) {
    if let Some(sector) = told.sector {
        units.put_used(UnitKind::LogicalSector, sector.bytes(), Source::Told, "--on");
    }
    if let Some(granule) = told.granule {
        let (bytes, origin) = (granule.length_bytes(), granule.origin_bytes());
        units.put_used_from(UnitKind::Granule, bytes, origin, Source::Told, "--on");
    }
    if let Some(stripe) = told.stripe {
        // What shifts the granules of a drive shifts the chunks that are made of them.
        let origin = told.granule.map_or(0, units::Unit::origin_bytes);
        let mut put = |kind, bytes| {
            units.put_used_from(kind, bytes, origin, Source::Told, "--on");
        };
        put(UnitKind::Chunk, stripe.chunk_bytes());
        put(UnitKind::FullStripe, stripe.full_bytes());
    }
}

fn take<T: PartialEq + std::fmt::Display>(
    noted: &mut Vec<String>,
    name: &str,
    told: &mut Known<T>,
    answered: Known<T>,
) {
    match (told.value(), answered.value()) {
        (Some(one), Some(other)) if one != other => {
            noted.push(format!("{name}: sysfs says {one}, the ioctl {other}"));
        }
        (None, Some(_)) => *told = answered,
        _ => {}
    }
}

fn parsed<T: std::str::FromStr>(text: &Result<String, device::TreeError>, file: &str) -> Known<T> {
    match text {
        Ok(text) => match text.trim().parse() {
            Ok(value) => Known::yes(value, Source::Sysfs),
            Err(_) => {
                let shown = units::text::escape(text.as_bytes());
                Known::no(format!("{file} holds `{shown}`, which is no number"))
            }
        },
        Err(error) => Known::no(error.to_string()),
    }
}

fn scaled(sectors: Known<u64>, file: &str) -> Known<u64> {
    match sectors {
        Known::Yes(fact) => match fact.value.checked_mul(512) {
            Some(bytes) => Known::yes(bytes, fact.source),
            None => Known::no(format!("{file} counts more bytes than 64 bits hold")),
        },
        unknown @ Known::No(_) => unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::MemoryTree;

    fn tree(values: &[(&str, &str)]) -> MemoryTree {
        values.iter().fold(MemoryTree::new(), |tree, (file, value)| {
            tree.with_file(&format!("/sys/block/sda/{file}"), value)
        })
    }

    fn granule(values: &[(&str, &str)]) -> (u64, u64, Source) {
        let units = Drive::read(&tree(values), "sda").units(None);
        let (unit, source) = units.used(UnitKind::Granule).unwrap();
        (unit.length_bytes(), unit.origin_bytes(), source)
    }

    #[test]
    fn a_reported_512_is_judged_at_an_assumed_4_kib() {
        let values = [("queue/logical_block_size", "512"), ("queue/physical_block_size", "512")];
        assert_eq!(granule(&values), (4096, 0, Source::Assumed));
    }

    #[test]
    fn the_first_aligned_block_gives_the_origin() {
        let values = [
            ("queue/logical_block_size", "512"),
            ("queue/physical_block_size", "4096"),
            ("alignment_offset", "3584"),
        ];
        assert_eq!(granule(&values), (4096, 3584, Source::Sysfs));
    }

    #[test]
    fn absurd_physical_sectors_are_named_and_not_used() {
        for absurd in ["0", "3", "256", "67108864"] {
            let values =
                [("queue/logical_block_size", "512"), ("queue/physical_block_size", absurd)];
            assert!(Drive::read(&tree(&values), "sda").absurd_physical().is_some(), "{absurd}");
            assert_eq!(granule(&values).2, Source::Assumed);
        }
    }

    #[test]
    fn the_optimal_size_of_usb_bridges_is_no_stripe() {
        let values = [("queue/logical_block_size", "512"), ("queue/optimal_io_size", "33553920")];
        assert!(Drive::read(&tree(&values), "sda").absurd_optimal().is_some());
    }

    #[test]
    fn ioctls_fill_what_sysfs_lacks_and_disagreements_are_noted() {
        let mut drive = Drive::read(&tree(&[("queue/physical_block_size", "512")]), "sda");
        let unknown = || Known::no("not asked");
        drive.take_answers(Answers {
            logical_bytes: Known::yes(512, Source::Ioctl),
            physical_bytes: Known::yes(4096, Source::Ioctl),
            minimum_io_bytes: unknown(),
            optimal_io_bytes: unknown(),
            alignment_offset_bytes: Known::no("not asked"),
        });
        assert_eq!(drive.logical_bytes, Known::yes(512, Source::Ioctl));
        assert_eq!(drive.disagreements, ["physical_block_size: sysfs says 512, the ioctl 4096"]);
    }

    #[test]
    fn a_missing_tree_is_unknown_with_reasons_and_never_zero() {
        let drive = Drive::read(&MemoryTree::new(), "sda");
        assert!(drive.physical_bytes.reason().is_some());
        assert!(drive.length_bytes.reason().is_some());
        assert_eq!(drive.units(None).used(UnitKind::Granule).unwrap().1, Source::Assumed);
    }
}
