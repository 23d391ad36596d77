//! The writes by which one partition table becomes another, where no data moves: the same bytes
//! serve to carry it out, to go on after a power cut, and to undo it.

use std::collections::BTreeSet;

use device::{Disk, ReadError, disk};
use format::table::{Partition, TableKind};
use sha2::{Digest as _, Sha256};
use units::{ByteRange, SectorSize};

use crate::affected_ranges::is_container;
use crate::old_table_bytes::{RECORD_BYTES, TableBytes};
use crate::plan::DiskPlan;
use crate::table_check::Case;

/// The unit in which bytes on a disk are told apart.
pub(crate) const SECTOR: usize = 512;
/// The largest physical sector of common drives, which a power cut tears as one.
const BLOCK_BYTES: u64 = 4096;

/// One of the two tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The table before.
    Old,
    /// The table after.
    New,
}

/// A run of the table, before and after. Both are equally long, a multiple of 512 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableWrite {
    /// Its content, in words.
    pub what: String,
    /// Its first byte on the disk, a multiple of 512.
    pub at_bytes: u64,
    /// Bytes before.
    pub old: Vec<u8>,
    /// Bytes after.
    pub new: Vec<u8>,
}

/// A change of a partition table that moves no data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableChange {
    /// The disk's length in bytes.
    pub disk_bytes: u64,
    /// The sector in which the old table counts, in bytes.
    pub old_sector_bytes: u64,
    /// The sector in which the new one counts.
    pub new_sector_bytes: u64,
    /// Runs of the disk that hold the old table: what is written, and the rest of it. Of a file
    /// system that is made again, all that it is made of.
    pub known: Vec<ByteRange>,
    /// The writes, in the order in which one sound copy exists at every instant. Undone from the
    /// last to the first.
    pub writes: Vec<TableWrite>,
    /// Numbers of partitions whose file system is made again for the new sectors: writes may be in
    /// them.
    pub rebuilt: Vec<u32>,
}

/// State of a disk between two tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Each sector is that of this table.
    Whole(Side),
    /// Some sectors are of the one, some of the other, and others are torn.
    Between,
    /// The sector at this byte is of neither: somebody else wrote it.
    Foreign(u64),
}

impl TableWrite {
    /// Its bytes in the table `side`.
    #[must_use]
    pub fn bytes(&self, side: Side) -> &[u8] {
        match side {
            Side::Old => &self.old,
            Side::New => &self.new,
        }
    }

    /// Its place on the disk; `None` where it would end past the last address.
    pub(crate) fn range(&self) -> Option<ByteRange> {
        ByteRange::new(self.at_bytes, disk::length_of(&self.new))
    }
}

impl TableChange {
    /// The writes of `plan`, of which `disk` has the old table.
    ///
    /// # Errors
    /// Why the old table cannot be read.
    pub fn of(plan: &DiskPlan, disk: &dyn Disk) -> Result<TableChange, String> {
        let words = |error: ReadError| error.to_string();
        let mut writes = Vec::new();
        for region in &plan.regions {
            let length = disk::length_of(&region.new);
            let old = disk::read_vec(disk, region.at_bytes, length).map_err(words)?;
            let (what, new) = (region.what.clone(), region.new.clone());
            writes.push(TableWrite { what, at_bytes: region.at_bytes, old, new });
        }
        // A torn write of what shares its physical sector damages the first sector too, so that is
        // among the writes, changed or not.
        writes.retain(|one| one.at_bytes == 0 || one.old != one.new);
        let table = &plan.known_table;
        let mut known: Vec<ByteRange> = (table.iter())
            .filter_map(|(at, bytes)| ByteRange::new(*at, disk::length_of(bytes)))
            .collect();
        known.extend(records(disk, plan));
        known.extend(writes.iter().filter_map(TableWrite::range));
        Ok(TableChange {
            disk_bytes: plan.disk_bytes,
            old_sector_bytes: plan.old_sector_bytes,
            new_sector_bytes: plan.sector_bytes,
            known,
            writes,
            rebuilt: Vec::new(),
        })
    }

