//! Checks of a table's writes before any of them is done, whoever made them: a plan may be old, or
//! edited by hand.

use device::Disk;
use format::table::{Partition, PartitionTable, TableKind};
use units::{ByteRange, SectorSize};

use crate::affected_ranges::{affected, is_container, of_number};
use crate::old_table_bytes::TableBytes;
use crate::own_writes;
use crate::table_change::{SECTOR, Side, TableChange, TableState, TableWrite};
use crate::table_places;

/// Answers whether a range of the disk is blank.
pub type IsBlank<'a> = dyn Fn(ByteRange) -> Result<bool, String> + 'a;

/// Checks that `change`, carried out on `disk` towards table `to`, changes places and sizes of
/// partitions and nothing else; that no partition with data moves or is written over; that what
/// partitions lose or gain is blank (`affected_ranges`); and that after each single write every
/// partition is in the table, in its old or its new place.
///
/// `disk` must be in one of the states of `change`: [`TableChange::standing`] and
/// [`TableChange::old_hash`] tell.
///
/// # Errors
/// The first reason not to write, to follow "cannot apply PLAN: ".
pub fn check(
    change: &TableChange,
    disk: &dyn Disk,
    to: Side,
    is_blank: &IsBlank<'_>,
) -> Result<(), String> {
    places(change, disk)?;
    let case = Case { change, disk };
    let [old, new] = [Side::Old, Side::New].map(|side| case.table(side));
    let (from, towards) = match to {
        Side::New => (&old, &new),
        Side::Old => (&new, &old),
    };
    let Some(new_table) = &new else {
        return Err("its writes make no partition table".to_owned());
    };
    let [from, towards] =
        [from, towards].map(|one| one.as_ref().map(|table| &table.partitions[..]));
    let now = (new_table, &case.bytes(new_table, Side::New)?);
    let old_bytes = old.as_ref().map(|old| case.bytes(old, Side::Old)).transpose()?;
    let was = old.as_ref().zip(old_bytes.as_ref());
    case.rebuilds_fat(towards.unwrap_or_default(), to)?;
    let (from, towards) = (from.unwrap_or_default(), towards.unwrap_or_default());
    case.no_partition_is_written(from, towards, to)?;
    let rebuilt: Vec<ByteRange> = change
        .rebuilt
        .iter()
        .filter_map(|&number| Some(of_number(&new_table.partitions, number)?.range))
        .collect();
    table_places::check(change, was, now, &rebuilt)?;
    for range in affected(change, from, towards, to)? {
        if !is_blank(range.bytes)? {
            return Err(range.refusal());
        }
    }
    case.every_step_is_readable(old.as_ref(), new.as_ref())?;
    own_writes::require(change, &change.whole(disk, Side::Old), was, now, &rebuilt)
}

/// Rejects writes that are none: off the disk, off its sectors, or over each other.
fn places(change: &TableChange, disk: &dyn Disk) -> Result<(), String> {
    if change.disk_bytes != disk.length_bytes() {
        return Err(format!(
            "the disk has {} bytes, and the plan is for {}",
            disk.length_bytes(),
            change.disk_bytes
        ));
    }
    let odd = |write: &TableWrite| {
        let length = write.new.len();
        let ends = write.range().is_none_or(|range| range.end_bytes() > change.disk_bytes);
        let off = !length.is_multiple_of(SECTOR) || !write.at_bytes.is_multiple_of(512);
        ends || off || length == 0 || write.old.len() != length
    };
    if change.writes.is_empty() || change.writes.iter().any(odd) {
        return Err("a write of it is not on whole sectors of the disk".to_owned());
    }
    let ranges: Vec<ByteRange> = change.writes.iter().filter_map(TableWrite::range).collect();
    let over = |(index, one): (usize, &ByteRange)| {
        ranges.iter().skip(index + 1).any(|other| other.overlaps(*one))
    };
    if ranges.iter().enumerate().any(over) {
        return Err("two writes of it are of the same sector".to_owned());
    }
    Ok(())
}

/// A change, and the disk that it is of.
pub(crate) struct Case<'a> {
    pub(crate) change: &'a TableChange,
    pub(crate) disk: &'a dyn Disk,
}

