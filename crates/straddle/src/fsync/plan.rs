//! Choice of the rows to measure, and of their files.

use device::durable::{DurableMethod, Method, WritePlace};
use host::{DurablePlan, Pinned};
use measure::durable::{DurableLimits, RowChoice, RowPlan};
use report::fsync::Forecast;
use units::prefix::Size;
use units::text::escape;
use workload::Profile;

use super::budget::RunBudget;
use super::forecast::{self, Uses};
use super::schedule::Schedule;
use super::session::Session;
use crate::arguments::{Fsync, FsyncRows};
use crate::fsync::{engine, honesty};
use crate::shared::halt::Halt;

/// The length of the file that is written over: `pg_test_fsync`'s, which is a WAL segment's.
pub(super) const FILE_BYTES: u64 = 16 << 20;
/// Greatest length of the files that grow, or whose space is taken.
const ROOM_BYTES: u64 = 8 << 20;
/// Unit that lengths are multiples of.
const PAGE_BYTES: u64 = 4096;
/// Duration of a slice of a row.
const SLICE_NS: u64 = 10_000_000;
/// Writes of a sustained run: a MiB by each operation, in the place of the last turn around the
/// file, which takes a place in the drive's buffer all the same.
const SUSTAINED: DurableMethod = DurableMethod {
    method: Method::Fdatasync,
    is_direct: false,
    place: WritePlace::Sequential,
    write_bytes: 128 << 10,
    writes: 8,
    is_contended: false,
};
/// Title of a sustained run.
pub(super) const SUSTAINED_TITLE: &str = "fdatasync after every 8 writes of 128 KiB";
const SECOND_NS: u64 = 1_000_000_000;

/// Plan of a run.
pub(super) struct FsyncRunPlan {
    directory: Pinned,
    pub(super) rows: Vec<RowPlan>,
    /// Way of each row; that of a sustained run stands after those of the rows.
    pub(super) ways: Vec<DurableMethod>,
    /// The engine that is asked about; `None` where none is.
    pub(super) profile: Option<Profile>,
    pub(super) budget: RunBudget,
    pub(super) forecast: Forecast,
    lengths: Lengths,
    slice_bytes: u64,
}

/// Lengths of the files, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lengths {
    /// The one that is written over.
    first: u64,
    /// Those that grow, or whose space is taken.
    others: u64,
}

impl FsyncRunPlan {
    pub(super) fn of(session: &Session<'_>) -> Result<FsyncRunPlan, Halt> {
        let arguments = session.arguments;
        let kind = match arguments.rows {
            FsyncRows::Pg => RowChoice::Pg,
            FsyncRows::Wal => RowChoice::Wal,
            FsyncRows::Usual => RowChoice::Usual,
            FsyncRows::All => RowChoice::All,
            FsyncRows::None => return FsyncRunPlan::of_look(session),
        };
        let profile = profile(arguments)?;
        let rows = profile.as_ref().map_or_else(|| kind.plans(), |own| vec![engine::row(own)]);
        let sustained = arguments.sustained.then_some(SUSTAINED);
        let ways: Vec<DurableMethod> = rows.iter().map(|row| row.way).chain(sustained).collect();
        let budget = RunBudget::of(arguments, profile.as_ref());
        let lengths = Lengths::of(profile.as_ref(), &ways, budget);
        let forecast = Forecast::default();
        let directory = session.directory()?.clone();
        let slice_bytes = 0;
        let mut plan =
            FsyncRunPlan { directory, rows, ways, profile, budget, forecast, lengths, slice_bytes };
        let (scratch_bytes, made_bytes) = {
            let files = plan.files(session);
            (files.scratch_bytes(), files.made_bytes())
        };
        plan.afford(scratch_bytes, arguments.bytes_max)?;
        let writing = plan.in_turns().iter().filter(|way| way.operation_bytes() > 0).count();
        plan.slice_bytes = budget.slice_bytes(made_bytes, writing);
        let (written_bytes, seconds) = budget.most(made_bytes);
        let uses = Uses { scratch_bytes, written_bytes, seconds };
        plan.forecast = forecast::of(&session.document.target, uses);
        Ok(plan)
    }

    /// Returns whether no row is measured.
    pub(super) fn is_look(&self) -> bool {
        self.rows.is_empty()
    }

    /// No rows: only what is written to look at syncs.
    fn of_look(session: &Session<'_>) -> Result<FsyncRunPlan, Halt> {
        let uses = Uses {
            scratch_bytes: honesty::LENGTH_BYTES_MAX,
            written_bytes: honesty::WRITTEN_BYTES_MAX,
            seconds: session.arguments.seconds.into(),
        };
        Ok(FsyncRunPlan {
            directory: session.directory()?.clone(),
            rows: Vec::new(),
            ways: Vec::new(),
            profile: None,
            budget: RunBudget::of(session.arguments, None),
            forecast: forecast::of(&session.document.target, uses),
            lengths: Lengths::default(),
            slice_bytes: 0,
        })
    }

