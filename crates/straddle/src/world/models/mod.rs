//! A world of one drive model, in which time is simulated: everything in it follows from the drive,
//! the seed that was typed, and what was planned to happen at which operation.
//!
//! | file | what it is |
//! |---|---|
//! | `plain_drive` | drives of known cost, with noise, stalls and drift |
//! | `event` | what happens at which operation: an error, a signal |
//! | `queue` | operations on the drive |
//! | `files` | durable writes and syncs on it |
//! | `scratch` | the scratch file: the drive's first bytes |
//! | `tree` | what the kernel says of the drive, its counters included |
//! | `verdict_file` | documents and sentences of verdicts, kept in files |
#![deny(clippy::disallowed_methods)]

pub(crate) mod event;
mod files;
pub(crate) mod plain_drive;
mod queue;
mod scratch;
mod tree;
pub(crate) mod verdict_file;

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use device::DiskCounts;
use drive::Model;
use host::engine::EngineError;
use host::scratch::{ScratchError, ScratchPlan};
use host::{DurablePlan, Interrupt, Pinned, TrialError};
use jiff::Timestamp;
use report::Refusal;
use stack::UnitKind;
use units::{Known, Source};

use super::clock::Clock;
use super::{BufferPlan, World};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::printer::Printer;
use crate::shared::printer::kept::KeptText;
use event::Event;
use files::{ModelFiles, ModelTrial};
use plain_drive::{PlainDrive, PlainPlan};
use queue::{SharedCounters, SharedQueue};
use scratch::ModelScratch;
pub(crate) use tree::DriveFacts;

/// The directory that is named to commands in such a world. It is on every machine; nothing in it
/// is opened.
pub(crate) const DIRECTORY: &str = "/";
/// Number of the drive, as the kernel would give it.
const NUMBER: (u32, u32) = (8, 0);
/// When every run begins.
const STARTED: i64 = 1_767_323_045;
/// The kernel's number of the error that a file system has no room any more.
const NO_ROOM: i32 = 28;

/// A world of one drive model.
pub(crate) struct Models {
    drive: SharedDrive,
    facts: DriveFacts,
    kept: Rc<KeptText>,
}

/// The drive, which everything in its world shares.
#[derive(Clone)]
struct SharedDrive(Arc<Mutex<DriveState>>);

struct DriveState {
    model: Box<dyn Model>,
    now_ns: u64,
    counts: DiskCounts,
    /// Number of operations so far: those that completed, and looks at the clock while resting.
    operations: u64,
    events: Vec<(u64, Event)>,
    interrupt: Interrupt,
    has_cache: bool,
    /// Share of the time that others take, in percent.
    others_percent: u64,
    /// Their work, as the kernel counts it.
    others: DiskCounts,
}

impl DriveState {
    /// The counters of the drive, as the kernel would have them.
    fn all_counts(&self) -> DiskCounts {
        self.counts.plus(&self.others)
    }
}

impl SharedDrive {
    fn state(&self) -> MutexGuard<'_, DriveState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an operation; what happens at it, if that is an error.
    fn count_operation(&self) -> Option<i32> {
        let mut state = self.state();
        state.operations += 1;
        let DriveState { operations, events, interrupt, .. } = &*state;
        let (now, mut error) = (*operations, None);
        for &(at, event) in events {
            match event {
                Event::Signal(signal) if at == now => interrupt.raise(signal),
                Event::Error(number) if at == now => error = Some(number),
                Event::Gone if at <= now => error = Some(event::EIO),
                Event::Full if at <= now => error = Some(NO_ROOM),
                _ => {}
            }
        }
        error
    }
}

impl Clock for SharedDrive {
    fn now_ns(&self) -> u64 {
        let mut state = self.state();
        // Asking takes time, so that whoever waits by asking waits for an end.
        state.now_ns += 25;
        state.now_ns
    }

    fn rest(&self, nanoseconds: u64) {
        let mut state = self.state();
        state.now_ns += nanoseconds;
        let busy_ms = nanoseconds.div_euclid(1_000_000) * state.others_percent / 100;
        let others = &mut state.others;
        others.busy_ms += busy_ms;
        others.reads += busy_ms;
        others.read_sectors += busy_ms * 8;
    }
}

impl Models {
    /// A world of `model`, of which the kernel says `facts`.
    pub(crate) fn new(model: Box<dyn Model>, facts: DriveFacts) -> Models {
        let state = DriveState {
            has_cache: model.has_write_cache(),
            model,
            now_ns: 1_000_000_000,
            counts: DiskCounts { flushes: Some(0), ..DiskCounts::default() },
            operations: 0,
            events: Vec::new(),
            interrupt: Interrupt::none(),
            others_percent: 0,
            others: DiskCounts { flushes: Some(0), ..DiskCounts::default() },
        };
        let drive = SharedDrive(Arc::new(Mutex::new(state)));
        Models { drive, facts, kept: Rc::default() }
    }

