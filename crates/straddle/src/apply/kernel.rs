//! The kernel's partitions of a device whose table was written.

use format::table::PartitionRole;
use host::claim::Claim;
use host::{FileDisk, ToldPartition, tell_partitions};
use units::SectorSize;

/// Linux shows two sectors of an extended partition, so that nobody makes a file system in it.
///
/// Source: Linux `block/partitions/msdos.c`.
const EXTENDED_BYTES: u64 = 1024;

/// Tells the kernel of the table that is on the claimed `disk`, and returns its answers, a line
/// each.
pub(super) fn told(claim: &mut Claim, disk: &FileDisk, sector_bytes: u64) -> Vec<String> {
    let sector = SectorSize::new(sector_bytes);
    let table = sector.and_then(|sector| format::table::read(disk, sector, 0));
    let partitions = table.map(|table| table.value.partitions).unwrap_or_default();
    let wanted: Vec<ToldPartition> = (partitions.iter())
        .map(|one| {
            let length = one.range.length_bytes();
            let is_extended = one.role == PartitionRole::Extended;
            let most = if is_extended { EXTENDED_BYTES.max(sector_bytes) } else { length };
            ToldPartition {
                number: one.number,
                start_bytes: one.range.start_bytes(),
                length_bytes: length.min(most),
            }
        })
        .collect();
    let answers = tell_partitions(claim, &wanted);
    if answers.is_empty() {
        return vec!["shows the partitions of this table already".to_owned()];
    }
    let line = |one: &host::KernelAnswer| match &one.answer {
        Ok(()) => format!("partition {} {}", one.number, one.asked),
        Err(reason) => format!(
            "partition {} not {}: {reason}; restart before using the disk",
            one.number, one.asked
        ),
    };
    answers.iter().map(line).collect()
}
