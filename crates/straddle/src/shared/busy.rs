//! Share of the time for which others keep a drive busy.

use std::time::Duration;

use device::{Counters as _, DiskCounts};
use host::{DiskStats, Interrupt};

use crate::shared::measured_bytes::MeasuredBytes;

/// Time for which the drive is watched.
const WATCH: Duration = Duration::from_millis(150);
/// A drive is busy that has something in flight for this part of the time, in percent.
pub(crate) const BUSY_PERCENT: u64 = 10;
/// Longest rest before it is checked whether the user wants to end, in nanoseconds.
const REST_NS: u64 = 50_000_000;
/// Share that is taken of a busy drive's time, in percent.
pub(crate) const SHARE_PERCENT: u8 = 25;

/// For how much of the time others have something in flight; `None` when it does not count.
pub(crate) fn busy_percent(place: &MeasuredBytes) -> Option<u64> {
    let mut counters = DiskStats::open(place.counted?).ok()?;
    let before = counters.counts().ok()?;
    std::thread::sleep(WATCH);
    Some(percent(&counters.counts().ok()?.since(&before)))
}

/// Leaves the drive to others after `busy_ns`, so that it is used for `share_percent` of the time;
/// at most for `left_ns`, and not after an interrupt.
pub(crate) fn rest(interrupt: &Interrupt, busy_ns: u64, share_percent: u64, left_ns: u64) {
    let share = share_percent.clamp(1, 100);
    let mut idle_ns = busy_ns.saturating_mul(100 - share).div_euclid(share).min(left_ns);
    while idle_ns > 0 && !interrupt.is_raised() {
        let slice_ns = idle_ns.min(REST_NS);
        std::thread::sleep(Duration::from_nanos(slice_ns));
        idle_ns -= slice_ns;
    }
}

fn percent(since: &DiskCounts) -> u64 {
    let watched_ms = u64::try_from(WATCH.as_millis()).unwrap_or(u64::MAX);
    since.busy_ms.saturating_mul(100).div_euclid(watched_ms).min(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_time_is_that_with_something_in_flight() {
        let since = |busy_ms| DiskCounts { busy_ms, ..DiskCounts::default() };
        assert_eq!(percent(&since(0)), 0);
        assert_eq!(percent(&since(75)), 50);
        assert_eq!(percent(&since(1000)), 100);
    }
}
