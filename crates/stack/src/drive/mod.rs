//! The kernel's report of a block device, the drive's own answers, and the units that follow.
//!
//! Every source is kept: what is used and what is not are facts of [`KernelDrive::units`]. Source
//! of the file names: `Documentation/ABI/stable/sysfs-block` of the Linux kernel. `size` and
//! `start` count 512-byte units whatever the logical sector is.

use device::KernelTree;
use units::{DiskText, Known, SectorSize, Source, Unit};

use crate::on_option::Condition;
use crate::unit::{UnitKind, Units};

pub(crate) use self::sysfs::SysfsFiles;

mod absurd_sizes;
mod disagree;
mod drive_answers;
mod granule;
mod measured;
mod memory_card;
pub mod misreporting_drives;
mod nvme_paths;
mod queue;
mod sysfs;
mod unused_units;
mod virtual_disk;
pub mod wear;

pub use drive_answers::{DriveIdentity, Said};
pub use granule::ASSUMED_GRANULE_BYTES;
pub use measured::{KeptMeasurement, MeasuredGranule};
pub use memory_card::Card;
pub use nvme_paths::NamespacePath;
pub use queue::{AtomicLimits, Queue};
pub use virtual_disk::{CloudDisk, is_virtual_model};

/// The kernel's report of a block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelDrive {
    /// The kernel's name: `sda`, `nvme0n1`.
    pub name: String,
    /// The model as the kernel gives it.
    pub model: Option<DiskText>,
    /// True if it is one that the software of a host makes up: virtio, Xen, Hyper-V.
    pub is_virtual: bool,
    /// Its length in bytes.
    pub length_bytes: Known<u64>,
    /// True if it has rotating media: by its own word where it has one, since bridges tell the
    /// kernel that all disks turn. Of a virtual disk without one it is not known: the kernel takes
    /// most of those for turning ones.
    pub rotational: Known<bool>,
    /// `queue/rotational`.
    pub kernel_rotational: Known<bool>,
    /// True if it can only be read.
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
    /// `discard_alignment`: the address of the first discard unit. Since Linux 5.18 the file of a
    /// whole disk holds its `alignment_offset` instead (`disk_discard_alignment_show` in
    /// `block/genhd.c`), so [`KernelDrive::discard_unit`] looks twice.
    pub discard_alignment_bytes: Known<u64>,
    /// `queue/atomic_write_unit_max_bytes`; 0 means that it has no atomic writes.
    pub atomic_bytes: Known<u64>,
    /// `queue/zoned`: `none`, `host-aware` or `host-managed`.
    pub zoned: Known<String>,
    /// Zone or segment length in bytes, from `queue/chunk_sectors`.
    pub zone_bytes: Known<u64>,
    /// The devices that it is made of, as `slaves` lists them: not empty for md, dm and bcache.
    pub slaves: Vec<String>,
    /// Name of the ZFS volume that it is, empty where nobody says it.
    pub zvol: Option<DiskText>,
    /// The file behind a loop device.
    pub backing_file: Option<DiskText>,
    /// Byte of that file at which a loop device starts; 0 of any other device.
    pub loop_offset_bytes: u64,
    /// The rest of what the kernel says of its queue.
    pub queue: Queue,
    /// The drive's identity.
    pub identity: DriveIdentity,
    /// The drive's own answers.
    pub said: Said,
    /// The kernel's report of a memory card.
    pub card: Option<Card>,
    /// The paths to it that NVMe multipath hides.
    pub paths: Vec<NamespacePath>,
    /// Place where one source says otherwise than another, and which is used: `physical_block_size:
    /// sysfs says 512, the ioctl 4096; sysfs is used`.
    pub disagreements: Vec<String>,
    /// Measurements of it that were kept; `None` without any, or where they are to be left out.
    /// Nothing here reads it: whoever keeps it puts it here.
    pub measured: Option<KeptMeasurement>,
    /// Measurements of its model by others; `None` without any, or where they are to be left out.
    /// Put here as `measured` is.
    pub table: Option<KeptMeasurement>,
}

/// Answers of ioctls about a block device.
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