    /// A world of a drive of known cost.
    pub(crate) fn plain(plan: PlainPlan) -> Models {
        let facts = DriveFacts { has_cache: plan.has_cache, ..DriveFacts::default() };
        Models::new(Box::new(PlainDrive::new(plan)), facts)
    }

    /// A world of the built-in drive that is called `name`.
    pub(crate) fn built_in(name: &str) -> Models {
        let mut profiles = drive::profile::built_in().iter();
        let profile = profiles.find(|profile| profile.name == name).expect("it is built in");
        let model = profile.model().expect("a built-in drive can be");
        Models::new(Box::new(model), DriveFacts::default())
    }

    /// The same, where `event` happens at operation `at`, counted from 1.
    pub(crate) fn with(self, at: u64, event: Event) -> Models {
        self.drive.state().events.push((at, event));
        self
    }

    /// The same, where others keep the drive busy for so many percent of the time.
    pub(crate) fn beside_others(self, percent: u64) -> Models {
        self.drive.state().others_percent = percent;
        self
    }

    /// Runs `straddle` with these words after the program's name.
    pub(crate) fn run(&self, words: &[&str]) -> Ended {
        let words = ["straddle"].iter().chain(words).map(Into::into).collect();
        let code = crate::run_in(words, self);
        let (out, errors) = self.kept.texts();
        Ended { code, out, errors, operations: self.drive.state().operations }
    }
}

/// A run that ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: u8,
    pub(crate) out: String,
    pub(crate) errors: String,
    /// Number of operations that it made.
    pub(crate) operations: u64,
}

impl Ended {
    /// The document that it printed.
    #[track_caller]
    pub(crate) fn document(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl World for Models {
    type File = SharedFile;
    type One = SharedQueue;
    type Many = SharedQueue;
    type Counters = SharedCounters;
    type Scratch = ModelScratch;
    type SyncFiles = ModelFiles;
    type Trial = ModelTrial;

    fn printer(&self) -> Printer {
        Printer::Kept(Rc::clone(&self.kept))
    }

    fn interrupt(&self) -> io::Result<Interrupt> {
        Ok(self.drive.state().interrupt.clone())
    }

    fn started(&self) -> Timestamp {
        Timestamp::from_second(STARTED).expect("a time of this century")
    }

    fn clock(&self) -> Rc<dyn Clock> {
        Rc::new(self.drive.clone())
    }

    fn inspected(&self) -> InspectedMachine {
        InspectedMachine::unmeasured(Box::new(self.facts.tree(self.drive.clone())))
    }

    fn one(&self, file: SharedFile, plan: BufferPlan) -> Result<SharedQueue, EngineError> {
        Ok(SharedQueue::new(file.0, plan))
    }

    fn many(&self, file: SharedFile, plan: BufferPlan) -> Result<SharedQueue, EngineError> {
        self.one(file, plan)
    }

    fn counters(&self, number: (u32, u32)) -> Option<SharedCounters> {
        (number == NUMBER).then(|| SharedCounters(self.drive.clone()))
    }

    fn adopted(&self, _file: OwnedFd) -> SharedFile {
        SharedFile(self.drive.clone())
    }

    fn clear_leftovers(&self, _directory: &Pinned) {}

    fn possible(&self, _directory: &Pinned, _plan: ScratchPlan) -> Result<String, ScratchError> {
        Ok(self.facts.filesystem.to_owned())
    }

    fn direct_unit(&self, _directory: &Pinned) -> Result<Known<u64>, ScratchError> {
        Ok(Known::yes(self.facts.logical_bytes, Source::Sysfs))
    }

    fn scratch(
        &self,
        directory: &Pinned,
        plan: ScratchPlan,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<ModelScratch, ScratchError> {
        ModelScratch::made(&self.drive, &self.facts, (directory, plan), goes_on)
    }

    fn place(
        &self,
        inspected: &InspectedMachine,
        scratch: &ModelScratch,
        wanted: UnitKind,
    ) -> Result<MeasuredBytes, Refusal> {
        use super::ScratchSpace as _;

        MeasuredBytes::of_device(inspected, NUMBER, scratch.length_bytes(), wanted)
    }

    fn takes_files(&self, _directory: &Pinned) -> Result<(), ScratchError> {
        Ok(())
    }

    fn room_below(&self, _directory: &Pinned, _bytes: u64) -> Result<(), ScratchError> {
        Ok(())
    }

    fn files_possible(&self, _plan: &DurablePlan<'_>) -> Result<(), ScratchError> {
        Ok(())
    }

    fn sync_files(&self, plan: &DurablePlan<'_>) -> Result<ModelFiles, ScratchError> {
        ModelFiles::made(&self.drive, &self.facts, plan)
    }

    fn trial(&self, directory: &Pinned) -> Result<(ModelTrial, u64), TrialError> {
        ModelTrial::made(&self.drive, directory)
    }
}

/// The drive, opened.
pub(crate) struct SharedFile(SharedDrive);
