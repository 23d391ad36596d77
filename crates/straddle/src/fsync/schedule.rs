//! Shares of `--seconds` for the parts of a run, so that all of it keeps to them.
//!
//! | part | how long |
//! |---|---|
//! | making the scratch files | half of it at most; a run that is not ready then is refused |
//! | rows | what making the files and the look leave; a quarter at least |
//! | looking whether syncs are real | a quarter of it, [`LOOK_NS`] at most |
//!
//! A call that is under way when its part is over is waited for: no more can be promised of a drive
//! that hangs. What it took is taken from the look, which begins nothing after the end of all. A
//! sustained run takes the same time once more.

use crate::fsync::honesty::LOOK_NS;

pub(super) const SECOND_NS: u64 = 1_000_000_000;

/// The seconds of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    total_ns: u64,
}

impl Schedule {
    pub(super) fn of(seconds: u32) -> Schedule {
        Schedule { total_ns: u64::from(seconds).saturating_mul(SECOND_NS) }
    }

    /// Returns how long everything may take but a sustained run, in nanoseconds.
    pub(super) fn total_ns(self) -> u64 {
        self.total_ns
    }

    /// Returns how long making the files may take, in nanoseconds.
    pub(super) fn ready_ns(self) -> u64 {
        self.total_ns.div_euclid(2)
    }

    /// Returns how long the look may take, in nanoseconds.
    pub(super) fn look_ns(self) -> u64 {
        self.total_ns.div_euclid(4).min(LOOK_NS)
    }

    /// Returns how long the rows may take, in nanoseconds, where `spent_ns` were spent before.
    pub(super) fn rows_ns(self, spent_ns: u64) -> u64 {
        let left_ns = self.total_ns.saturating_sub(self.look_ns());
        left_ns.saturating_sub(spent_ns).max(self.total_ns.div_euclid(4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_together_keep_to_the_seconds_however_long_making_the_files_took() {
        for seconds in [1, 2, 3, 4, 5, 8, 9, 15, 60, 3600, 86_400] {
            let schedule = Schedule::of(seconds);
            let total_ns = u64::from(seconds) * SECOND_NS;
            // From no time at all to all that it may take.
            for share in 0..=8 {
                let spent_ns = schedule.ready_ns() / 8 * share;
                let rows_ns = schedule.rows_ns(spent_ns);
                let all_ns = spent_ns + rows_ns + schedule.look_ns();
                assert!(all_ns <= total_ns, "{seconds} s, {spent_ns}: {all_ns}");
                assert!(rows_ns >= total_ns / 4, "{seconds} s, {spent_ns}: {rows_ns}");
            }
            assert!(schedule.look_ns() > 0 && schedule.look_ns() <= LOOK_NS);
        }
        assert_eq!(Schedule::of(15).rows_ns(1_000_000_000), 12_000_000_000);
    }
}
