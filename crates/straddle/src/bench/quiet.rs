//! Whether others use the drive. Where they do, measuring keeps to depth 1 and to a quarter of the
//! time: an idle I/O class would falsify latencies, and many schedulers ignore it.

use std::time::Duration;

use device::{Counters as _, DiskCounts};
use host::DiskStats;

use super::place::Place;
use super::session::Session;

/// How long the drive is watched.
const WATCH: Duration = Duration::from_millis(150);
/// A drive is busy that has something in flight for this part of the time, in percent.
pub(crate) const BUSY_PERCENT: u64 = 10;
/// What is taken of a busy drive's time, in percent.
pub(crate) const SHARE_PERCENT: u8 = 25;

/// Watches the drive, and holds back where it is busy and the user named no share.
pub(crate) fn settle(session: &mut Session<'_>, place: &Place) {
    if session.bench.share.is_some() {
        return;
    }
    let Some(percent) = busy_percent(place) else { return };
    if percent >= BUSY_PERCENT {
        session.share_percent = SHARE_PERCENT;
        session.is_busy = true;
        session.note(format!(
            "the drive is busy with others' work ({percent} % of {} ms): depth 1 and \
             {SHARE_PERCENT} % of its time are used; --share takes more",
            WATCH.as_millis()
        ));
    }
}

/// For how much of the time others have something in flight; `None` when it does not count.
pub(crate) fn busy_percent(place: &Place) -> Option<u64> {
    let mut counters = DiskStats::open(place.counted?).ok()?;
    let before = counters.counts().ok()?;
    std::thread::sleep(WATCH);
    Some(percent(&counters.counts().ok()?.since(&before)))
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
