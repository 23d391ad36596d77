//! One run of `straddle bench`: its seed, its clock, what it may still write, what it noticed.

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use host::Interrupt;
use host::scratch::ScratchPlan;
use jiff::Timestamp;
use report::Envelope;
use report::Refusal;
use report::bench::{BENCH_SCHEMA, Bench as Document, BenchTarget, Experiment, ScratchFacts};
use units::number::real;
use units::prefix::Size;

use measure::{ArmPlan, ExperimentPlan, VerdictLimits};

use super::method_budget::{self, MethodBudget};
use super::plan::PlannedArm;
use crate::arguments::SuiteSteps;
use crate::shared::busy::{Others, SHARE_PERCENT};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::printer::Printer;
use crate::shared::progress;
use crate::shared::run;
use crate::world::World;
use crate::world::clock::Clock;

/// State that all ways of measuring share.
pub(crate) struct Session<'a> {
    pub(crate) bench: &'a SuiteSteps,
    pub(crate) inspected: InspectedMachine,
    pub(crate) seed: u64,
    pub(crate) notes: Vec<String>,
    /// Interrupt that ends everything early.
    pub(crate) interrupt: Interrupt,
    /// Share of the drive's time that is taken, in percent.
    pub(crate) share_percent: u8,
    /// True if others use the drive, so that depth stays at 1.
    pub(crate) is_busy: bool,
    /// The loop device whose page cache hides the drive, so that all is measured of it.
    cached: Option<String>,
    /// True if the interval is shown while it narrows.
    pub(crate) shows_progress: bool,
    pub(crate) clock: Rc<dyn Clock>,
    pub(crate) printer: Printer,
    started: Timestamp,
    begun_ns: u64,
    budget: MethodBudget,
    bytes_max: u64,
    written_bytes: u64,
    /// Options that would likely settle what had no verdict, each with its greatest value.
    settling: BTreeMap<Limit, u64>,
}

/// Results so far, which are shown when the rest cannot be measured or the user has enough.
#[derive(Default)]
pub(crate) struct Results {
    pub(crate) target: BenchTarget,
    pub(crate) scratch: Option<ScratchFacts>,
    pub(crate) experiments: Vec<Experiment>,
}

/// Limit that ended a comparison without a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Limit {
    Pairs,
    Seconds,
    Bytes,
}

