//! Which rows are measured, what they may use, and what that means for the drive and for others.

use device::durable::{Method, Place, Way};
use host::DurablePlan;
use measure::durable::{DurableLimits, RowPlan, Rows, Span};
use report::fsync::Forecast;
use units::prefix::Size;
use workload::Profile;

use super::schedule::Schedule;
use super::session::Session;
use super::{Halt, judged};
use crate::arguments::{FSYNC_SECONDS, Fsync, FsyncRows};
use crate::honesty;

/// The length of the file that is written over: `pg_test_fsync`'s, which is a WAL segment's.
const FILE_BYTES: u64 = 16 << 20;
/// How long the files may become that grow, or whose space is taken.
const ROOM_BYTES: u64 = 8 << 20;
/// What lengths are multiples of.
const PAGE_BYTES: u64 = 4096;
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
    /// How long the file is that is written over, and those that grow, in bytes.
    lengths: (u64, u64),
    slice_bytes: u64,
}

impl Plan {
    pub(super) fn of(session: &Session<'_>) -> Result<Plan, Halt> {
        let arguments = session.arguments;
        let kind = match arguments.rows {
            FsyncRows::Pg => Rows::Pg,
            FsyncRows::Wal => Rows::Wal,
            FsyncRows::Usual => Rows::Usual,
            FsyncRows::All => Rows::All,
            FsyncRows::None => return Ok(Plan::of_look(session)),
        };
        let profile = judged::profile(arguments)?;
        let rows = judged::rows(profile.as_ref(), kind.plans());
        let sustained = arguments.sustained.then_some(SUSTAINED);
        let ways = rows.iter().map(|row| row.way).chain(sustained).collect();
        let (forecast, slice_bytes) = (Forecast::default(), SLICE_BYTES);
        let lengths = (FILE_BYTES, ROOM_BYTES);
        let mut plan = Plan { rows, ways, profile, forecast, lengths, slice_bytes };
        plan.lengths = plan.lengths(arguments);
        let scratch_bytes = plan.files(session).scratch_bytes();
        plan.afford(scratch_bytes, arguments.bytes_max)?;
        plan.slice_bytes = plan.slice_bytes(session);
        plan.forecast = plan.foreseen(session, scratch_bytes);
        Ok(plan)
    }

    /// Whether no row is measured.
    pub(super) fn is_look(&self) -> bool {
        self.rows.is_empty()
    }

    /// No rows: only what is written to look at syncs.
    fn of_look(session: &Session<'_>) -> Plan {
        let seconds = honesty::LOOK_NS.div_ceil(SECOND_NS);
        let bytes = (honesty::LENGTH_BYTES_MAX, honesty::WRITTEN_BYTES_MAX);
        Plan {
            rows: Vec::new(),
            ways: Vec::new(),
            profile: None,
            forecast: forecast(session, bytes, seconds),
            lengths: (0, 0),
            slice_bytes: 0,
        }
    }

    /// How long the files are: those of an engine as its profile says, half of what may be written
    /// at most. A file that is written in full before is no longer than what is written over it in
    /// the run, since the rest would not be touched.
    fn lengths(&self, arguments: &Fsync) -> (u64, u64) {
        let Some(profile) = &self.profile else { return (FILE_BYTES, ROOM_BYTES) };
        let half = arguments.bytes_max.div_euclid(2);
        let segment = profile.pattern.file_bytes.min(half);
        let own = self.ways.first().filter(|way| is_in_first(way)).map(|way| {
            let run = self.wanted(arguments).map_or(u64::MAX, samples_bytes);
            segment.min(run).max(way.operation_bytes())
        });
        let sustained = self.ways.get(1).map(|_| FILE_BYTES.min(half));
        let first = own.max(sustained).unwrap_or(PAGE_BYTES);
        (first.checked_next_multiple_of(PAGE_BYTES).unwrap_or(FILE_BYTES), segment)
    }

