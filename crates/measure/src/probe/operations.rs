//! One observation: a durable write, or a block of reads kept at a depth.
//!
//! Beside [`crate::Subject`], since here the arms differ in their lengths and in which places they
//! may take, not in a shift alone. Nothing is allocated between the first submit and the last reap.

use device::{Action, Completion, Durability, Operation, Queue};

use crate::Fault;
use crate::subject::fault::{is_whole, wrong};

/// A write that is durable when it completes: `RWF_DSYNC`.
pub(super) const DURABLE_WRITE: Action =
    Action::Write { durability: Durability::Data, atomic: false };

/// Operations in flight.
#[derive(Debug)]
pub(super) struct Operations {
    operations: Vec<Operation>,
    taken: Vec<bool>,
    completions: Vec<Completion>,
    latencies_ns: Vec<u64>,
    /// The number of the read in each slot, in the order of submission.
    numbers: Vec<u64>,
}

/// A read that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndedRead {
    /// Its time, in nanoseconds.
    pub(super) latency_ns: u64,
    /// Number of reads that were submitted before it are still in flight.
    pub(super) overtaken: usize,
    /// Number reported to have ended at one time, this one included: their order is not
    /// sure.
    pub(super) together: usize,
}

impl Operations {
    /// Room for a queue's depth.
    pub(super) fn new(depth: u16) -> Operations {
        let slots = usize::from(depth);
        let nothing =
            Operation { action: Action::Read, file: 0, slot: 0, offset_bytes: 0, length_bytes: 0 };
        let ended = Completion { slot: 0, submitted_ns: 0, completed_ns: 0, result: Ok(0) };
        Operations {
            operations: vec![nothing; slots],
            taken: vec![false; slots],
            completions: vec![ended; slots],
            latencies_ns: Vec::with_capacity(slots * 16),
            numbers: vec![0; slots],
        }
    }

    /// Returns how long one durable write takes, and when it was completed, in nanoseconds.
    pub(super) fn write<Q: Queue>(
        &mut self,
        queue: &mut Q,
        offset_bytes: u64,
        length_bytes: u32,
    ) -> Result<Completion, Fault> {
        let operation =
            Operation { action: DURABLE_WRITE, file: 0, slot: 0, offset_bytes, length_bytes };
        queue.push(operation);
        queue.submit()?;
        if queue.reap(&mut self.completions[..1], 1)? == 0 {
            return Err(lost());
        }
        let completion = self.completions[0];
        match is_whole(&operation, &completion) {
            true => Ok(completion),
            false => Err(wrong(&operation, &completion)),
        }
    }

    /// The median latency of so many reads, kept at the depth there is room for: by Little's law it
    /// goes with the time for all of them, but for the few that take far longer than the others.
    /// `place` says where the next one goes.
    pub(super) fn reads<Q: Queue>(
        &mut self,
        queue: &mut Q,
        count: u32,
        length_bytes: u32,
        place: &mut dyn FnMut() -> u64,
    ) -> Result<u64, Fault> {
        let mut latencies_ns = std::mem::take(&mut self.latencies_ns);
        latencies_ns.clear();
        let kept = self.keep(queue, count, length_bytes, place, &mut |read| {
            latencies_ns.push(read.latency_ns);
            true
        });
        let middle = latencies_ns.len() / 2;
        let median_ns = kept.map(|()| *latencies_ns.select_nth_unstable(middle).1);
        self.latencies_ns = latencies_ns;
        median_ns
    }

    /// Keeps so many reads at the depth there is room for. `place` says where the next one goes,
    /// and `ended` is told of each that has ended; where it says no, none is submitted any more.
    pub(super) fn keep<Q: Queue>(
        &mut self,
        queue: &mut Q,
        count: u32,
        length_bytes: u32,
        place: &mut dyn FnMut() -> u64,
        ended: &mut dyn FnMut(EndedRead) -> bool,
    ) -> Result<(), Fault> {
        let (mut left, mut flying) = (count, 0_u32);
        while left > 0 || flying > 0 {
            for slot in 0..self.taken.len() {
                if self.taken[slot] || left == 0 {
                    continue;
                }
                let name = u16::try_from(slot).expect("a queue's depth has 16 bits");
                let operation = Operation {
                    action: Action::Read,
                    file: 0,
                    slot: name,
                    offset_bytes: place(),
                    length_bytes,
                };
                (self.operations[slot], self.taken[slot]) = (operation, true);
                self.numbers[slot] = u64::from(count - left);
                queue.push(operation);
                (left, flying) = (left - 1, flying + 1);
            }
            queue.submit()?;
            let together = queue.reap(&mut self.completions, 1)?;
            if together == 0 {
                return Err(lost());
            }
            for place in 0..together {
                let completion = self.completions[place];
                let overtaken = self.end(&completion)?;
                flying -= 1;
                if !ended(EndedRead { latency_ns: completion.latency_ns(), overtaken, together }) {
                    left = 0;
                }
            }
        }
        Ok(())
    }

    /// Takes the end of a read; how many that were submitted before it are still in flight.
    fn end(&mut self, completion: &Completion) -> Result<usize, Fault> {
        let slot = usize::from(completion.slot);
        if !self.taken.get(slot).is_some_and(|taken| *taken) {
            return Err(lost());
        }
        self.taken[slot] = false;
        if !is_whole(&self.operations[slot], completion) {
            // Others are in flight: the queue is not used again.
            let Fault::Void(reason) = wrong(&self.operations[slot], completion) else {
                return Err(lost());
            };
            return Err(Fault::Stopped(reason));
        }
        let own = self.numbers[slot];
        let flying = self.taken.iter().zip(&self.numbers);
        Ok(flying.filter(|(taken, number)| **taken && **number < own).count())
    }
}

#[cold]
fn lost() -> Fault {
    Fault::Stopped("the queue gave back something else than what was in flight".to_owned())
}