    /// Returns what must be said where the files are shorter than the engine's.
    pub(super) fn shortened(&self) -> Option<String> {
        let profile = self.profile.as_ref()?;
        let (theirs, ours) = (profile.pattern.file_bytes, self.budget.half_bytes());
        (ours < theirs).then(|| {
            format!(
                "files are at most {} long (half of --bytes-max), and those of {} are {}",
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
            let or = if self.profile.is_some() { "" } else { "; or measure fewer rows: --rows pg" };
            return Err(Halt::refused(
                format!(
                    "cannot measure the rows: they need {}, and --bytes-max is {}",
                    Size(needed),
                    Size(bytes_max)
                ),
                Some(format!("allow more bytes: --bytes-max {more}M{or}")),
            ));
        }
        Ok(())
    }

    /// The files that are made for it.
    pub(super) fn files<'a>(&'a self, session: &Session<'a>) -> DurablePlan<'a> {
        DurablePlan {
            directory: self.directory.clone(),
            ways: &self.ways,
            file_bytes: self.lengths.first,
            room_bytes: self.lengths.others,
            seed: session.document.seed,
            budget_bytes: session.arguments.bytes_max,
            ready_ns: Schedule::of(session.arguments.seconds).ready_ns(),
            interrupt: session.interrupt.clone(),
        }
    }

    /// The ways that take turns.
    pub(super) fn in_turns(&self) -> &[DurableMethod] {
        &self.ways[..self.rows.len()]
    }

    /// Returns what the rounds may take, where `spent_ns` were spent before.
    pub(super) fn limits(&self, session: &Session<'_>, spent_ns: u64) -> DurableLimits {
        let elapsed_ns = self.budget.rows_ns(spent_ns);
        DurableLimits {
            elapsed_ns,
            written_bytes: self.budget.rows_bytes(self.files(session).made_bytes()),
            slice_ns: if self.profile.is_some() { alone(elapsed_ns) } else { SLICE_NS },
            slice_bytes: self.slice_bytes,
            rounds: u64::MAX,
        }
    }

    /// Returns what a run writes beside its rows, in bytes: making the files, and the look.
    pub(super) fn beside_bytes(&self, session: &Session<'_>) -> u64 {
        self.files(session).made_bytes().saturating_add(honesty::WRITTEN_BYTES_MAX)
    }

    /// The number and the way of a sustained run; `None` where none was asked for.
    pub(super) fn sustained(&self) -> Option<(usize, &DurableMethod)> {
        let number = self.rows.len();
        self.ways.get(number).map(|way| (number, way))
    }
}

/// The profile of the engine that was named; `None` where none was.
fn profile(arguments: &Fsync) -> Result<Option<Profile>, Halt> {
    let Some(name) = &arguments.engine else { return Ok(None) };
    let engines = engine::engines(&arguments.profiles)?;
    let found = engines.find(name).cloned();
    found.map(Some).map_err(|hint| {
        let name = escape(name.as_bytes());
        Halt::refused(format!("cannot judge for `{name}`: no such engine profile"), Some(hint))
    })
}

impl Lengths {
    /// Those of an engine as its profile says, half of what may be written at most. A file that is
    /// filled before the run is no longer than what is written over it in the run, since the rest
    /// would not be touched.
    fn of(profile: Option<&Profile>, ways: &[DurableMethod], budget: RunBudget) -> Lengths {
        let Some(profile) = profile else {
            return Lengths { first: FILE_BYTES, others: ROOM_BYTES };
        };
        let half = budget.half_bytes();
        let segment = profile.pattern.file_bytes.min(half);
        let own = ways.first().filter(|way| is_in_first(way)).map(|way| {
            let run = budget.enough_bytes().unwrap_or(u64::MAX);
            segment.min(run).max(way.operation_bytes())
        });
        let sustained = ways.get(1).map(|_| FILE_BYTES.min(half));
        let first = own.max(sustained).unwrap_or(PAGE_BYTES);
        let first = first.checked_next_multiple_of(PAGE_BYTES).unwrap_or(FILE_BYTES);
        Lengths { first, others: segment }
    }
}

/// `true` if `way` writes to the file that is filled before the run.
fn is_in_first(way: &DurableMethod) -> bool {
    matches!(way.place, WritePlace::Overwrite | WritePlace::Sequential)
}

/// Returns how long a slice of a row is that has nobody to take turns with, of so many nanoseconds:
/// longer, since the first operation of each is left out, and the first slice.
fn alone(elapsed_ns: u64) -> u64 {
    elapsed_ns.div_euclid(32).clamp(SLICE_NS, SECOND_NS)
}