    /// What must be said where the files are shorter than the engine's.
    pub(super) fn shortened(&self, arguments: &Fsync) -> Option<String> {
        let profile = self.profile.as_ref()?;
        let (theirs, ours) = (profile.pattern.file_bytes, arguments.bytes_max.div_euclid(2));
        (ours < theirs).then(|| {
            format!(
                "files of {} at most stand for {}'s of {}: half of --bytes-max",
                Size(ours),
                profile.name,
                Size(theirs)
            )
        })
    }

    /// Refuses bytes that allow no two rounds.
    fn afford(&self, scratch_bytes: u64, bytes_max: u64) -> Result<(), Halt> {
        let least: u64 = self.ways.iter().map(|way| way.operation_bytes().saturating_mul(2)).sum();
        let beside = scratch_bytes.saturating_add(honesty::WRITTEN_BYTES_MAX);
        let needed = beside.saturating_add(least.saturating_mul(2));
        if bytes_max < needed {
            let more = needed.div_ceil(1 << 20);
            let or = if self.profile.is_some() { "" } else { ", or choose fewer with --rows" };
            return Err(Halt::refused(
                format!("the rows need {}, and {} may be written", Size(needed), Size(bytes_max)),
                Some(format!("allow more with --bytes-max {more}M{or}")),
            ));
        }
        Ok(())
    }

    /// How much a slice may write, so that there are enough rounds: the first is left out.
    fn slice_bytes(&self, session: &Session<'_>) -> u64 {
        let made_bytes = self.files(session).made_bytes();
        let rows_bytes = self.rows_bytes(session.arguments, made_bytes).saturating_sub(made_bytes);
        let writing = self.in_turns().iter().filter(|way| way.operation_bytes() > 0).count();
        let slices = ROUNDS_WANTED.saturating_mul(u64::try_from(writing).unwrap_or(1)).max(1);
        let share = rows_bytes.div_euclid(slices);
        SLICE_BYTES.min(share.saturating_sub(16 << 10))
    }

    /// The files that are made for it.
    pub(super) fn files<'a>(&'a self, session: &Session<'a>) -> DurablePlan<'a> {
        DurablePlan {
            directory: &session.arguments.directory,
            ways: &self.ways,
            file_bytes: self.lengths.0,
            room_bytes: self.lengths.1,
            seed: session.document.seed,
            budget_bytes: session.arguments.bytes_max,
            ready_ns: Schedule::of(session.arguments.seconds).ready_ns(),
            interrupt: session.interrupt.clone(),
        }
    }

    /// The ways that take turns.
    pub(super) fn in_turns(&self) -> &[Way] {
        &self.ways[..self.rows.len()]
    }

    /// What the rounds may take, where `spent_ns` were spent before: all bytes but the look's, or a
    /// part of them where a sustained run follows.
    pub(super) fn limits(&self, session: &Session<'_>, spent_ns: u64) -> DurableLimits {
        let made_bytes = self.files(session).made_bytes();
        let elapsed_ns = self.rows_ns(session.arguments, spent_ns);
        let written_bytes = self.rows_bytes(session.arguments, made_bytes);
        let slice_ns = if self.profile.is_some() { alone(elapsed_ns) } else { SLICE_NS };
        let slice_bytes = self.slice_bytes;
        DurableLimits { elapsed_ns, written_bytes, slice_ns, slice_bytes, rounds: u64::MAX }
    }

    /// How long the rounds may take, in nanoseconds, where `spent_ns` were spent before: as much as
    /// an engine's verdict wants, unless more seconds were asked for.
    fn rows_ns(&self, arguments: &Fsync, spent_ns: u64) -> u64 {
        let most_ns = Schedule::of(arguments.seconds).rows_ns(spent_ns);
        self.wanted(arguments).map_or(most_ns, |profile| most_ns.min(profile.pattern.time_ns))
    }

