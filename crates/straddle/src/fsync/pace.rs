//! Pace of durable writes in a run, and the options with which another reaches more.

use measure::durable::SERIES_MAX;

use crate::arguments::FSYNC_SECONDS;

const SECOND_NS: u64 = 1_000_000_000;
/// The most seconds that may be typed: a day.
pub(super) const SECONDS_MAX: u64 = 86_400;
/// By how much more is advised than was seen to be needed: drives slow down, others use them too.
const MARGIN: u64 = 2;

/// Pace of samples in a run, and the time and bytes that it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// The durable writes that count.
    pub(super) samples: u64,
    /// Time of the rows that gave them, in nanoseconds.
    pub(super) rows_ns: u64,
    /// Time that a run takes beside its rows, in nanoseconds: making the files, the look.
    pub(super) beside_ns: u64,
    /// Bytes that one durable write writes.
    pub(super) operation_bytes: u64,
    /// Bytes that a run writes beside its rows.
    pub(super) beside_bytes: u64,
    /// Seconds that were allowed.
    pub(super) seconds: u64,
    /// Bytes that were allowed.
    pub(super) bytes_max: u64,
    /// The durable writes and nanoseconds at which an engine's own profile stops; more than
    /// [`FSYNC_SECONDS`] lift both.
    pub(super) stops_at: (u64, u64),
}

impl Pace {
    /// The options with which about `wanted` durable writes are reached at half this pace, and with
    /// twice the bytes that they take: `--seconds 40 --bytes-max 300M`. `None` where no run reaches
    /// them: more than a day, or more than a run keeps in their order.
    pub(super) fn options(self, wanted: u64) -> Option<String> {
        if self.samples == 0 || wanted > u64::try_from(SERIES_MAX).ok()? {
            return None;
        }
        let each_ns = self.rows_ns.div_ceil(self.samples);
        let rows_ns = wanted.checked_mul(each_ns)?.checked_mul(MARGIN)?;
        let (stop_samples, stop_ns) = self.stops_at;
        let is_lifted = wanted > stop_samples || rows_ns > stop_ns;
        let least = if is_lifted { u64::from(FSYNC_SECONDS) + 1 } else { 1 };
        let seconds = rows_ns.saturating_add(self.beside_ns).div_ceil(SECOND_NS).max(least);
        let bytes = wanted.checked_mul(self.operation_bytes)?.saturating_add(self.beside_bytes);
        let bytes = bytes.saturating_mul(MARGIN);
        if seconds > SECONDS_MAX {
            return None;
        }
        let mebibytes = bytes.div_ceil(1 << 20);
        Some(match (seconds > self.seconds, bytes > self.bytes_max) {
            (true, true) => format!("--seconds {seconds} --bytes-max {mebibytes}M"),
            (false, true) => format!("--bytes-max {mebibytes}M"),
            // Where neither lacked it was chance: a second more changes nothing for the worse.
            (_, false) => format!("--seconds {}", seconds.max(self.seconds + 1)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 durable writes in 2 seconds, with 3 seconds beside them.
    const SLOW: Pace = Pace {
        samples: 100,
        rows_ns: 2_000_000_000,
        beside_ns: 3_000_000_000,
        operation_bytes: 2300,
        beside_bytes: 9 << 20,
        seconds: 5,
        bytes_max: 256 << 20,
        stops_at: (10_000, 8_000_000_000),
    };

    #[track_caller]
    fn check(pace: Pace, wanted: u64, expected: Option<&str>) {
        assert_eq!(pace.options(wanted).as_deref(), expected);
    }

    #[test]
    fn the_seconds_are_those_that_the_pace_needs_and_lift_the_profiles_own_end_where_they_must() {
        // 150 at 50 a second are 3 s; twice that, and 3 s beside.
        check(SLOW, 150, Some("--seconds 9"));
        // 250 take 10 s: more than the profile's 8 s, so more than the usual 15.
        check(SLOW, 250, Some("--seconds 16"));
        check(SLOW, 2000, Some("--seconds 83"));
        check(Pace { stops_at: (100, 8_000_000_000), ..SLOW }, 150, Some("--seconds 16"));
    }

    #[test]
    fn bytes_are_named_where_they_would_not_do() {
        let large = Pace { operation_bytes: 1 << 20, ..SLOW };
        // 250 MiB and 9 MiB beside, twice.
        check(large, 250, Some("--seconds 16 --bytes-max 518M"));
        check(Pace { seconds: 60, ..large }, 250, Some("--bytes-max 518M"));
        check(Pace { seconds: 60, ..SLOW }, 250, Some("--seconds 61"));
    }

    #[test]
    fn nothing_is_advised_that_no_run_reaches() {
        check(Pace { samples: 0, ..SLOW }, 368, None);
        check(SLOW, 65_537, None);
        check(Pace { samples: 2, rows_ns: 1_000 * SECOND_NS, ..SLOW }, 368, None);
        check(SLOW, u64::MAX, None);
    }
}
