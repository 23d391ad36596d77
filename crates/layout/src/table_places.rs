//! The places that a change of a table may write: those of the two tables, as they are on the disk.
//!
//! One idea: a plan comes from a stranger. Its writes count only where the old table is, or where
//! the new table is and nothing was. What they write is for `own_writes` to judge, and of a FAT
//! that is rebuilt, `content_fits`.

use device::disk;
use format::table::{Partition, PartitionTable};
use units::ByteRange;

use crate::old_table_bytes::{RECORD_BYTES, TableBytes};
use crate::table_change::{SECTOR, TableChange};

/// Offset of the first entry in a record.
const ENTRIES_AT: u64 = 446;

/// A table, and its bytes.
pub(crate) type ReadTable<'a> = (&'a PartitionTable, &'a TableBytes);

/// The records of the logical partitions in `table`.
pub(crate) fn records(table: &[Partition]) -> impl Iterator<Item = ByteRange> + '_ {
    table.iter().filter_map(record_of)
}

/// The record of a logical partition.
pub(crate) fn record_of(one: &Partition) -> Option<ByteRange> {
    let at = one.entry_at_bytes.checked_sub(ENTRIES_AT).filter(|_| one.number > 4)?;
    // Entries of a GPT are on multiples of 128.
    ByteRange::new(at, RECORD_BYTES).filter(|_| at.is_multiple_of(128))
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