    /// This change with `writes` before those of the table, in partition `number`, made of the
    /// bytes in `sources`.
    #[must_use]
    pub fn rebuilding(
        mut self,
        number: u32,
        sources: &[ByteRange],
        mut writes: Vec<TableWrite>,
    ) -> TableChange {
        let written = writes.iter().filter_map(TableWrite::range);
        self.known.extend(merged(sources.iter().copied().chain(written).collect()));
        writes.append(&mut self.writes);
        self.writes = writes;
        self.rebuilt.push(number);
        self
    }

    /// The sector in which table `side` counts, in bytes.
    #[must_use]
    pub fn sector_bytes(&self, side: Side) -> u64 {
        match side {
            Side::Old => self.old_sector_bytes,
            Side::New => self.new_sector_bytes,
        }
    }

    /// Returns the SHA-256 of the old table in hexadecimal: of all known runs, those that are
    /// written as they were before.
    ///
    /// # Errors
    /// When `disk` cannot be read there.
    pub fn old_hash(&self, disk: &dyn Disk) -> Result<String, ReadError> {
        self.hash(&self.state(disk, 0))
    }

    /// Returns the SHA-256 of the known runs of `disk` as they are now, in hexadecimal.
    ///
    /// # Errors
    /// When `disk` cannot be read there.
    pub fn hash(&self, disk: &dyn Disk) -> Result<String, ReadError> {
        let mut digest = Sha256::new();
        for run in &self.known {
            digest.update(disk::read_vec(disk, run.start_bytes(), run.length_bytes())?);
        }
        Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns whose table `disk` has now. A sector that cannot be read, or that begins as one
    /// table and ends as the other, is torn. One that holds anything else counts as torn in one
    /// copy of a GPT alone, and in no partition: who writes a GPT writes both.
    #[must_use]
    pub fn standing(&self, disk: &dyn Disk) -> Standing {
        let (mut is_old, mut is_new) = (true, true);
        let mut strange: Vec<u64> = Vec::new();
        for write in &self.writes {
            let sectors = write.old.chunks(SECTOR).zip(write.new.chunks(SECTOR));
            for ((old, new), at) in sectors.zip((write.at_bytes..).step_by(SECTOR)) {
                let now = disk::read_vec(disk, at, disk::length_of(old)).ok();
                is_old &= now.as_deref() == Some(old);
                is_new &= now.as_deref() == Some(new);
                let either = |(now, (old, new)): (&u8, (&u8, &u8))| now == old || now == new;
                let is_mix = |now: &Vec<u8>| now.iter().zip(old.iter().zip(new)).all(either);
                if !now.as_ref().is_none_or(is_mix) {
                    strange.push(at);
                }
            }
        }
        match (is_old, is_new) {
            (_, true) => return Standing::Whole(Side::New),
            (true, false) => return Standing::Whole(Side::Old),
            _ => {}
        }
        let is_upper = |at: u64| at >= self.disk_bytes.div_euclid(2);
        let first = strange.first().copied();
        let foreign = first.filter(|&first| {
            !self.is_gpt()
                || strange.iter().any(|&at| is_upper(at) != is_upper(first))
                || self.are_in_partitions(disk, &strange)
        });
        foreign.map_or(Standing::Between, Standing::Foreign)
    }

    /// True if `disk` has no table before this change.
    #[must_use]
    pub fn is_first(&self, disk: &dyn Disk) -> bool {
        Case { change: self, disk }.table(Side::Old).is_none()
    }

    /// True if `sectors` are in partitions of either table. A FAT that is rebuilt may be torn in as
    /// many blocks as two power cuts tear.
    fn are_in_partitions(&self, disk: &dyn Disk, sectors: &[u64]) -> bool {
        let case = Case { change: self, disk };
        let tables = [Side::Old, Side::New].into_iter().filter_map(|side| case.table(side));
        let is_torn = |one: &Partition| {
            let (start, end) = (one.range.start_bytes(), one.range.end_bytes());
            let within = sectors.iter().filter(|at| (start..end).contains(at));
            let blocks: BTreeSet<u64> = within.map(|at| at.div_euclid(BLOCK_BYTES)).collect();
            blocks.len() > if self.rebuilt.contains(&one.number) { 2 } else { 0 }
        };
        tables.flat_map(|table| table.partitions).any(|one| !is_container(&one) && is_torn(&one))
    }

    fn is_gpt(&self) -> bool {
        let is_header = |bytes: &[u8]| bytes.chunks(SECTOR).any(|one| one.starts_with(b"EFI PART"));
        self.writes.iter().any(|write| is_header(&write.new))
    }

    /// `disk` with the first `count` writes done, and all others not.
    pub(crate) fn state<'a>(&'a self, disk: &'a dyn Disk, count: usize) -> TableState<'a> {
        TableState { disk, change: self, count }
    }

    /// `disk` with table `side`.
    pub(crate) fn whole<'a>(&'a self, disk: &'a dyn Disk, side: Side) -> TableState<'a> {
        self.state(disk, if side == Side::New { self.writes.len() } else { 0 })
    }
}

/// The sectors that `ranges` cover, each once, in order.
fn merged(mut ranges: Vec<ByteRange>) -> Vec<ByteRange> {
    let sector = disk::length_of(&[0; SECTOR]);
    ranges.sort_by_key(|range| range.start_bytes());
    let mut found: Vec<(u64, u64)> = Vec::new();
    for range in ranges.iter().filter(|range| range.length_bytes() > 0) {
        let start = range.start_bytes().div_euclid(sector) * sector;
        let end = range.end_bytes().next_multiple_of(sector);
        match found.last_mut() {
            Some((_, last)) if start <= *last => *last = end.max(*last),
            _ => found.push((start, end)),
        }
    }
    found.into_iter().filter_map(|(start, end)| ByteRange::new(start, end - start)).collect()
}

/// Records of logical partitions, which are part of the table of an MBR.
fn records(disk: &dyn Disk, plan: &DiskPlan) -> Vec<ByteRange> {
    if plan.table != TableKind::Mbr {
        return Vec::new();
    }
    let sector = SectorSize::new(plan.old_sector_bytes);
    let table = sector.and_then(|sector| format::table::read(disk, sector, 0));
    let raw = table.and_then(|table| TableBytes::read(disk, &table.value).ok());
    match raw {
        Some(TableBytes::Mbr(mbr)) => (mbr.records.iter())
            .filter_map(|record| ByteRange::new(record.at_bytes, RECORD_BYTES))
            .collect(),
        _ => Vec::new(),
    }
}

/// A disk in the middle of a change.
pub(crate) struct TableState<'a> {
    disk: &'a dyn Disk,
    change: &'a TableChange,
    count: usize,
}

