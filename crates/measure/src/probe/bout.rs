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

/// What is in flight.
#[derive(Debug)]
pub(super) struct Bout {
    operations: Vec<Operation>,
    taken: Vec<bool>,
    completions: Vec<Completion>,
    latencies_ns: Vec<u64>,
}

impl Bout {
    /// Room for a queue's depth.
    pub(super) fn new(depth: u16) -> Bout {
        let slots = usize::from(depth);
        let nothing =
            Operation { action: Action::Read, file: 0, slot: 0, offset_bytes: 0, length_bytes: 0 };
        let ended = Completion { slot: 0, submitted_ns: 0, completed_ns: 0, result: Ok(0) };
        Bout {
            operations: vec![nothing; slots],
            taken: vec![false; slots],
            completions: vec![ended; slots],
            latencies_ns: Vec::with_capacity(slots * 16),
        }
    }

    /// How long one durable write takes, and when it was completed, in nanoseconds.
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
        let (mut left, mut flying) = (count, 0_u32);
        self.latencies_ns.clear();
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
                queue.push(operation);
                (left, flying) = (left - 1, flying + 1);
            }
            queue.submit()?;
            let ended = queue.reap(&mut self.completions, 1)?;
            if ended == 0 {
                return Err(lost());
            }
            for completion in &self.completions[..ended] {
                let slot = usize::from(completion.slot);
                if !self.taken.get(slot).is_some_and(|taken| *taken) {
                    return Err(lost());
                }
                self.taken[slot] = false;
                flying -= 1;
                if !is_whole(&self.operations[slot], completion) {
                    // Others are in flight: the queue is not used again.
                    let Fault::Void(reason) = wrong(&self.operations[slot], completion) else {
                        return Err(lost());
                    };
                    return Err(Fault::Stopped(reason));
                }
                self.latencies_ns.push(completion.latency_ns());
            }
        }
        let middle = self.latencies_ns.len() / 2;
        let (_, median_ns, _) = self.latencies_ns.select_nth_unstable(middle);
        Ok(*median_ns)
    }
}

#[cold]
fn lost() -> Fault {
    Fault::Stopped("the queue gave back something else than what was in flight".to_owned())
}
