//! The writes that straddle itself makes for the partitions of a change.
//!
//! One idea: a plan comes from a stranger, and its checksum is no signature. Of its new table only
//! the places of partitions count, and the two ids of a first table. All else is made again from
//! the disk as it is, and must be what the plan writes, byte for byte and in the same order.

use device::{Disk, disk};
use format::table::{Partition, PartitionTable};
use units::ByteRange;

use crate::affected_ranges::of_number;
use crate::best_places::NewRange;
use crate::new_table::{NewIds, first_regions};
use crate::new_table_bytes::{self, Placed, Region, Sectors};
use crate::old_table_bytes::{TableBytes, number};
use crate::table_change::{TableChange, TableWrite};
use crate::table_places::{ReadTable, record_of};

/// Rejects writes of a table that are not straddle's own for the partitions in `new`. `before` is
/// the disk with the old table; writes before those of the table must be in `rebuilt`.
pub(crate) fn require(
    change: &TableChange,
    before: &dyn Disk,
    old: Option<ReadTable<'_>>,
    new: ReadTable<'_>,
    rebuilt: &[ByteRange],
) -> Result<(), String> {
    let regions = match old {
        Some((old, raw)) => changed_regions(change, before, (old, raw), new)?,
        None => first_regions_of(change, new)?,
    };
    let mut own = Vec::new();
    for region in regions {
        let length = disk::length_of(&region.new);
        let was = disk::read_vec(before, region.at_bytes, length);
        let was = was.map_err(|error| error.to_string())?;
        if region.at_bytes == 0 || was != region.new {
            own.push(region);
        }
    }
    let odd = || "its writes are not those that straddle makes for its partitions".to_owned();
    let count = change.writes.len().checked_sub(own.len()).ok_or_else(odd)?;
    let (others, table) = change.writes.split_at(count);
    let is_own = |(write, region): (&TableWrite, &Region)| {
        (&write.what, write.at_bytes, &write.new) == (&region.what, region.at_bytes, &region.new)
    };
    let is_in_fat = |write: &TableWrite| {
        write.range().is_some_and(|range| rebuilt.iter().any(|fat| fat.contains(range)))
    };
    let are_own = table.iter().zip(&own).all(is_own) && others.iter().all(is_in_fat);
    if !are_own {
        return Err(odd());
    }
    let is_same_sector = change.old_sector_bytes == change.new_sector_bytes;
    require_usable(old.filter(|_| is_same_sector), new)
}

/// The writes after which the old table lists the partitions of the new one.
fn changed_regions(
    change: &TableChange,
    before: &dyn Disk,
    (old, raw): ReadTable<'_>,
    (new, _): ReadTable<'_>,
) -> Result<Vec<Region>, String> {
    let place = |one: &Partition| NewRange {
        start: one.range.start_bytes(),
        length: one.range.length_bytes(),
    };
    let placed = |one: &Partition| {
        let next = of_number(&new.partitions, one.number)?;
        let record_at = record_of(next).map(ByteRange::start_bytes);
        Some(Placed { number: one.number, old: place(one), new: place(next), record_at })
    };
    let mut all: Vec<Placed> = old.partitions.iter().filter_map(placed).collect();
    if all.len() != old.partitions.len() || all.len() != new.partitions.len() {
        return Err("its writes change the numbers of partitions".to_owned());
    }
    all.sort_by_key(|one| one.number);
    let sectors = Sectors { old: change.old_sector_bytes, new: change.new_sector_bytes };
    new_table_bytes::regions(before, raw, &all, sectors)
}

/// The writes of the first table of a disk, with the one partition of `new`.
fn first_regions_of(
    change: &TableChange,
    (new, raw): ReadTable<'_>,
) -> Result<Vec<Region>, String> {
    let odd = || "its writes are not the first table of a disk".to_owned();
    let (TableBytes::Gpt(gpt), [one]) = (raw, &new.partitions[..]) else { return Err(odd()) };
    if change.old_sector_bytes != change.new_sector_bytes {
        return Err(odd());
    }
    let id = |bytes: &[u8], at: usize| {
        bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()).copied().ok_or_else(odd)
    };
    let ids = NewIds { disk: id(&gpt.primary.header, 56)?, partition: id(&gpt.entries, 16)? };
    let range = (one.range.start_bytes(), one.range.end_bytes());
    let regions = first_regions(change.new_sector_bytes, change.disk_bytes, range, ids);
    regions.map(Vec::from).ok_or_else(odd)
}

/// Rejects a partition outside the usable range of a GPT, where it is not at the same place in
/// `old`.
fn require_usable(
    old: Option<ReadTable<'_>>,
    (new, raw): (&PartitionTable, &TableBytes),
) -> Result<(), String> {
    let TableBytes::Gpt(gpt) = raw else { return Ok(()) };
    let sector = new.sector.bytes();
    let field = |at: usize| number(&gpt.primary.header, at, 8);
    let (first, end) = (field(40).saturating_mul(sector), field(48).saturating_add(1));
    let end = end.saturating_mul(sector);
    let stays = |one: &Partition| {
        let was = old.and_then(|(old, _)| of_number(&old.partitions, one.number));
        was.is_some_and(|was| was.range == one.range)
    };
    let is_within =
        |one: &Partition| one.range.start_bytes() >= first && one.range.end_bytes() <= end;
    match new.partitions.iter().find(|one| !stays(one) && !is_within(one)) {
        Some(one) => Err(format!("partition {} would be outside the usable range", one.number)),
        None => Ok(()),
    }
}
