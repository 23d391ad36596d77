//! An extended partition: a chain of boot records, each with one logical partition and a link.
//!
//! A logical partition's start counts from the record that lists it; a link counts from the start
//! of the extended partition. The chain is the disk's to decide, so it is bounded, and cut where it
//! comes back to a record that was read before.
//!
//! Source: Linux `block/partitions/msdos.c` (`parse_extended`), util-linux
//! `libblkid/src/partitions/dos.c`.

use std::collections::BTreeSet;

use device::Disk;
use units::{ByteRange, Lba, SectorSize};

use super::Partition;
use super::boot::{BootEntry, BootSector, RECORD_BYTES};
use super::overlap::outside;
use crate::{Problem, ProblemKind};

/// The most records that are followed on a disk: Linux keeps 256 partitions of one
/// (`DISK_MAX_PARTS`), libfdisk writes 60.
const RECORDS_MAX: usize = 256;

/// The number that Linux gives to the first logical partition.
const FIRST_NUMBER: u32 = 5;

/// Entries that the chains of a disk list.
#[derive(Default)]
pub(super) struct Logical {
    /// The logical partitions, numbered from 5 in the order of the chain.
    pub(super) partitions: Vec<Partition>,
    /// The records themselves, as the bytes they take.
    pub(super) records: Vec<ByteRange>,
    /// The problems.
    pub(super) problems: Vec<Problem>,
    seen: BTreeSet<u64>,
}

/// One link of a chain: where the record is, and how many sectors the link says it governs.
#[derive(Clone, Copy)]
struct Link {
    at: Lba,
    length_sectors: u32,
    /// Place where the link is written.
    written_at_bytes: u64,
}

/// Follows the chain of extended partition `container`, a primary entry, and adds what it lists.
pub(super) fn follow(
    disk: &dyn Disk,
    sector: SectorSize,
    container: BootEntry,
    found: &mut Logical,
) {
    let Some(within) = container.range(Lba(0), sector) else { return };
    let mut next = Some(Link {
        at: Lba(u64::from(container.start_sectors)),
        length_sectors: container.length_sectors,
        written_at_bytes: container.at_bytes,
    });
    while let Some(link) = next {
        let Some(boot) = record(disk, sector, link, within, found) else { return };
        list(&boot, sector, link, within, disk.length_bytes(), found);
        next = boot.entries().into_iter().find(|entry| entry.is_used() && entry.is_extended()).map(
            |entry| Link {
                at: Lba(u64::from(container.start_sectors) + u64::from(entry.start_sectors)),
                length_sectors: entry.length_sectors,
                written_at_bytes: entry.at_bytes,
            },
        );
    }
}

/// The record that `link` leads to; `None`, with a problem, where the chain cannot go on.
fn record(
    disk: &dyn Disk,
    sector: SectorSize,
    link: Link,
    within: ByteRange,
    found: &mut Logical,
) -> Option<BootSector> {
    let at_bytes = link.at.to_bytes(sector)?;
    let range = ByteRange::new(at_bytes, RECORD_BYTES)?;
    let mut note = |kind, at, detail: String| found.problems.push(Problem::new(kind, at, detail));
    if !found.seen.insert(at_bytes) {
        let detail = format!("the chain of logical partitions comes back to byte {at_bytes}");
        note(ProblemKind::Chain, link.written_at_bytes, detail);
        return None;
    }
    if found.records.len() == RECORDS_MAX {
        let detail = format!("more than {RECORDS_MAX} extended boot records; the rest is not read");
        note(ProblemKind::Chain, link.written_at_bytes, detail);
        return None;
    }
    if range.end_bytes() > disk.length_bytes() {
        let detail = format!("an extended boot record at byte {at_bytes} is past the disk's end");
        note(ProblemKind::Outside, link.written_at_bytes, detail);
        return None;
    }
    if !within.contains(range) {
        let detail = format!("the extended boot record at byte {at_bytes} is out of its partition");
        note(ProblemKind::Outside, link.written_at_bytes, detail);
    }
    let boot = match BootSector::read(disk, at_bytes) {
        Ok(boot) => boot,
        Err(error) => {
            found.problems.push(Problem::unreadable("extended boot record", at_bytes, &error));
            return None;
        }
    };
    if !boot.is_signed() {
        let detail = format!("no 0x55aa ends the extended boot record at byte {at_bytes}");
        note(ProblemKind::Field, at_bytes, detail);
        return None;
    }
    found.records.push(range);
    Some(boot)
}

/// Adds the logical partitions of one record. There is one, in the first entry or, by some tools,
/// in another; the third and fourth often hold rubbish, so, as in the kernel, they count only when
/// they lie within the link and within the extended partition.
fn list(
    boot: &BootSector,
    sector: SectorSize,
    link: Link,
    within: ByteRange,
    disk_bytes: u64,
    found: &mut Logical,
) {
    for (slot, entry) in boot.entries().into_iter().enumerate() {
        let number = found.partitions.last().map_or(FIRST_NUMBER, |last| last.number + 1);
        let Some(partition) = entry.partition(number, link.at, sector) else { continue };
        let fits = within.contains(partition.range);
        let reach = u64::from(entry.start_sectors) + u64::from(entry.length_sectors);
        if entry.is_extended() || slot >= 2 && !(fits && reach <= u64::from(link.length_sectors)) {
            continue;
        }
        if let Some(problem) = outside(&partition, disk_bytes) {
            found.problems.push(problem);
        } else if !fits {
            let detail = format!("logical partition {number} is out of the extended partition");
            found.problems.push(Problem::new(ProblemKind::Outside, entry.at_bytes, detail));
        }
        found.partitions.push(partition);
    }
}
