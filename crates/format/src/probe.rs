//! What a run of bytes holds: every parser asked, in one place.

use device::Disk;
use units::SectorSize;

use crate::Parsed;
use crate::filesystem::{self, FileSystem};
use crate::member::{bcache, integrity, luks, lvm, md};
use crate::table::{PartitionTable, choice};

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A partition table.
    Table(PartitionTable),
    /// A member of an md array.
    Md(md::MdMember),
    /// An LVM2 physical volume.
    Lvm(lvm::PhysicalVolume),
    /// A LUKS container.
    Luks(luks::Luks),
    /// A bcache device.
    Bcache(bcache::Bcache),
    /// A dm-integrity device.
    Integrity(integrity::Integrity),
    /// A file system or swap.
    FileSystem(FileSystem),
}

/// Where the bytes are that are probed.
#[derive(Clone, Copy, Debug)]
pub struct Hint {
    /// The logical sector in which tables are expected to count.
    pub sector: SectorSize,
    /// Where the bytes start on the whole disk: BSD labels may count from there.
    pub start_bytes: u64,
    /// Whether a partition table may be there; false in an ordinary partition, where one is not
    /// looked for.
    pub tables: bool,
}

/// Everything that is on `disk`, containers first (the outer one first), then the partition table
/// in use unless `hint` rules one out, then file systems. More than one may be stale. A table that
/// hardly speaks for itself (an MBR that lists nothing, a GPT without a protective MBR) is left out
/// where anything else is found.
pub fn read(disk: &dyn Disk, hint: Hint) -> Vec<Parsed<Content>> {
    let members = [
        md::read(disk).map(|found| found.map(Content::Md)),
        luks::read(disk).map(|found| found.map(Content::Luks)),
        lvm::read(disk).map(|found| found.map(Content::Lvm)),
        bcache::read(disk).map(|found| found.map(Content::Bcache)),
        integrity::read(disk).map(|found| found.map(Content::Integrity)),
    ];
    let members: Vec<_> = members.into_iter().flatten().collect();
    let systems = filesystem::read(disk).into_iter().map(|found| found.map(Content::FileSystem));
    let systems: Vec<_> = systems.collect();
    let is_empty = members.is_empty() && systems.is_empty();
    let table = hint.tables.then(|| choice::choose(disk, hint.sector, hint.start_bytes)).flatten();
    let table = table
        .filter(|choice| is_empty || !choice.is_weak)
        .map(|choice| choice.table.map(Content::Table));
    members.into_iter().chain(table).chain(systems).collect()
}