impl Disk for TableState<'_> {
    fn length_bytes(&self) -> u64 {
        self.disk.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let wanted = ByteRange::new(offset_bytes, disk::length_of(buffer));
        if let Err(error) = self.disk.read_at(offset_bytes, buffer) {
            // What is written over need not be readable now.
            self.read_between(wanted.ok_or(error)?, buffer)?;
        }
        for (index, write) in self.change.writes.iter().enumerate() {
            let side = if index < self.count { Side::New } else { Side::Old };
            let part =
                write.range().zip(wanted).and_then(|(range, wanted)| range.intersection(wanted));
            let Some(part) = part.filter(|part| part.length_bytes() > 0) else { continue };
            let place =
                |base: u64| usize::try_from(part.start_bytes() - base).unwrap_or(usize::MAX);
            let length = usize::try_from(part.length_bytes()).unwrap_or(usize::MAX);
            let (to, from) = (place(offset_bytes), place(write.at_bytes));
            buffer[to..to + length].copy_from_slice(&write.bytes(side)[from..from + length]);
        }
        Ok(())
    }
}

impl TableState<'_> {
    /// Reads those sectors of `wanted` that no write covers.
    fn read_between(&self, wanted: ByteRange, buffer: &mut [u8]) -> Result<(), ReadError> {
        let mut at = wanted.start_bytes();
        while at < wanted.end_bytes() {
            let covers = |range: &ByteRange| (range.start_bytes()..range.end_bytes()).contains(&at);
            let ranges = self.change.writes.iter().filter_map(TableWrite::range);
            if let Some(range) = ranges.clone().find(covers) {
                at = range.end_bytes();
                continue;
            }
            let next = ranges.map(|range| range.start_bytes()).filter(|&start| start > at).min();
            let end = next.unwrap_or(wanted.end_bytes()).min(wanted.end_bytes());
            let index = |at: u64| usize::try_from(at - wanted.start_bytes()).unwrap_or(usize::MAX);
            self.disk.read_at(at, &mut buffer[index(at)..index(end)])?;
            at = end;
        }
        Ok(())
    }
}
