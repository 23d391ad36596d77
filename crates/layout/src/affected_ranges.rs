//! Ranges of a disk that a change of its table cuts, leaves or takes, and that must be blank, since
//! no data moves.
//!
//! One idea: a byte that was in a partition and no longer is, or is in one now and was not before,
//! is lost to whoever looks for it where it was. Sectors of the two tables are known and count as
//! blank: [`TableChange::standing`] and [`TableChange::old_hash`] tell that nothing else is there.

use device::disk;
use format::table::{Partition, PartitionRole};
use units::ByteRange;

use crate::moves::without;
use crate::table_change::{Side, TableChange, TableWrite};
use crate::table_places::records;

/// Reason for which a range must be blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// The partition starts elsewhere afterwards.
    Moved,
    /// The partition is not in the table afterwards.
    Removed,
    /// The partition ends earlier afterwards: the bytes from that end on.
    Cut,
    /// The partition covers bytes afterwards that no partition had.
    Taken,
    /// The disk had no table.
    FirstTable,
}

/// A range that must be blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AffectedRange {
    pub(crate) bytes: ByteRange,
    number: u32,
    reason: Reason,
}

impl AffectedRange {
    /// Why nothing is written where the range is not blank.
    pub(crate) fn refusal(self) -> String {
        let number = self.number;
        match self.reason {
            Reason::Moved => format!("partition {number} moves, and it holds data"),
            Reason::Removed => format!("partition {number} would be removed, and it holds data"),
            Reason::Cut => format!("partition {number} would end earlier, and data is there"),
            Reason::Taken => format!("partition {number} would cover data that is in no partition"),
            Reason::FirstTable => "the plan is for a blank disk, and it holds data".to_owned(),
        }
    }
}

/// Returns the ranges that must be blank before `change` turns the partitions `from` into those of
/// table `side`, which are `to`.
///
/// # Errors
/// When a write of the new table would be over bytes of a partition that are not zero.
pub(crate) fn affected(
    change: &TableChange,
    from: &[Partition],
    to: &[Partition],
    side: Side,
) -> Result<Vec<AffectedRange>, String> {
    let emptied = partitions(from).filter_map(|one| emptied(one, to));
    // What is in one of these may be lost; of a first table that is the whole disk.
    let first = ByteRange::new(0, change.disk_bytes).filter(|_| from.is_empty());
    let first = first.map(|bytes| AffectedRange { bytes, number: 0, reason: Reason::FirstTable });
    let left: Vec<AffectedRange> = emptied.chain(first).collect();
    let covered = left.iter().find(|range| side == Side::New && covers_data(change, range.bytes));
    if let Some(range) = covered {
        return Err(range.refusal());
    }
    let held = || partitions(from).map(|one| one.range).chain(first.map(|all| all.bytes));
    let taken = partitions(to).flat_map(|one| {
        let parts = outside(one.range, held()).into_iter();
        parts.map(|bytes| AffectedRange { bytes, number: one.number, reason: Reason::Taken })
    });
    let (writes, known) = (written(change), table_sectors(change, [from, to]));
    let parts = left.iter().copied().chain(taken).flat_map(|range| {
        let known = match range.reason {
            _ if change.rebuilt.contains(&range.number) => &[],
            Reason::Taken => &known[..],
            // The new table leaves records of the old one where they are, in its partitions too.
            _ if side == Side::Old => &known[..],
            _ => &writes[..],
        };
        let parts = outside(range.bytes, known.iter().copied()).into_iter();
        parts.map(move |bytes| AffectedRange { bytes, ..range })
    });
    Ok(parts.collect())
}

fn written(change: &TableChange) -> Vec<ByteRange> {
    change.writes.iter().filter_map(TableWrite::range).collect()
}

/// The ranges of the two tables that may be in a partition: all that is written, and records.
pub(crate) fn table_sectors(change: &TableChange, tables: [&[Partition]; 2]) -> Vec<ByteRange> {
    written(change).into_iter().chain(tables.into_iter().flat_map(records)).collect()
}

