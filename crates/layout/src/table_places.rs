//! The places that a change of a table may write: those of the two tables, as they are on the disk.
//!
//! One idea: a plan comes from a stranger. Its writes count only where the old table is, or where
//! the new table is and nothing was; its header says what straddle's own would. A FAT that is
//! rebuilt has a check of its own: `content_fits`.

use device::disk;
use format::table::{Partition, PartitionTable};
use units::ByteRange;

use crate::old_table_bytes::{Gpt, GptCopy, RECORD_BYTES, TableBytes, number};
use crate::table_change::{SECTOR, TableChange};

/// Offset of the first entry in a record.
const ENTRIES_AT: u64 = 446;

/// A table, and its bytes.
pub(crate) type ReadTable<'a> = (&'a PartitionTable, &'a TableBytes);

/// The records of the logical partitions in `table`.
pub(crate) fn records(table: &[Partition]) -> impl Iterator<Item = ByteRange> + '_ {
    let logical = table.iter().filter(|one| one.number > 4);
    let records = logical.filter_map(|one| one.entry_at_bytes.checked_sub(ENTRIES_AT));
    // Entries of a GPT are on multiples of 128.
    let records = records.filter(|at| at.is_multiple_of(128));
    records.filter_map(|at| ByteRange::new(at, RECORD_BYTES))
}

/// Rejects writes in places that are neither table's, or that only the new table has and where
/// something is. Partitions in `rebuilt` have a check of their own.
pub(crate) fn check(
    change: &TableChange,
    old: Option<ReadTable<'_>>,
    new: ReadTable<'_>,
    rebuilt: &[ByteRange],
) -> Result<(), String> {
    let old: Vec<ByteRange> = old.into_iter().flat_map(places).collect();
    let new = places(new);
    for write in &change.writes {
        let sectors = write.old.chunks(SECTOR).zip(write.new.chunks(SECTOR));
        for ((was, now), at) in sectors.zip((write.at_bytes..).step_by(SECTOR)) {
            let Some(sector) = ByteRange::new(at, disk::length_of(was)) else { continue };
            let is_in = |ranges: &[ByteRange]| ranges.iter().any(|one| one.overlaps(sector));
            if was == now || is_in(rebuilt) {
                continue;
            }
            let is_blank = |bytes: &[u8]| disk::is_filled_with(bytes, 0);
            if !is_in(&old) && !is_blank(was) {
                return Err(format!("it writes over something unknown at byte {at}"));
            }
            if !is_in(&new) && !is_blank(now) {
                return Err(format!("it writes at byte {at}, where no table is"));
            }
        }
    }
    Ok(())
}

/// Rejects a GPT with other places or another usable range than those of `old`; where that table
/// counts in other sectors, or there is none, than those that every partitioner writes.
pub(crate) fn check_headers(
    change: &TableChange,
    old: Option<&Gpt>,
    new: &Gpt,
) -> Result<(), String> {
    let odd = || Err("its writes change the places or the usable range of the GPT".to_owned());
    let same_sector = change.old_sector_bytes == change.new_sector_bytes;
    if let Some(old) = old.filter(|_| same_sector) {
        let masked = |copy: &GptCopy| {
            let mut header = copy.header.clone();
            header[16..20].fill(0);
            header[88..92].fill(0);
            (copy.at_bytes, header)
        };
        let both = |gpt: &Gpt| [masked(&gpt.primary), masked(&gpt.backup)];
        return if both(old) == both(new) { Ok(()) } else { odd() };
    }
    let sector = change.new_sector_bytes;
    let rows = disk::length_of(&new.entries).div_ceil(sector);
    let last = change.disk_bytes.div_euclid(sector).checked_sub(1);
    let Some(last) = last.filter(|&last| last > 2 * rows + 4) else { return odd() };
    let is_standard = |copy: &GptCopy, own: u64, other: u64, entries: u64| {
        let fields = [(24, own), (32, other), (40, 2 + rows), (48, last - rows - 1), (72, entries)];
        fields.into_iter().all(|(at, value)| number(&copy.header, at, 8) == value)
    };
    let is_standard = is_standard(&new.primary, 1, last, 2)
        && is_standard(&new.backup, last, 1, last - rows)
        && new.backup.at_bytes == last * sector;
    if is_standard { Ok(()) } else { odd() }
}

/// The places of a table on its disk.
fn places((table, bytes): ReadTable<'_>) -> Vec<ByteRange> {
    let sector = table.sector.bytes();
    let range = |at: u64, length: u64| ByteRange::new(at, length.next_multiple_of(sector));
    let first = ByteRange::new(0, RECORD_BYTES);
    let others: Vec<Option<ByteRange>> = match bytes {
        TableBytes::Gpt(gpt) => [&gpt.primary, &gpt.backup]
            .into_iter()
            .flat_map(|copy| {
                let entries = range(copy.entries_at_bytes, disk::length_of(&gpt.entries));
                [range(copy.at_bytes, sector), entries]
            })
            .collect(),
        TableBytes::Mbr(_) => records(&table.partitions).map(Some).collect(),
    };
    std::iter::once(first).chain(others).flatten().collect()
}