impl Case<'_> {
    /// The table `side`; `None` where it lists nothing.
    pub(crate) fn table(&self, side: Side) -> Option<PartitionTable> {
        self.read(&self.change.whole(self.disk, side), side)
    }

    /// The table of a disk in the sectors of `side`; `None` where it lists nothing.
    fn read(&self, state: &TableState<'_>, side: Side) -> Option<PartitionTable> {
        let sector = SectorSize::new(self.change.sector_bytes(side))?;
        let table = format::table::read(state, sector, 0)?.value;
        (table.sector == sector && !table.partitions.is_empty()).then_some(table)
    }

    fn bytes(&self, table: &PartitionTable, side: Side) -> Result<TableBytes, String> {
        TableBytes::read(&self.change.whole(self.disk, side), table)
    }

    /// Rejects writes into a partition after which it is no FAT of the new sectors.
    fn rebuilds_fat(&self, to: &[Partition], side: Side) -> Result<(), String> {
        for &number in &self.change.rebuilt {
            let at = of_number(to, number).map_or(u64::MAX, |one| one.range.start_bytes());
            let boot = |side: Side| {
                let state = self.change.whole(self.disk, side);
                device::disk::read_array::<512>(&state, at).unwrap_or([0; 512])
            };
            // One of the new sectors already is not made again.
            let is_new = [Side::Old, Side::New].map(|side| {
                let boot = boot(side);
                let sector = u16::from_le_bytes([boot[11], boot[12]]);
                u64::from(sector) == self.change.new_sector_bytes
            });
            if boot(side)[510..] != [0x55, 0xaa] || is_new != [false, true] {
                return Err(format!("its writes make no FAT of partition {number}"));
            }
        }
        Ok(())
    }

    /// Rejects partitions that overlap or end past the disk, and writes into partitions.
    ///
    /// Undone, a write may be in a partition of the old table: it puts back what was there before a
    /// record of the new table.
    fn no_partition_is_written(
        &self,
        from: &[Partition],
        to: &[Partition],
        side: Side,
    ) -> Result<(), String> {
        let writes: Vec<ByteRange> =
            self.change.writes.iter().filter_map(TableWrite::range).collect();
        let mut new: Vec<&Partition> = to.iter().filter(|one| !is_container(one)).collect();
        new.sort_by_key(|one| one.range.start_bytes());
        for pair in new.windows(2) {
            if pair[0].range.overlaps(pair[1].range) {
                let [one, other] = [pair[0].number, pair[1].number];
                return Err(format!("partitions {one} and {other} would overlap"));
            }
        }
        if let Some(one) = new.iter().find(|one| one.range.end_bytes() > self.change.disk_bytes) {
            return Err(format!("partition {} would end past the disk", one.number));
        }
        // What a partition keeps where it is; the rest of it is blank.
        let kept = from.iter().filter(|one| !is_container(one)).filter_map(|one| {
            let next = of_number(to, one.number).map(|next| next.range);
            let next = next.filter(|next| next.start_bytes() == one.range.start_bytes());
            Some((one.number, one.range.intersection(next?)?))
        });
        let new = new.into_iter().filter(|_| side == Side::New).map(|one| (one.number, one.range));
        let is_written = |&(number, kept): &(u32, ByteRange)| {
            !self.change.rebuilt.contains(&number)
                && writes.iter().any(|range| range.overlaps(kept))
        };
        match kept.chain(new).find(is_written) {
            Some((number, _)) => Err(format!("it writes into partition {number}")),
            None => Ok(()),
        }
    }

    /// Rejects writes after one of which some partition is in neither table's place.
    fn every_step_is_readable(
        &self,
        old: Option<&PartitionTable>,
        new: Option<&PartitionTable>,
    ) -> Result<(), String> {
        let places = |table: Option<&PartitionTable>| -> Vec<(u32, ByteRange)> {
            let all = table.map_or(&[][..], |table| &table.partitions[..]);
            all.iter().map(|one| (one.number, one.range)).collect()
        };
        let (old_places, new_places) = (places(old), places(new));
        let is_mbr = new.is_some_and(|table| table.kind == TableKind::Mbr);
        for count in 1..self.change.writes.len() {
            let state = self.change.state(self.disk, count);
            let is_one = |side: Side| {
                let now = places(self.read(&state, side).as_ref());
                let either = |(index, place): (usize, &(u32, ByteRange))| {
                    old_places.get(index) == Some(place) || new_places.get(index) == Some(place)
                };
                now == old_places
                    || now == new_places
                    // Records change one by one, and so do the partitions in them.
                    || (is_mbr
                        && now.len() == old_places.len()
                        && now.iter().enumerate().all(either))
            };
            if !is_one(Side::Old) && !is_one(Side::New) {
                let what = &self.change.writes[count - 1].what;
                return Err(format!(
                    "a power cut after the write of the {what} would hide a partition"
                ));
            }
        }
        Ok(())
    }
}
