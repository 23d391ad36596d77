//! The model drive: a [`Queue`] and its [`Counters`], in simulated time.

use std::cell::Cell;
use std::rc::Rc;

use device::{
    Action, Completion, Counters, CountersError, DiskCounts, Operation, Queue, QueueError,
};
use units::Unit;

use super::flight::Flight;
use super::{Effect, Pace, Temper};
use crate::number::whole;

/// What a drive is.
#[derive(Clone, Copy, Debug)]
pub struct DrivePlan {
    /// Operations that start elsewhere than on its boundaries take longer.
    pub unit: Unit,
    /// How much longer.
    pub effect: Effect,
    /// How it goes.
    pub temper: Temper,
    /// The slots of its queue, at least 1; what is in them runs side by side.
    pub depth: u16,
    /// The length of each buffer.
    pub buffer_bytes: usize,
    /// What becomes of the operation with this number, from 0.
    pub failure: Option<(u64, Failure)>,
    /// What it counts.
    pub counting: Counting,
    /// What decides its times.
    pub seed: u64,
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It moves half of its bytes.
    Short,
    /// It fails with this error's number.
    Error(i32),
    /// The queue stops.
    Stop,
}

/// What a drive counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// What is asked.
    Exact,
    /// Nothing of one operation in so many: something above answered for it.
    Fewer(u64),
    /// So many bytes more for each operation.
    More(u64),
}

/// A model drive.
#[derive(Debug)]
pub struct Drive {
    plan: DrivePlan,
    pace: Pace,
    operations: u64,
    plain_ns: f64,
    flight: Flight,
    buffer: Vec<u8>,
    counts: Rc<Cell<DiskCounts>>,
}

/// The counters of a model drive.
#[derive(Clone, Debug)]
pub struct DriveCounters {
    counts: Rc<Cell<DiskCounts>>,
}

impl Drive {
    /// A drive that did nothing yet, at time 0.
    #[must_use]
    pub fn new(plan: DrivePlan) -> Drive {
        Drive {
            pace: Pace::new(plan.temper, plan.seed),
            operations: 0,
            plain_ns: 0.0,
            flight: Flight::new(plan.depth),
            buffer: vec![0; plan.buffer_bytes],
            counts: Rc::new(Cell::new(DiskCounts { flushes: Some(0), ..DiskCounts::default() })),
            plan,
        }
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> DriveCounters {
        DriveCounters { counts: Rc::clone(&self.counts) }
    }

    /// Returns how many nanoseconds the operation that started last would take without the effect.
    #[must_use]
    pub fn plain_ns(&self) -> f64 {
        self.plain_ns
    }

    /// Starts an operation; how it will end.
    fn started(&mut self, operation: &Operation) -> Completion {
        self.plain_ns = self.pace.next_ns(self.flight.now_ns());
        let is_sync = matches!(operation.action, Action::Sync(_));
        let is_aligned = is_sync || self.plan.unit.aligns(operation.offset_bytes);
        let effect = if is_aligned { Effect::NONE } else { self.plan.effect };
        let time_ns = whole(effect.on(self.plain_ns).round()).max(1);
        let result = match self.plan.failure {
            Some((number, Failure::Short)) if number == self.operations => {
                Ok(operation.length_bytes >> 1)
            }
            Some((number, Failure::Error(error))) if number == self.operations => Err(error),
            _ => Ok(if is_sync { 0 } else { operation.length_bytes }),
        };
        self.count(operation);
        self.operations += 1;
        let submitted_ns = self.flight.now_ns();
        let completed_ns = submitted_ns + time_ns;
        Completion { slot: operation.slot, submitted_ns, completed_ns, result }
    }

    /// Counts an operation.
    fn count(&self, operation: &Operation) {
        let mut counts = self.counts.get();
        let length_bytes = u64::from(operation.length_bytes);
        let sectors = match self.plan.counting {
            Counting::Fewer(one_in) if self.operations.is_multiple_of(one_in) => 0,
            Counting::Exact | Counting::Fewer(_) => length_bytes.div_ceil(512),
            Counting::More(bytes) => (length_bytes + bytes).div_ceil(512),
        };
        match operation.action {
            Action::Read => {
                (counts.reads, counts.read_sectors) =
                    (counts.reads + 1, counts.read_sectors + sectors)
            }
            Action::Write { .. } => {
                (counts.writes, counts.write_sectors) =
                    (counts.writes + 1, counts.write_sectors + sectors)
            }
            Action::Sync(_) => counts.flushes = counts.flushes.map(|flushes| flushes + 1),
        }
        self.counts.set(counts);
    }

    /// Returns whether the queue stops here.
    fn stops(&self) -> bool {
        matches!(self.plan.failure, Some((number, Failure::Stop)) if number <= self.operations)
    }
}

impl Queue for Drive {
    fn depth(&self) -> u16 {
        self.flight.depth()
    }

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        assert!(slot < self.plan.depth, "there is no such slot");
        &mut self.buffer
    }

    fn push(&mut self, operation: Operation) {
        self.flight.push(operation);
    }

    fn submit(&mut self) -> Result<(), QueueError> {
        let mut place = 0;
        while let Some(operation) = self.flight.pushed(place) {
            if self.stops() {
                let reason = "the model was told to".to_owned();
                return Err(QueueError { attempted: "a submission to the model", reason });
            }
            let completion = self.started(&operation);
            self.flight.start(completion);
            place += 1;
        }
        self.flight.submitted();
        Ok(())
    }

    fn reap(&mut self, completions: &mut [Completion], least: usize) -> Result<usize, QueueError> {
        Ok(self.flight.reap(completions, least))
    }

    fn now_ns(&mut self) -> u64 {
        self.flight.now_ns()
    }
}

impl Counters for DriveCounters {
    fn counts(&mut self) -> Result<DiskCounts, CountersError> {
        Ok(self.counts.get())
    }
}
