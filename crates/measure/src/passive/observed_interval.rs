//! One interval of a passive probe.

use super::OffCounts;

/// Counts of the host over an interval, and the drive's counter at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedInterval {
    /// Writes that the host sent to the drive in the interval.
    pub off: OffCounts,
    /// The drive's count of unaligned writes at the end of the interval.
    pub unaligned_writes: u64,
}
