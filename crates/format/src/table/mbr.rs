//! Master boot record and the chain of extended boot records.
//!
//! Numbers are those of Linux: the four primary entries are 1 to 4 whether used or not, logical
//! partitions count from 5 in the order of their chain.
//!
//! Source: util-linux `include/pt-mbr.h`, `libfdisk/src/dos.c`, `libblkid/src/partitions/dos.c`;
//! Linux
//! `block/partitions/msdos.c`; UEFI specification 5.2.

use device::Disk;
use units::{ByteRange, Lba, SectorSize};

use super::boot::{BootEntry, BootSector, RECORD_BYTES};
use super::extended::{self, Logical};
use super::overlap::{ClaimedRange, outside, overlaps};
use super::{Partition, PartitionRole, PartitionTable, TableKind};
use crate::{Parsed, Problem, ProblemKind};

/// Reads the MBR at byte 0, with logical partitions, whose addresses count in `sector`; `None` when
/// there is no 0x55AA, or when what stands there is a boot sector of a file system (FAT, NTFS,
/// exFAT) rather than a table.
///
/// A sector can be both, when a stick that was formatted whole is partitioned later and the tool
/// keeps the first 440 bytes: libblkid then says FAT, and the kernel makes the partitions. Such a
/// sector is read as a table, with a problem that says so, when every used entry lies behind the
/// sector and on the disk and none collides; `mkfs.fat --mbr` writes one entry from sector 0, which
/// is FAT alone.
pub fn read(disk: &dyn Disk, sector: SectorSize) -> Option<Parsed<PartitionTable>> {
    let boot = BootSector::read(disk, 0).ok()?;
    if !boot.may_be_table() {
        return None;
    }
    let mut problems = Vec::new();
    if let Some(system) = boot.file_system() {
        if !is_convincing(&boot, sector, disk.length_bytes()) {
            return None;
        }
        let detail = format!("the first sector is also a boot sector of {system}");
        problems.push(Problem::new(ProblemKind::Overlap, 0, detail));
    }
    let partitions = partitions(disk, &boot, sector, &mut problems);
    let id = boot.disk_id();
    let value = PartitionTable {
        id: (id != 0).then(|| format!("{id:#010x}")),
        boot_code: boot.has_code(),
        ..PartitionTable::new(TableKind::Mbr, sector, partitions)
    };
    Some(Parsed { value, problems })
}

/// Returns whether the entries are so plausible that they outweigh a file system's superblock
/// before them.
fn is_convincing(boot: &BootSector, sector: SectorSize, disk_bytes: u64) -> bool {
    let used: Vec<BootEntry> = boot.entries().into_iter().filter(|entry| entry.is_used()).collect();
    let ranges = used.iter().map(|entry| entry.range(Lba(0), sector));
    let Some(ranges) = ranges.collect::<Option<Vec<ByteRange>>>() else { return false };
    let claims = ranges.iter().map(|&range| ClaimedRange::new("", range, 0)).collect();
    !used.is_empty()
        && used.iter().all(|entry| entry.start_sectors != 0 && entry.code != 0)
        && ranges.iter().all(|range| range.end_bytes() <= disk_bytes)
        && overlaps(claims).is_empty()
}

fn partitions(
    disk: &dyn Disk,
    boot: &BootSector,
    sector: SectorSize,
    problems: &mut Vec<Problem>,
) -> Vec<Partition> {
    let entries = boot.entries();
    let primary: Vec<Partition> = (1..)
        .zip(entries)
        .filter_map(|(number, entry)| entry.partition(number, Lba(0), sector))
        .collect();
    check_flags(&entries, problems);
    let mut logical = Logical::default();
    for entry in entries.into_iter().filter(|entry| entry.is_used() && entry.is_extended()) {
        extended::follow(disk, sector, entry, &mut logical);
    }
    let disk_bytes = disk.length_bytes();
    problems.extend(primary.iter().filter_map(|partition| outside(partition, disk_bytes)));
    problems.append(&mut logical.problems);
    problems.extend(collisions(&primary, &logical));
    primary.into_iter().chain(logical.partitions).collect()
}

fn check_flags(entries: &[BootEntry; 4], problems: &mut Vec<Problem>) {
    let used = || entries.iter().filter(|entry| entry.is_used());
    if let Some(second) = used().filter(|entry| entry.status == 0x80).nth(1) {
        let detail = "more than one entry is marked active; a BIOS boots from one";
        problems.push(Problem::new(ProblemKind::Field, second.at_bytes, detail));
    }
    if let Some(second) = used().filter(|entry| entry.is_extended()).nth(1) {
        let detail = "more than one entry is an extended partition; most tools follow one";
        problems.push(Problem::new(ProblemKind::Field, second.at_bytes, detail));
    }
}

/// Collisions among the primary entries, and then among what holds data and the records between.
fn collisions(primary: &[Partition], logical: &Logical) -> Vec<Problem> {
    let is_extended = |partition: &&Partition| partition.role == PartitionRole::Extended;
    let record = ByteRange::new(0, RECORD_BYTES).expect("512 bytes from 0 fit");
    let leaves = primary.iter().filter(|partition| !is_extended(partition));
    let leaves = leaves.chain(&logical.partitions).map(ClaimedRange::of);
    let records = logical
        .records
        .iter()
        .map(|&range| ClaimedRange::new("an extended boot record", range, range.start_bytes()));
    let mut problems =
        overlaps(leaves.chain(records).chain([ClaimedRange::new("the MBR", record, 0)]).collect());
    for container in primary.iter().filter(is_extended) {
        let others = primary.iter().filter(|other| other.number != container.number);
        for other in others.filter(|other| other.range.overlaps(container.range)) {
            let detail = format!(
                "partition {} overlaps extended partition {}",
                other.number, container.number
            );
            problems.push(Problem::new(ProblemKind::Overlap, other.entry_at_bytes, detail));
        }
    }
    problems
}
