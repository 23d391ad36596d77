//! The entries of a copy as partitions, and what is wrong with them.

use std::collections::BTreeMap;

use units::{ByteRange, DiskText, Lba, SectorSize};

use super::copy::Copy;
use super::{header, usable};
use crate::bytes::{self, Block};
use crate::table::overlap::{ClaimedRange, outside, overlaps};
use crate::table::{Partition, types};
use crate::{Problem, ProblemKind};

/// The bytes of an entry that have a meaning; longer entries are padded.
const ENTRY_BYTES: usize = 128;

/// Attribute bit 2: a BIOS may boot from it.
const LEGACY_BOOT: u64 = 1 << 2;

/// The partitions of a copy.
pub(super) struct PartitionListing {
    /// In order of slot, unused ones left out.
    pub(super) partitions: Vec<Partition>,
    /// Their problems.
    pub(super) problems: Vec<Problem>,
}

/// The partitions that `copy` lists. One whose start is beyond 64 bits cannot be expressed and is
/// only among the problems; one that ends before it starts has length 0.
pub(super) fn list(copy: &Copy, sector: SectorSize, disk_bytes: u64) -> PartitionListing {
    let mut listing = PartitionListing { partitions: Vec::new(), problems: Vec::new() };
    let Ok(size) = usize::try_from(copy.header.entry_bytes) else { return listing };
    let mut at_bytes = copy.entries_at_bytes;
    for (number, slot) in (1..).zip(copy.entries.chunks_exact(size.max(ENTRY_BYTES))) {
        if let Some(entry) = bytes::block(slot).filter(|entry: &Block<ENTRY_BYTES>| is_used(entry))
        {
            listing.add(&entry, number, sector, at_bytes);
        }
        at_bytes = at_bytes.saturating_add(u64::from(copy.header.entry_bytes));
    }
    listing.check_places(copy, sector, disk_bytes);
    listing
}

fn is_used(entry: &Block<ENTRY_BYTES>) -> bool {
    entry.array::<0, 16>() != [0; 16]
}

impl PartitionListing {
    fn note(&mut self, kind: ProblemKind, at_bytes: u64, detail: String) {
        self.problems.push(Problem::new(kind, at_bytes, detail));
    }

    fn add(&mut self, entry: &Block<128>, number: u32, sector: SectorSize, at_bytes: u64) {
        let (first, last) = (entry.le64::<32>(), entry.le64::<40>());
        if last < first {
            let detail = format!("partition {number} ends at LBA {last}, before its start {first}");
            self.note(ProblemKind::Field, at_bytes, detail);
        }
        let Some(start_bytes) = Lba(first).to_bytes(sector) else {
            let detail = format!("partition {number} starts at LBA {first}, beyond any disk");
            self.note(ProblemKind::Outside, at_bytes, detail);
            return;
        };
        let sectors = last.checked_sub(first).map_or(0, |count| count.saturating_add(1));
        let longest = u64::MAX - start_bytes;
        let length_bytes =
            Lba(sectors).to_bytes(sector).map_or(longest, |length| length.min(longest));
        let type_code = header::guid(&entry.array::<0, 16>());
        let (type_name, role) = types::gpt_type(&type_code);
        self.partitions.push(Partition {
            number,
            range: ByteRange::new(start_bytes, length_bytes).expect("cut to fit 64 bits"),
            type_code,
            type_name,
            role,
            name: Some(DiskText::from_utf16le(&entry.array::<56, 72>())),
            id: Some(header::guid(&entry.array::<16, 16>())),
            bootable: entry.le64::<48>() & LEGACY_BOOT != 0,
            entry_at_bytes: at_bytes,
        });
    }

    /// Notes what lies outside the usable range or the disk, what collides, and ids that occur
    /// twice.
    fn check_places(&mut self, copy: &Copy, sector: SectorSize, disk_bytes: u64) {
        let usable = usable(copy, sector);
        let mut ids: BTreeMap<&str, u32> = BTreeMap::new();
        let mut problems = Vec::new();
        for partition in &self.partitions {
            let Partition { number, range, entry_at_bytes, .. } = *partition;
            if let Some(problem) = outside(partition, disk_bytes) {
                problems.push(problem);
            } else if usable.is_some_and(|usable| !usable.contains(range)) {
                let detail = format!("partition {number} is not within the usable range");
                problems.push(Problem::new(ProblemKind::Outside, entry_at_bytes, detail));
            }
            let id = partition.id.as_deref().unwrap_or_default();
            if let Some(other) = ids.insert(id, number) {
                let detail = format!("partitions {other} and {number} have the same id {id}");
                problems.push(Problem::new(ProblemKind::Field, entry_at_bytes, detail));
            }
        }
        let claims = self.partitions.iter().map(ClaimedRange::of);
        problems.extend(overlaps(claims.chain(own_claims(copy, sector)).collect()));
        self.problems.append(&mut problems);
    }
}

/// Returns what the copy itself takes: its header, and its entries where they could be read.
fn own_claims(copy: &Copy, sector: SectorSize) -> impl Iterator<Item = ClaimedRange> {
    let place = copy.place.word();
    let header = ByteRange::new(copy.at_bytes, sector.bytes());
    let entries = u64::try_from(copy.entries.len()).ok();
    let entries = entries.and_then(|length| ByteRange::new(copy.entries_at_bytes, length));
    [("header", header), ("entries", entries)].into_iter().filter_map(move |(what, range)| {
        Some(ClaimedRange::new(format!("the {place} GPT's {what}"), range?, copy.at_bytes))
    })
}
