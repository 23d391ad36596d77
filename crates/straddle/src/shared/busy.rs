//! Work that others give a drive: for which share of the time, and how many bytes.

use device::{Counters, DiskCounts};
use host::Interrupt;

use crate::shared::inspected_machine::InspectedMachine;
use crate::world::clock::Clock;

/// Time for which the drive is watched, in milliseconds.
const WATCH_MS: u64 = 150;
/// A drive is busy that has something in flight for this part of the time, in percent.
const BUSY_PERCENT: u64 = 10;
/// Longest rest before it is checked whether the user wants to end, in nanoseconds.
const REST_NS: u64 = 50_000_000;
/// Share that is taken of a busy drive's time, in percent.
pub(crate) const SHARE_PERCENT: u8 = 25;

/// Work that others give a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Others {
    /// Part of the time with something in flight, in percent.
    pub(crate) busy_percent: u64,
    pub(crate) bytes_per_second: u64,
}

impl Others {
    /// Watches the block device of these counters for a moment in which this process leaves it
    /// alone; `None` when it does not count.
    pub(crate) fn of(mut counters: impl Counters, clock: &dyn Clock) -> Option<Others> {
        let before = counters.counts().ok()?;
        clock.rest(WATCH_MS * 1_000_000);
        Some(Others::counted(&counters.counts().ok()?.since(&before)))
    }

    fn counted(since: &DiskCounts) -> Others {
        let in_percent = since.busy_ms.saturating_mul(100).div_euclid(WATCH_MS).min(100);
        let bytes = since.read_bytes().saturating_add(since.written_bytes());
        Others {
            busy_percent: in_percent,
            bytes_per_second: bytes.saturating_mul(1000).div_euclid(WATCH_MS),
        }
    }

    pub(crate) fn is_busy(self) -> bool {
        self.busy_percent >= BUSY_PERCENT
    }
}

/// Returns the numbers of the drive with this name, major and minor; `None` when not known.
pub(crate) fn numbers(inspected: &InspectedMachine, drive: &str) -> Option<(u32, u32)> {
    let text = inspected.tree().read(&format!("/sys/block/{drive}/dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Leaves the drive to others after `busy_ns`, so that it is used for `share_percent` of the time;
/// at most for `left_ns`, and not after an interrupt.
pub(crate) fn rest(
    (clock, interrupt): (&dyn Clock, &Interrupt),
    busy_ns: u64,
    share_percent: u64,
    left_ns: u64,
) {
    let share = share_percent.clamp(1, 100);
    let mut idle_ns = busy_ns.saturating_mul(100 - share).div_euclid(share).min(left_ns);
    while idle_ns > 0 && !interrupt.is_raised() {
        let slice_ns = idle_ns.min(REST_NS);
        clock.rest(slice_ns);
        idle_ns -= slice_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_time_is_that_with_something_in_flight() {
        let since = |busy_ms, read_sectors| {
            let counts =
                DiskCounts { busy_ms, read_sectors, write_sectors: 3, ..DiskCounts::default() };
            let Others { busy_percent, bytes_per_second } = Others::counted(&counts);
            (busy_percent, bytes_per_second)
        };
        assert_eq!(since(0, 0), (0, 10_240));
        assert_eq!(since(75, 297), (50, 1_024_000));
        assert_eq!(since(1000, u64::MAX).0, 100);
    }
}