impl<'a> Session<'a> {
    /// Begins a run in `world`.
    ///
    /// # Errors
    /// When signals cannot be listened to.
    pub(crate) fn new<W: World>(bench: &'a SuiteSteps, world: &W) -> io::Result<Session<'a>> {
        let (started, clock) = (world.started(), world.clock());
        let begun_ns = clock.now_ns();
        Ok(Session {
            bench,
            inspected: world.inspected().ignoring_measured(bench.measured.is_ignored),
            seed: bench.start.seed(started),
            notes: Vec::new(),
            interrupt: world.interrupt()?,
            share_percent: bench.share.unwrap_or(100),
            is_busy: false,
            cached: None,
            shows_progress: progress::is_wanted(bench.printed.kept.no_progress),
            clock,
            printer: world.printer(),
            started,
            begun_ns,
            budget: MethodBudget::HEADLINE,
            bytes_max: bench.bytes_max.unwrap_or(MethodBudget::HEADLINE.written_bytes),
            written_bytes: 0,
            settling: BTreeMap::new(),
        })
    }

    /// Notes that a comparison had no verdict when `limit` ended it, which so many times as many
    /// pairs would likely settle.
    pub(crate) fn unsettled(&mut self, limit: Limit, times: f64) {
        let now = match limit {
            Limit::Pairs => self.pairs_max(),
            Limit::Seconds => self.comparison_ns().div_ceil(1_000_000_000),
            Limit::Bytes => self.bytes_max.div_ceil(1 << 20),
        };
        let wanted = (real(now) * times).ceil();
        // A count of minutes or MiB is far below 2^53.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small count"
        )]
        let wanted = wanted as u64;
        let most = self.settling.entry(limit).or_default();
        *most = wanted.max(*most);
    }

    /// Adds what to type for the verdict that is missing.
    fn settle(&mut self) {
        if self.settling.is_empty() {
            return;
        }
        let option = |(limit, value): (&Limit, &u64)| match limit {
            Limit::Pairs => format!("--pairs {value}"),
            Limit::Seconds => format!("--seconds {value}"),
            Limit::Bytes if value.is_multiple_of(1024) => {
                format!("--bytes-max {}G", value.div_euclid(1024))
            }
            Limit::Bytes => format!("--bytes-max {value}M"),
        };
        let options: Vec<String> = self.settling.iter().map(option).collect();
        self.note(format!("to settle what has no verdict: {}", options.join(" ")));
    }

    /// The most bytes that may still be written.
    pub(crate) fn bytes_left(&self) -> u64 {
        self.bytes_max.saturating_sub(self.written_bytes)
    }

    /// Sets what this way of measuring may use, where the user named no limit.
    pub(crate) fn grant(&mut self, budget: MethodBudget) {
        self.budget = budget;
        self.bytes_max = self.bench.bytes_max.unwrap_or(budget.written_bytes);
    }

    /// The scratch file's length.
    pub(crate) fn scratch_bytes(&self) -> u64 {
        self.bench.scratch.unwrap_or(self.budget.scratch_bytes)
    }

    /// Returns how the scratch file is made.
    pub(crate) fn scratch_plan(&self) -> ScratchPlan {
        ScratchPlan {
            length_bytes: self.scratch_bytes(),
            seed: self.seed,
            budget_bytes: self.bytes_left(),
            nocow_on_btrfs: true,
            may_move: false,
        }
    }

    /// Counts bytes as written.
    pub(crate) fn wrote(&mut self, bytes: u64) {
        self.written_bytes = self.written_bytes.saturating_add(bytes);
    }

    /// Returns how many bytes were written so far.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Refuses to write `bytes` more where that is above the limit.
    pub(crate) fn afford(&self, bytes: u64, what: &str) -> Result<(), Refusal> {
        if bytes <= self.bytes_left() {
            return Ok(());
        }
        let (needs, left) = (Size(bytes), Size(self.bytes_left()));
        // The comparison writes up to three times the scratch file, as `Budget::HEADLINE` allows.
        let more = self.written_bytes.saturating_add(bytes.saturating_mul(4)).div_ceil(1 << 20);
        Err(Refusal::hinted(
            format!("cannot write {what}: it needs {needs}, and {left} may still be written"),
            format!("allow more bytes: --bytes-max {more}M"),
        ))
    }

    /// Returns the options that make the scratch file twice as long, with the bytes that it takes.
    pub(crate) fn longer_scratch(&self) -> String {
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        let longer = self.scratch_bytes().saturating_mul(2).max(self.budget.scratch_bytes);
        let scratch = format!("make the scratch file longer: --scratch {}M", mebibytes(longer));
        match longer.saturating_mul(4) {
            bytes if bytes > self.bytes_max => {
                format!("{scratch} --bytes-max {}M", mebibytes(bytes))
            }
            _ => scratch,
        }
    }

    /// Returns the option that allows `needed` bytes to a comparison that may write `share` now.
    pub(crate) fn more_bytes(&self, needed: u64, share: u64) -> String {
        let shares = self.bytes_left().div_ceil(share.max(1));
        let all = self.written_bytes.saturating_add(needed.saturating_mul(shares));
        format!("allow more bytes: --bytes-max {}M", all.div_ceil(1 << 20))
    }

    /// Says something that belongs to the result, once.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Takes `place` for what is measured, and says first where that is no drive.
    pub(crate) fn measures(&mut self, place: &MeasuredBytes) {
        self.cached.clone_from(&place.cached);
        if let Some(note) = place.cache_note() {
            self.notes.insert(0, note);
        }
    }

    /// Watches the drive, and holds back where it is busy and the user named no share: measuring
    /// then keeps to depth 1 and to a quarter of the time. An idle I/O class would falsify
    /// latencies, and many schedulers ignore it. Returns the bytes a second of others; `None` where
    /// the drive does not count them.
    pub(crate) fn yield_to_others<W: World>(
        &mut self,
        world: &W,
        place: &MeasuredBytes,
    ) -> Option<u64> {
        let others = Others::of(world.counters(place.counted?)?, &*self.clock)?;
        if self.bench.share.is_none() && others.is_busy() {
            self.share_percent = SHARE_PERCENT;
            self.is_busy = true;
            self.note(format!(
                "the drive is {} % busy with other I/O: limited to depth 1 and a \
                 {SHARE_PERCENT} % duty cycle (change with --share)",
                others.busy_percent
            ));
        }
        Some(others.bytes_per_second)
    }

    /// Holds what was found to what it is of: a prediction is of drives, which no operation
    /// reached.
    fn held_to_its_device(&self, experiment: &mut Experiment) {
        let Some(name) = &self.cached else { return };
        experiment.predicted = None;
        experiment.reason =
            format!("{}; the result is of {name}, not of the drive", experiment.reason);
    }

    /// Returns how long one comparison may take, in nanoseconds.
    pub(crate) fn comparison_ns(&self) -> u64 {
        let told = self.bench.seconds.map(|seconds| u64::from(seconds) * 1_000_000_000);
        told.unwrap_or(self.budget.comparison_ns)
    }

    /// The most pairs of one comparison.
    pub(crate) fn pairs_max(&self) -> u64 {
        self.bench.pairs.map_or(method_budget::PAIRS_MAX, u64::from)
    }

    /// An experiment on `arms` with this probability of an interval that misses the truth.
    pub(crate) fn experiment(&self, arms: &[PlannedArm], alpha: f64) -> ExperimentPlan {
        let arms = arms.iter().map(|arm| ArmPlan { name: arm.name.clone(), role: arm.role });
        let pairs_max = usize::try_from(self.pairs_max()).unwrap_or(usize::MAX);
        ExperimentPlan {
            arms: arms.collect(),
            alpha,
            pairs_max,
            limits: VerdictLimits::default(),
            seed: self.seed,
        }
    }

    /// Now, in nanoseconds since this run began.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        self.clock.now_ns().saturating_sub(self.begun_ns)
    }

    /// The result.
    pub(crate) fn document(
        mut self,
        target: BenchTarget,
        mut scratch: Option<ScratchFacts>,
        mut experiments: Vec<Experiment>,
        refusal: Option<Refusal>,
    ) -> Document {
        self.settle();
        if let Some(scratch) = &mut scratch {
            scratch.written_bytes = self.written_bytes;
        }
        experiments.iter_mut().for_each(|experiment| self.held_to_its_device(experiment));
        Document {
            envelope: Envelope { refusal, ..self.envelope(BENCH_SCHEMA) },
            seed: self.seed,
            elapsed_ns: self.elapsed_ns(),
            target,
            scratch,
            experiments,
        }
    }

    /// Returns the envelope of a document of `schema`.
    pub(crate) fn envelope(&self, schema: &str) -> Envelope {
        let run = run::run(self.started, &self.inspected);
        Envelope { notes: self.notes.clone(), ..Envelope::new(schema, run) }
    }
}