impl KernelDrive {
    /// Returns what `tree` says of the whole block device `name`. Every missing file is an unknown
    /// with its reason.
    #[must_use]
    pub fn read(tree: &dyn KernelTree, name: &str) -> KernelDrive {
        let files = SysfsFiles::of(tree, name);
        let logical_bytes = files.number("queue/logical_block_size");
        let said = Said::read(tree, name, logical_bytes.value().copied());
        let kernel_rotational = files.flag("queue/rotational");
        let is_virtual = virtual_disk::is_virtual(tree, name);
        let rotational = match said.rotates() {
            Some(rotates) => Known::yes(rotates, Source::Identify),
            None => match virtual_disk::why_not_its_own(tree, name) {
                Some(reason) => Known::no(reason),
                None => kernel_rotational.clone(),
            },
        };
        let mut drive = KernelDrive {
            name: units::text::escape(name.as_bytes()),
            model: files.some_text("device/model"),
            is_virtual,
            length_bytes: files.scaled("size", 512),
            rotational,
            kernel_rotational,
            read_only: files.flag("ro"),
            logical_bytes,
            physical_bytes: files.number("queue/physical_block_size"),
            minimum_io_bytes: files.number("queue/minimum_io_size"),
            optimal_io_bytes: files.number("queue/optimal_io_size"),
            alignment_offset_bytes: files.number("alignment_offset"),
            discard_bytes: files.number("queue/discard_granularity"),
            discard_alignment_bytes: files.number("discard_alignment"),
            atomic_bytes: files.number("queue/atomic_write_unit_max_bytes"),
            zoned: files.word("queue/zoned"),
            zone_bytes: files.scaled("queue/chunk_sectors", 512),
            slaves: tree.list(&format!("{}/slaves", files.base)).unwrap_or_default(),
            zvol: virtual_disk::zvol(tree, name),
            backing_file: files.some_text("loop/backing_file"),
            loop_offset_bytes: files.number("loop/offset").value().copied().unwrap_or(0),
            queue: Queue::read(&files),
            identity: DriveIdentity::read(&files, &said),
            said,
            card: Card::read(&files),
            paths: nvme_paths::paths(tree, name),
            disagreements: Vec::new(),
            measured: None,
            table: None,
        };
        drive.disagreements = disagree::of(&drive);
        drive
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

    /// The units of the device, judged under `told` where the user tells another disk.
    #[must_use]
    pub fn units(&self, told: Option<&Condition>) -> Units {
        let mut units = Units::new();
        if let Known::Yes(fact) = &self.logical_bytes {
            units.put_used(UnitKind::LogicalSector, fact.value, fact.source, "logical_block_size");
        }
        granule::put(self, &mut units);
        self.put_hints(&mut units);
        if let Some(table) = &self.table {
            measured::put(table, Source::DriveTable, &mut units);
        }
        if let Some(told) = told {
            put_told(&mut units, told, self.loop_offset_bytes);
        }
        if let Some(measured) = &self.measured {
            measured::put(measured, Source::Measured, &mut units);
        }
        units
    }
}

/// The units of a regular file that holds a disk: nothing is known of the disk on which it will
/// land, unless `told`.
#[must_use]
pub fn image_units(told: Option<&Condition>) -> Units {
    let mut units = Units::new();
    units.put_used(
        UnitKind::LogicalSector,
        512,
        Source::Assumed,
        "an image does not say what disk it is for",
    );
    granule::put_assumed(&mut units, "set it with --on");
    if let Some(told) = told {
        put_told(&mut units, told, 0);
    }
    units
}

/// Puts the units of the disk `told`, as counted from its byte `offset_bytes` on.
fn put_told(units: &mut Units, told: &Condition, offset_bytes: u64) {
    let shifted = |origin: u64, unit: u64| match unit {
        0 => origin,
        unit => (origin % unit + unit - offset_bytes % unit) % unit,
    };
    if let Some(sector) = told.sector {
        units.put_used(UnitKind::LogicalSector, sector.bytes(), Source::Told, "--on");
    }
    if let Some(granule) = told.granule {
        let (bytes, origin) = (granule.length_bytes(), granule.origin_bytes());
        let origin = shifted(origin, bytes);
        units.put_used_from(UnitKind::Granule, bytes, origin, Source::Told, "--on");
    }
    if let Some(stripe) = told.stripe {
        // What shifts the granules of a drive shifts the chunks that are made of them.
        let origin = told.granule.map_or(0, Unit::origin_bytes);
        let mut put = |kind, bytes| {
            units.put_used_from(kind, bytes, shifted(origin, bytes), Source::Told, "--on");
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
            noted.push(format!("{name}: sysfs says {one}, the ioctl {other}; sysfs is used"));
        }
        (None, Some(_)) => *told = answered,
        _ => {}
    }
}

#[cfg(test)]
mod tests;