/// The partitions of a table that hold data.
fn partitions(table: &[Partition]) -> impl Iterator<Item = &Partition> {
    table.iter().filter(|one| !is_container(one))
}

/// The bytes that `one` no longer has in table `to`; `None` where it keeps all.
fn emptied(one: &Partition, to: &[Partition]) -> Option<AffectedRange> {
    let (bytes, reason) = match of_number(to, one.number) {
        None => (one.range, Reason::Removed),
        Some(next) if next.range.start_bytes() != one.range.start_bytes() => {
            (one.range, Reason::Moved)
        }
        Some(next) => {
            let kept = next.range.length_bytes().min(one.range.length_bytes());
            let cut = one.range.length_bytes() - kept;
            (ByteRange::new(one.range.start_bytes() + kept, cut)?, Reason::Cut)
        }
    };
    (bytes.length_bytes() > 0).then_some(AffectedRange { bytes, number: one.number, reason })
}

/// The parts of `range` that none of `others` covers.
pub(crate) fn outside(range: ByteRange, others: impl Iterator<Item = ByteRange>) -> Vec<ByteRange> {
    let cut = |parts: Vec<ByteRange>, other: ByteRange| {
        parts.into_iter().flat_map(|part| without(part, other)).collect()
    };
    others.fold(vec![range], cut)
}

/// Returns whether a write of `change` replaces bytes of `range` that are not zero.
fn covers_data(change: &TableChange, range: ByteRange) -> bool {
    let is_over_data = |write: &TableWrite| {
        let bytes = (write.at_bytes..).zip(&write.old);
        let mut within =
            bytes.filter(|(at, _)| (range.start_bytes()..range.end_bytes()).contains(at));
        disk::length_of(&write.old) > 0 && within.any(|(_, &byte)| byte != 0)
    };
    change.writes.iter().any(is_over_data)
}

pub(crate) fn is_container(partition: &Partition) -> bool {
    partition.role == PartitionRole::Extended
}

pub(crate) fn of_number(table: &[Partition], number: u32) -> Option<&Partition> {
    table.iter().find(|one| one.number == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A partition in MiB.
    fn partition(start: u64, length: u64) -> Partition {
        Partition {
            number: 1,
            range: ByteRange::new(start * MIB, length * MIB).expect("a range"),
            type_code: "0x83".to_owned(),
            type_name: None,
            role: PartitionRole::Ordinary,
            name: None,
            id: None,
            bootable: false,
            entry_at_bytes: 446,
        }
    }

    /// The ranges that must be blank before `from` becomes `to` by a write at byte `at_bytes`, over
    /// bytes that are `old`.
    fn changed(
        (at_bytes, old): (u64, u8),
        from: &Partition,
        to: &[Partition],
    ) -> Result<Vec<(ByteRange, Reason)>, String> {
        let what = "table".to_owned();
        let write = TableWrite { what, at_bytes, old: vec![old; 512], new: vec![1; 512] };
        let change = TableChange {
            disk_bytes: 64 * MIB,
            old_sector_bytes: 512,
            new_sector_bytes: 512,
            known: Vec::new(),
            writes: vec![write],
            rebuilt: Vec::new(),
        };
        let found = affected(&change, std::slice::from_ref(from), to, Side::New)?;
        Ok(found.into_iter().map(|one| (one.bytes, one.reason)).collect())
    }

    #[test]
    fn all_of_a_partition_must_be_blank_that_starts_earlier_or_later() {
        let from = partition(8, 4);
        for start in [7, 9] {
            let found = changed((0, 0), &from, &[partition(start, 4)]).expect("no data is written");
            assert!(found.contains(&(from.range, Reason::Moved)), "{start}: {found:?}");
        }
    }

    #[test]
    fn a_table_is_written_over_zeros_of_a_partition_and_never_over_data() {
        let from = partition(8, 4);
        assert!(changed((8 * MIB, 0), &from, &[]).is_ok());
        let refused = changed((8 * MIB, 1), &from, &[]).expect_err("data is there");
        assert_eq!(refused, "partition 1 would be removed, and it holds data");
    }
}
