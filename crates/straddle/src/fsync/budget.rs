//! Budget of a run: seconds and bytes, and the parts of them that are the rows' and a sustained
//! run's.

use device::durable::DurableMethod;
use measure::durable::SeriesLimits;
use workload::Profile;

use super::schedule::Schedule;
use crate::arguments::{FSYNC_SECONDS, Fsync};
use crate::fsync::honesty;

/// Bytes that a slice writes, so that the budget allows enough rounds.
const SLICE_BYTES: u64 = 512 << 10;
/// Bytes that a slice may write beyond its own, by its last operation.
const OVERSHOOT_BYTES: u64 = 16 << 10;
/// The fewest rounds that say something of a difference.
const ROUNDS_WANTED: u64 = 12;
/// Bytes that the rows may write where a sustained run is to follow.
const ROWS_BYTES: u64 = 128 << 20;
/// The stretches that a sustained run should have.
const STRETCHES_WANTED: u64 = 256;
/// The longest stretch of a sustained run.
const STRETCH_BYTES: u64 = 4 << 20;
const SECOND_NS: u64 = 1_000_000_000;

/// Limits of what a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunBudget {
    schedule: Schedule,
    seconds: u64,
    bytes_max: u64,
    is_sustained: bool,
    /// Nanoseconds and bytes that are enough for an engine's verdict. `None` where no engine is
    /// asked about, or more seconds were asked for.
    enough: Option<(u64, u64)>,
}

impl RunBudget {
    pub(super) fn of(arguments: &Fsync, profile: Option<&Profile>) -> RunBudget {
        let profile = profile.filter(|_| arguments.seconds <= FSYNC_SECONDS);
        RunBudget {
            schedule: Schedule::of(arguments.seconds),
            seconds: arguments.seconds.into(),
            bytes_max: arguments.bytes_max,
            is_sustained: arguments.sustained,
            enough: profile.map(|profile| (profile.pattern.time_ns, samples_bytes(profile))),
        }
    }

    /// The bytes that are enough for an engine's verdict; `None` where nothing bounds them.
    pub(super) fn enough_bytes(self) -> Option<u64> {
        self.enough.map(|(_, bytes)| bytes)
    }

    /// Half of what may be written, which is as long as files become.
    pub(super) fn half_bytes(self) -> u64 {
        self.bytes_max.div_euclid(2)
    }

    /// Returns how long the rounds may take, in nanoseconds, where `spent_ns` were spent before.
    pub(super) fn rows_ns(self, spent_ns: u64) -> u64 {
        let most_ns = self.schedule.rows_ns(spent_ns);
        self.enough.map_or(most_ns, |(enough_ns, _)| most_ns.min(enough_ns))
    }

    /// Returns how much may be written by the end of the rounds, in bytes, `made_bytes` of them
    /// before: all but the look's, or a part of that where a sustained run follows.
    pub(super) fn rows_bytes(self, made_bytes: u64) -> u64 {
        let most = self.bytes_max.saturating_sub(honesty::WRITTEN_BYTES_MAX);
        let most = match self.is_sustained {
            true => most.min(made_bytes.saturating_add(ROWS_BYTES)),
            false => most,
        };
        let enough = self.enough_bytes().map(|bytes| bytes.saturating_add(made_bytes));
        enough.map_or(most, |enough| most.min(enough))
    }

    /// Returns how much a slice may write where so many rows write and `made_bytes` were written
    /// before, so that there are enough rounds: the first is left out.
    pub(super) fn slice_bytes(self, made_bytes: u64, writing: usize) -> u64 {
        let rows_bytes = self.rows_bytes(made_bytes).saturating_sub(made_bytes);
        let slices = ROUNDS_WANTED.saturating_mul(u64::try_from(writing).unwrap_or(1)).max(1);
        let share = rows_bytes.div_euclid(slices);
        SLICE_BYTES.min(share.saturating_sub(OVERSHOOT_BYTES))
    }

    /// The most bytes that are written and the most seconds that it takes, where `made_bytes` are
    /// written to make the files.
    pub(super) fn most(self, made_bytes: u64) -> (u64, u64) {
        let RunBudget { schedule, .. } = self;
        let longest_ns = schedule.ready_ns().saturating_add(self.rows_ns(0));
        let longest_ns = longest_ns.saturating_add(schedule.look_ns()).min(schedule.total_ns());
        let seconds = longest_ns.div_ceil(SECOND_NS);
        match self.is_sustained {
            true => (self.bytes_max, seconds.saturating_add(self.seconds)),
            false => {
                let rows_bytes = self.rows_bytes(made_bytes);
                (rows_bytes.saturating_add(honesty::WRITTEN_BYTES_MAX), seconds)
            }
        }
    }

    /// Returns how far a sustained run of `way` goes, where `written_bytes` were written before.
    pub(super) fn span(self, way: &DurableMethod, written_bytes: u64) -> SeriesLimits {
        let left = self.bytes_max.saturating_sub(written_bytes);
        let bytes = left.saturating_sub(honesty::WRITTEN_BYTES_MAX);
        // Enough stretches for a knee to be told where few bytes may be written.
        let few = bytes.div_euclid(STRETCHES_WANTED).max(way.operation_bytes());
        let elapsed_ns = self.seconds.saturating_mul(SECOND_NS);
        SeriesLimits { bytes, elapsed_ns, stretch_bytes: few.min(STRETCH_BYTES) }
    }
}

/// Returns how much the durable writes that a profile wants write, in bytes: a fiftieth more, for
/// those that are left out.
fn samples_bytes(profile: &Profile) -> u64 {
    let pattern = &profile.pattern;
    let operation_bytes = pattern.write_bytes.saturating_mul(pattern.writes_per_sync);
    let samples = pattern.samples.saturating_add(pattern.samples.div_euclid(50));
    operation_bytes.saturating_mul(samples)
}
