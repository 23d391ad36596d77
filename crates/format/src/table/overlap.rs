//! Claims to bytes of a disk: which of them collide, and which end behind it.

use units::ByteRange;
use units::prefix::SectorAddress;

use super::{Partition, PartitionRole};
use crate::{Problem, ProblemKind};

/// Something that says certain bytes are its own.
#[derive(Clone, Debug)]
pub(super) struct ClaimedRange {
    /// Its name: `partition 3`, `the backup's entries`.
    pub(super) what: String,
    /// The bytes it claims.
    pub(super) range: ByteRange,
    /// Place where the claim is written, on the same disk.
    pub(super) at_bytes: u64,
}

impl ClaimedRange {
    pub(super) fn new(what: impl Into<String>, range: ByteRange, at_bytes: u64) -> ClaimedRange {
        ClaimedRange { what: what.into(), range, at_bytes }
    }

    /// The claim of a partition to its bytes.
    pub(super) fn of(partition: &Partition) -> ClaimedRange {
        let what = format!("partition {}", partition.number);
        ClaimedRange::new(what, partition.range, partition.entry_at_bytes)
    }
}

/// One problem for each claim that collides with one that starts before it: with the one that
/// reaches farthest. So there are never more problems than claims, however many pairs collide.
pub(super) fn overlaps(mut claims: Vec<ClaimedRange>) -> Vec<Problem> {
    claims.sort_by_key(|claim| (claim.range, claim.at_bytes));
    let mut farthest: Option<ClaimedRange> = None;
    let mut problems = Vec::new();
    for claim in claims {
        if let Some(before) = &farthest
            && before.range.overlaps(claim.range)
        {
            problems.push(Problem::new(
                ProblemKind::Overlap,
                claim.at_bytes,
                format!(
                    "{} starts at {}, but {} ends at {}",
                    claim.what,
                    place(claim.range.start_bytes()),
                    before.what,
                    place(before.range.end_bytes())
                ),
            ));
        }
        if farthest.as_ref().is_none_or(|far| far.range.end_bytes() < claim.range.end_bytes()) {
            farthest = Some(claim);
        }
    }
    problems
}

/// An address with its sector of 512 bytes, which is named: tables count in others, too.
fn place(bytes: u64) -> SectorAddress {
    SectorAddress { bytes, sector_bytes: 0 }
}

/// The problems of partitions that end after the disk, or that collide; entries for all of the disk
/// collide with none.
pub(super) fn misplaced(partitions: &[Partition], disk_bytes: u64) -> Vec<Problem> {
    let data = partitions.iter().filter(|found| found.role != PartitionRole::Whole);
    let outside = partitions.iter().filter_map(|found| outside(found, disk_bytes));
    outside.chain(overlaps(data.map(ClaimedRange::of).collect())).collect()
}

/// The problem of a partition that ends after the disk.
pub(super) fn outside(partition: &Partition, disk_bytes: u64) -> Option<Problem> {
    let end = partition.range.end_bytes();
    (end > disk_bytes).then(|| {
        Problem::new(
            ProblemKind::Outside,
            partition.entry_at_bytes,
            format!(
                "partition {} ends at {}, after the disk's end at {}",
                partition.number,
                place(end),
                place(disk_bytes)
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(start: u64, length: u64) -> ClaimedRange {
        ClaimedRange::new(format!("{start}"), ByteRange::new(start, length).unwrap(), start)
    }

    #[test]
    fn a_short_claim_within_a_long_one_does_not_hide_the_next_collision() {
        let problems = overlaps(vec![claim(0, 100), claim(10, 5), claim(50, 60), claim(110, 1)]);
        let at: Vec<u64> = problems.iter().map(|problem| problem.at_bytes).collect();
        assert_eq!(at, [10, 50]);
    }

    #[test]
    fn touching_and_empty_claims_do_not_collide() {
        assert!(overlaps(vec![claim(0, 10), claim(10, 10), claim(5, 0)]).is_empty());
    }
}