    /// How much may be written by the end of the rounds, in bytes, `made_bytes` of them before.
    fn rows_bytes(&self, arguments: &Fsync, made_bytes: u64) -> u64 {
        let most = arguments.bytes_max.saturating_sub(honesty::WRITTEN_BYTES_MAX);
        let most = match arguments.sustained {
            true => most.min(made_bytes.saturating_add(ROWS_BYTES)),
            false => most,
        };
        let wanted = self.wanted(arguments).map(samples_bytes);
        wanted.map_or(most, |wanted| most.min(wanted.saturating_add(made_bytes)))
    }

    /// What is said before anything is written.
    fn foreseen(&self, session: &Session<'_>, scratch_bytes: u64) -> Forecast {
        let arguments = session.arguments;
        let schedule = Schedule::of(arguments.seconds);
        let longest_ns = schedule.ready_ns().saturating_add(self.rows_ns(arguments, 0));
        let longest_ns = longest_ns.saturating_add(schedule.look_ns()).min(schedule.total_ns());
        let seconds = longest_ns.div_ceil(SECOND_NS);
        let rows_bytes = self.rows_bytes(arguments, self.files(session).made_bytes());
        let (seconds, written_bytes) = match arguments.sustained {
            true => (seconds.saturating_add(arguments.seconds.into()), arguments.bytes_max),
            false => (seconds, rows_bytes.saturating_add(honesty::WRITTEN_BYTES_MAX)),
        };
        forecast(session, (scratch_bytes, written_bytes), seconds)
    }

    /// The engine whose own number of writes is enough; `None` where more seconds were asked for.
    fn wanted(&self, arguments: &Fsync) -> Option<&Profile> {
        self.profile.as_ref().filter(|_| arguments.seconds <= FSYNC_SECONDS)
    }

    /// What a run writes beside its rows, in bytes: making the files, and the look.
    pub(super) fn beside_bytes(&self, session: &Session<'_>) -> u64 {
        self.files(session).made_bytes().saturating_add(honesty::WRITTEN_BYTES_MAX)
    }

    /// The number and the way of a sustained run; `None` where none was asked for.
    pub(super) fn sustained(&self) -> Option<(usize, &Way)> {
        let number = self.rows.len();
        self.ways.get(number).map(|way| (number, way))
    }

    /// How far a sustained run goes.
    pub(super) fn span(&self, session: &Session<'_>, written_bytes: u64) -> Span {
        let left = session.arguments.bytes_max.saturating_sub(written_bytes);
        let bytes = left.saturating_sub(honesty::WRITTEN_BYTES_MAX);
        // Enough stretches for a knee to be told where few bytes may be written.
        let few = bytes.div_euclid(STRETCHES_WANTED).max(SUSTAINED.operation_bytes());
        Span {
            bytes,
            elapsed_ns: u64::from(session.arguments.seconds).saturating_mul(SECOND_NS),
            stretch_bytes: few.min(STRETCH_BYTES),
        }
    }
}

/// Whether `way` writes to the file that is written in full before.
fn is_in_first(way: &Way) -> bool {
    matches!(way.place, Place::Overwrite | Place::Sequential)
}

/// How much the durable writes that a profile wants write, in bytes: a fiftieth more, for those
/// that are left out.
fn samples_bytes(profile: &Profile) -> u64 {
    let pattern = &profile.pattern;
    let operation_bytes = pattern.write_bytes.saturating_mul(pattern.writes_per_sync);
    let samples = pattern.samples.saturating_add(pattern.samples.div_euclid(50));
    operation_bytes.saturating_mul(samples)
}

/// What a run means that takes so many bytes of space, writes so many, and lasts so long.
fn forecast(
    session: &Session<'_>,
    (scratch_bytes, written_bytes_max): (u64, u64),
    seconds_max: u64,
) -> Forecast {
    let target = &session.document.target;
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
        seconds_max,
        wear: report::bench::wear(written_bytes_max, target.capacity_bytes),
        impact,
    }
}
