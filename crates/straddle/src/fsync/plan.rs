//! Which rows are measured, what they may use, and what that means for the drive and for others.

use device::durable::{Method, Place, Way};
use host::DurablePlan;
use measure::durable::{DurableLimits, RowPlan, Rows, Span};
use report::fsync::Forecast;
use units::prefix::Size;
use workload::Profile;

use super::session::Session;
use super::{Halt, judged};
use crate::arguments::{FSYNC_SECONDS, FsyncRows};

/// The length of the file that is written over: `pg_test_fsync`'s, which is a WAL segment's.
const FILE_BYTES: u64 = 16 << 20;
/// How long a slice of a row is.
const SLICE_NS: u64 = 10_000_000;
/// How much a slice writes, so that the bytes allow enough rounds.
const SLICE_BYTES: u64 = 512 << 10;
/// The fewest rounds that say something of a difference.
const ROUNDS_WANTED: u64 = 12;
/// What a sustained run writes: a MiB by each operation, in the place of the last turn around the
/// file, which takes a place in the drive's buffer all the same.
const SUSTAINED: Way = Way {
    method: Method::Fdatasync,
    is_direct: false,
    place: Place::Sequential,
    write_bytes: 128 << 10,
    writes: 8,
    is_contended: false,
};
/// What it is called.
pub(super) const SUSTAINED_TITLE: &str = "8 writes of 128 KiB, fdatasync";
/// What the rows may write where a sustained run is to follow.
const ROWS_BYTES: u64 = 128 << 20;
/// The stretches that a sustained run should have.
const STRETCHES_WANTED: u64 = 256;
/// The longest stretch of a sustained run.
const STRETCH_BYTES: u64 = 4 << 20;
/// How long making the files may take, in seconds.
const READY_SECONDS: u64 = 4;
const SECOND_NS: u64 = 1_000_000_000;

/// How long a slice of a row is that has nobody to take turns with, of so many nanoseconds: longer,
/// since the first operation of each is left out, and the first slice.
fn alone(elapsed_ns: u64) -> u64 {
    elapsed_ns.div_euclid(32).clamp(SLICE_NS, SECOND_NS)
}

/// What is going to be done.
pub(super) struct Plan {
    pub(super) rows: Vec<RowPlan>,
    /// What each row does; a sustained run's way stands behind those of the rows.
    pub(super) ways: Vec<Way>,
    /// The engine that is asked about; `None` where none is.
    pub(super) profile: Option<Profile>,
    pub(super) forecast: Forecast,
    slice_bytes: u64,
}

impl Plan {
    pub(super) fn of(session: &Session<'_>) -> Result<Plan, Halt> {
        let arguments = session.arguments;
        let kind = match arguments.rows {
            FsyncRows::Pg => Rows::Pg,
            FsyncRows::Wal => Rows::Wal,
            // What would be measured is what is looked at where nothing is.
            FsyncRows::Usual | FsyncRows::None => Rows::Usual,
            FsyncRows::All => Rows::All,
        };
        let profile = judged::profile(arguments)?;
        let rows = judged::rows(profile.as_ref(), kind.plans());
        let sustained = arguments.sustained.then_some(SUSTAINED);
        let ways = rows.iter().map(|row| row.way).chain(sustained).collect();
        let (forecast, slice_bytes) = (Forecast::default(), SLICE_BYTES);
        let mut plan = Plan { rows, ways, profile, forecast, slice_bytes };
        let scratch_bytes = plan.files(session).scratch_bytes();
        plan.afford(scratch_bytes, arguments.bytes_max)?;
        plan.forecast = self::forecast(session, scratch_bytes, plan.bounds(session, scratch_bytes));
        Ok(plan)
    }

    /// Refuses bytes that allow no two rounds; shortens the slices where they allow few.
    fn afford(&mut self, scratch_bytes: u64, bytes_max: u64) -> Result<(), Halt> {
        let least: u64 = self.ways.iter().map(|way| way.operation_bytes().saturating_mul(2)).sum();
        let needed = scratch_bytes.saturating_add(least.saturating_mul(2));
        if bytes_max < needed {
            let more = needed.div_ceil(1 << 20);
            return Err(Halt::refused(
                format!("the rows need {}, and {} may be written", Size(needed), Size(bytes_max)),
                Some(format!("allow more with --bytes-max {more}M, or choose fewer with --rows")),
            ));
        }
        let writing = self.ways.iter().filter(|way| way.operation_bytes() > 0).count();
        let slices = ROUNDS_WANTED.saturating_mul(u64::try_from(writing).unwrap_or(1)).max(1);
        let share = bytes_max.saturating_sub(scratch_bytes).div_euclid(slices);
        self.slice_bytes = self.slice_bytes.min(share.saturating_sub(16 << 10));
        Ok(())
    }

