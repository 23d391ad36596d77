//! Identifies a run of bytes: asks every parser, in one place.

use device::Disk;
use units::SectorSize;

use crate::Parsed;
use crate::filesystem;
use crate::heads::Heads;
use crate::member::{bcache, integrity, luks, lvm, md};
use crate::named::{self, Class};
use crate::precedence::{self, Finds};
use crate::table::bsd::Counting;
use crate::table::choice::{self, TableWeight};
use crate::table::{PartitionTable, TableKind};

pub use crate::reading::{LeftOver, ProbedContent, Reading};

/// The type of an MBR's entries on a dynamic disk.
const LDM: &str = "0x42";

/// Place where the bytes are that are probed.
#[derive(Clone, Copy, Debug)]
pub struct Hint {
    /// The logical sector in which tables are expected to count.
    pub sector: SectorSize,
    /// Place where the bytes start on the whole disk: BSD labels may count from there.
    pub start_bytes: u64,
    /// Origin of the addresses in a BSD label, by the type of the slice.
    pub counting: Counting,
    /// True if a partition table may be there; false in an ordinary partition, where one is not
    /// looked for.
    pub tables: bool,
}

/// Everything that is on `disk`, and what of it is in force: members and containers (the outer one
/// first), the partition table in use unless `hint` rules one out, file systems.
pub fn read(disk: &dyn Disk, hint: Hint) -> Reading {
    let heads = Heads::new(disk);
    let is_whole = hint.tables && hint.start_bytes == 0;
    let by_name = |wanted: Class| {
        let found = is_whole.then(|| named::find(&heads, |class| class == wanted)).flatten();
        found.map(|(entry, _)| Parsed::sound(ProbedContent::Named(entry)))
    };
    let members = [
        by_name(Class::Raid),
        md::read(disk).map(|found| found.map(ProbedContent::Md)),
        luks::read(disk).map(|found| found.map(ProbedContent::Luks)),
        lvm::read(disk).map(|found| found.map(ProbedContent::Lvm)),
        bcache::read(disk).map(|found| found.map(ProbedContent::Bcache)),
        integrity::read(disk).map(|found| found.map(ProbedContent::Integrity)),
    ];
    let members: Vec<_> = members.into_iter().flatten().collect();
    let systems =
        filesystem::read(disk).into_iter().map(|found| found.map(ProbedContent::FileSystem));
    let systems: Vec<_> = systems.collect();
    let is_empty = members.is_empty() && systems.is_empty();
    let slice = (hint.start_bytes, hint.counting);
    let table = hint.tables.then(|| choice::choose(disk, hint.sector, slice)).flatten();
    // In a slice nothing but a BSD label outranks anything.
    let table = table.filter(|choice| {
        is_empty || hint.start_bytes == 0 || choice.table.value.kind == TableKind::Bsd
    });
    let is_weak = table.as_ref().is_none_or(|choice| choice.weight == TableWeight::Weak);
    let is_dynamic = table.as_ref().is_some_and(|choice| is_all_dynamic(&choice.table.value));
    let named = if is_empty && is_weak || is_dynamic { by_name(Class::Table) } else { None };
    let table = table.filter(|_| named.is_none());
    let disk_bytes = disk.length_bytes();
    let mut reading = precedence::decide(Finds { members, table, systems, disk_bytes, is_whole });
    reading.found.splice(0..0, named);
    reading
}

/// Returns whether an MBR leaves the whole disk to Windows' own manager of volumes.
fn is_all_dynamic(table: &PartitionTable) -> bool {
    let mut partitions = table.partitions.iter();
    table.kind == TableKind::Mbr
        && !table.partitions.is_empty()
        && partitions.all(|partition| partition.type_code == LDM)
}
