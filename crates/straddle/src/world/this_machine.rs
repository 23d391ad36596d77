//! The machine that runs the program.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use host::engine::{Access, Buffers, EngineError, SyncQueue, UringQueue, now_ns};
use host::scratch::{Scratch, ScratchError, ScratchPlan, direct_unit_in};
use host::{
    DiskStats, DurableFiles, DurablePlan, Interrupt, Pinned, SyncTrial, TrialError, TrialStep,
};
use jiff::Timestamp;
use report::Refusal;
use stack::UnitKind;
use units::{DiskText, Known};

use super::clock::Clock;
use super::{BufferPlan, ScratchSpace, SyncFiles, TimedSyncs, World};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::printer::Printer;
use crate::shared::scratch;

/// The machine that runs the program.
pub(crate) struct ThisMachine;

/// The kernel's monotonic clock.
struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now_ns(&self) -> u64 {
        now_ns()
    }

    fn rest(&self, nanoseconds: u64) {
        std::thread::sleep(Duration::from_nanos(nanoseconds));
    }
}

fn buffers(plan: BufferPlan) -> Result<Buffers, EngineError> {
    let mut buffers = Buffers::new(plan.depth, plan.slot_bytes)?;
    buffers.fill(plan.seed);
    Ok(buffers)
}

impl World for ThisMachine {
    type File = OwnedFd;
    type One = SyncQueue;
    type Many = UringQueue;
    type Counters = DiskStats;
    type Scratch = Scratch;
    type SyncFiles = DurableFiles;
    type Trial = SyncTrial;

    fn printer(&self) -> Printer {
        Printer::Standard
    }

    fn interrupt(&self) -> io::Result<Interrupt> {
        Interrupt::install()
    }

    fn started(&self) -> Timestamp {
        Timestamp::now()
    }

    fn clock(&self) -> Rc<dyn Clock> {
        Rc::new(MonotonicClock)
    }

    fn inspected(&self) -> InspectedMachine {
        InspectedMachine::live()
    }

    fn one(&self, file: OwnedFd, plan: BufferPlan) -> Result<SyncQueue, EngineError> {
        SyncQueue::new(vec![file], buffers(plan)?)
    }

    fn many(&self, file: OwnedFd, plan: BufferPlan) -> Result<UringQueue, EngineError> {
        UringQueue::new(vec![file], buffers(plan)?)
    }

    fn counters(&self, number: (u32, u32)) -> Option<DiskStats> {
        DiskStats::open(number).ok()
    }

    fn adopted(&self, file: OwnedFd) -> OwnedFd {
        file
    }

    fn clear_leftovers(&self, directory: &Pinned) {
        scratch::clear_leftovers(directory);
    }

    fn possible(&self, directory: &Pinned, plan: ScratchPlan) -> Result<String, ScratchError> {
        Scratch::possible(directory, plan)
    }

    fn direct_unit(&self, directory: &Pinned) -> Result<Known<u64>, ScratchError> {
        direct_unit_in(directory)
    }

    fn scratch(
        &self,
        directory: &Pinned,
        plan: ScratchPlan,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Scratch, ScratchError> {
        Scratch::create_while(directory, plan, goes_on)
    }

    fn place(
        &self,
        inspected: &InspectedMachine,
        scratch: &Scratch,
        wanted: UnitKind,
    ) -> Result<MeasuredBytes, Refusal> {
        MeasuredBytes::of_file(inspected, &scratch.path(), scratch.length_bytes(), wanted)
    }

    fn takes_files(&self, directory: &Pinned) -> Result<(), ScratchError> {
        host::takes_files(directory)
    }

    fn room_below(&self, directory: &Pinned, bytes: u64) -> Result<(), ScratchError> {
        host::room_below(directory, bytes)
    }

    fn files_possible(&self, plan: &DurablePlan<'_>) -> Result<(), ScratchError> {
        plan.possible()
    }

    fn sync_files(&self, plan: &DurablePlan<'_>) -> Result<DurableFiles, ScratchError> {
        DurableFiles::create(plan)
    }

    fn trial(&self, directory: &Pinned) -> Result<(SyncTrial, u64), TrialError> {
        SyncTrial::create(directory)
    }
}

impl ScratchSpace for Scratch {
    type File = OwnedFd;

    fn directory(&self) -> &DiskText {
        Scratch::directory(self)
    }

    fn filesystem(&self) -> &str {
        Scratch::filesystem(self)
    }

    fn length_bytes(&self) -> u64 {
        Scratch::length_bytes(self)
    }

    fn direct_unit(&self) -> &Known<u64> {
        Scratch::direct_unit(self)
    }

    fn unusable(&self) -> Option<String> {
        match self.usable() {
            Ok(usable) => usable.unusable.map(|reason| reason.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }

    fn open(&self, access: Access) -> Result<OwnedFd, EngineError> {
        Scratch::open(self, access, true)
    }

    fn moved(&self) -> Option<String> {
        match self.has_moved() {
            Ok(false) => None,
            Ok(true) => Some("the file system moved the scratch file during the run".to_owned()),
            Err(error) => Some(format!("cannot tell whether the scratch file moved: {error}")),
        }
    }
}

impl SyncFiles for DurableFiles {
    fn directory(&self) -> &DiskText {
        self.scratch().directory()
    }

    fn filesystem(&self) -> &str {
        DurableFiles::filesystem(self)
    }

    fn lack_name(&self) -> bool {
        self.scratch().needs_name() && !self.scratch().has_name()
    }
}

impl TimedSyncs for SyncTrial {
    fn step(&mut self, step: TrialStep) -> Result<u64, TrialError> {
        SyncTrial::step(self, step)
    }
}