    /// The files that are made for it.
    pub(super) fn files<'a>(&'a self, session: &Session<'a>) -> DurablePlan<'a> {
        DurablePlan {
            directory: &session.arguments.directory,
            ways: &self.ways,
            file_bytes: FILE_BYTES,
            seed: session.document.seed,
            budget_bytes: session.arguments.bytes_max,
            interrupt: session.interrupt.clone(),
        }
    }

    /// The ways that take turns.
    pub(super) fn in_turns(&self) -> &[Way] {
        &self.ways[..self.rows.len()]
    }

    /// What the rounds may take: all bytes, or a part of them where a sustained run follows.
    pub(super) fn limits(&self, session: &Session<'_>) -> DurableLimits {
        let (elapsed_ns, written_bytes) = self.bounds(session, self.forecast.scratch_bytes);
        let slice_ns = if self.profile.is_some() { alone(elapsed_ns) } else { SLICE_NS };
        let slice_bytes = self.slice_bytes;
        DurableLimits { elapsed_ns, written_bytes, slice_ns, slice_bytes, rounds: u64::MAX }
    }

    /// How long the rounds may take, in nanoseconds, and how much may be written by their end: as
    /// much as an engine's verdict wants, unless more seconds were asked for.
    fn bounds(&self, session: &Session<'_>, scratch_bytes: u64) -> (u64, u64) {
        let arguments = session.arguments;
        let rows_bytes = match arguments.sustained {
            true => arguments.bytes_max.min(scratch_bytes.saturating_add(ROWS_BYTES)),
            false => arguments.bytes_max,
        };
        let elapsed_ns = u64::from(arguments.seconds).saturating_mul(SECOND_NS);
        let Some(profile) = self.wanted(session) else { return (elapsed_ns, rows_bytes) };
        let pattern = &profile.pattern;
        let operation_bytes = pattern.write_bytes.saturating_mul(pattern.writes_per_sync);
        // A fiftieth more, for those that are left out.
        let samples = pattern.samples.saturating_add(pattern.samples.div_euclid(50));
        let wanted_bytes = operation_bytes.saturating_mul(samples).saturating_add(scratch_bytes);
        (elapsed_ns.min(pattern.time_ns), rows_bytes.min(wanted_bytes))
    }

    /// The engine whose own number of writes is enough; `None` where more seconds were asked for.
    fn wanted(&self, session: &Session<'_>) -> Option<&Profile> {
        let is_usual = session.arguments.seconds <= FSYNC_SECONDS;
        self.profile.as_ref().filter(|_| is_usual)
    }

    /// The number and the way of a sustained run; `None` where none was asked for.
    pub(super) fn sustained(&self) -> Option<(usize, &Way)> {
        let number = self.rows.len();
        self.ways.get(number).map(|way| (number, way))
    }

    /// How far a sustained run goes.
    pub(super) fn span(&self, session: &Session<'_>, written_bytes: u64) -> Span {
        let bytes = session.arguments.bytes_max.saturating_sub(written_bytes);
        // Enough stretches for a knee to be told where few bytes may be written.
        let few = bytes.div_euclid(STRETCHES_WANTED).max(SUSTAINED.operation_bytes());
        Span {
            bytes,
            elapsed_ns: u64::from(session.arguments.seconds).saturating_mul(SECOND_NS),
            stretch_bytes: few.min(STRETCH_BYTES),
        }
    }
}

/// What is said before anything is written.
fn forecast(
    session: &Session<'_>,
    scratch_bytes: u64,
    (elapsed_ns, written_bytes): (u64, u64),
) -> Forecast {
    let arguments = session.arguments;
    let target = &session.document.target;
    let rounds_seconds = elapsed_ns.div_ceil(SECOND_NS);
    let (seconds, written_bytes_max) = match arguments.sustained {
        true => (rounds_seconds.saturating_add(arguments.seconds.into()), arguments.bytes_max),
        false => (rounds_seconds, written_bytes),
    };
    let mut impact = vec![format!(
        "others share the drive with it for that time; each sync makes theirs wait; {} of free \
         space are taken meanwhile",
        Size(scratch_bytes)
    )];
    if target.layers.is_empty() && !target.filesystem.is_empty() {
        impact.push(format!("no drive is seen under {}: what is measured is the path", {
            &target.filesystem
        }));
    }
    Forecast {
        scratch_bytes,
        written_bytes_max,
        seconds_max: seconds.saturating_add(READY_SECONDS),
        wear: report::bench::wear(written_bytes_max, target.capacity_bytes),
        impact,
    }
}
