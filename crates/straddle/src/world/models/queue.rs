//! Operations on the drive of the world, whose clock and counters go on with them.

use device::{Completion, Counters, CountersError, DiskCounts, Operation, Queue, QueueError};
use drive::{DriveCommand, DriveCompletion, DriveTally, HostRules, Model, ModelQueue};

use super::SharedDrive;
use crate::world::BufferPlan;

/// Time of the host between two operations, in nanoseconds.
const TURNAROUND_NS: u64 = 4_000;

/// A queue on the drive of the world.
pub(crate) struct SharedQueue {
    inner: ModelQueue<SharedModel>,
    drive: SharedDrive,
    /// The counters when it was made.
    base: DiskCounts,
}

/// The model of the drive, for one queue of several.
struct SharedModel(SharedDrive);

impl SharedQueue {
    pub(super) fn new(drive: SharedDrive, plan: BufferPlan) -> SharedQueue {
        let (has_cache, base, now_ns) = {
            let state = drive.state();
            (state.has_cache, state.counts, state.now_ns)
        };
        let host = HostRules {
            depth: plan.depth,
            buffer_bytes: usize::try_from(plan.slot_bytes).expect("32 bits fit"),
            start_bytes: 0,
            turnaround_ns: TURNAROUND_NS,
            has_cache,
            has_fua: false,
        };
        let mut inner = ModelQueue::new(SharedModel(drive.clone()), host);
        inner.wait_until(now_ns);
        SharedQueue { inner, drive, base }
    }

    /// Does `act`; time and counters of the world go on with it.
    fn goes_on<T>(&mut self, act: impl FnOnce(&mut ModelQueue<SharedModel>) -> T) -> T {
        let now_ns = self.drive.state().now_ns;
        self.inner.wait_until(now_ns);
        let done = act(&mut self.inner);
        let now_ns = self.inner.now_ns();
        let counts = self.inner.counters().counts().expect("a model counts");
        let mut state = self.drive.state();
        state.now_ns = state.now_ns.max(now_ns);
        state.counts =
            DiskCounts { busy_ms: state.counts.busy_ms, in_flight: 0, ..self.base.plus(&counts) };
        done
    }
}

impl Queue for SharedQueue {
    fn depth(&self) -> u16 {
        self.inner.depth()
    }

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        self.inner.buffer(slot)
    }

    fn push(&mut self, operation: Operation) {
        self.inner.push(operation);
    }

    fn submit(&mut self) -> Result<(), QueueError> {
        self.goes_on(ModelQueue::submit)
    }

    fn reap(&mut self, completions: &mut [Completion], least: usize) -> Result<usize, QueueError> {
        let count = self.goes_on(|inner| inner.reap(completions, least))?;
        for completion in &mut completions[..count] {
            if let Some(error) = self.drive.count_operation() {
                completion.result = Err(error);
            }
        }
        Ok(count)
    }

    fn now_ns(&mut self) -> u64 {
        self.goes_on(ModelQueue::now_ns)
    }
}

impl Model for SharedModel {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.0.state().model.submit(command, at_ns, done);
    }

    fn next_ns(&self) -> Option<u64> {
        self.0.state().model.next_ns()
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.0.state().model.advance(to_ns, done);
    }

    fn capacity_bytes(&self) -> u64 {
        self.0.state().model.capacity_bytes()
    }

    fn logical_bytes(&self) -> u64 {
        self.0.state().model.logical_bytes()
    }

    fn tally(&self) -> DriveTally {
        self.0.state().model.tally()
    }
}

/// Counters of the drive.
pub(crate) struct SharedCounters(pub(super) SharedDrive);

impl Counters for SharedCounters {
    fn counts(&mut self) -> Result<DiskCounts, CountersError> {
        Ok(self.0.state().all_counts())
    }
}
