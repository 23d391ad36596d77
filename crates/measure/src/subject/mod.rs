//! One thing under test: a queue, what is to be done on it, and where.
//!
//! An *observation* is the time of one arm in one pair. At depth 1 it is one operation with its
//! sync, or, with a sync after every N-th, N operations and their sync: the least that is alike
//! each time. At a greater depth it is a block: so many operations, kept at that depth and drained
//! at its end, from the first submission to the last completion.
//!
//! # Syncs at a depth
//!
//! One sync is pushed for each N writes that completed, in a free slot like any operation, while
//! other writes stay in flight. Writes after the last full N are synced when no write is left, so
//! that a block leaves nothing for the next arm to pay for.
//!
//! Every result is checked: a short operation or an error makes a [`Fault`], after what else is in
//! flight ended. Nothing here allocates between the first submit and the last reap.

mod block;
mod counter_check;
pub(crate) mod fault;
mod work;

use device::{Action, Counters, Operation, Queue, SyncKind};

use self::block::{Block, InFlight, unasked};
pub use self::counter_check::Observations;
pub use self::fault::Fault;
use self::fault::{is_sync, is_whole, wrong};
pub use self::work::Work;
use crate::Slots;

/// A queue with its counters, the work, the places, and what each arm saw.
#[derive(Debug)]
pub struct Subject<Q: Queue, C: Counters> {
    queue: Q,
    counters: Option<C>,
    work: Work,
    slots: Slots,
    seen: Vec<Observations>,
    flight: InFlight,
    written_bytes: u64,
}

impl<Q: Queue, C: Counters> Subject<Q, C> {
    /// One that has seen nothing. What writes write is what the queue's buffers hold.
    ///
    /// # Panics
    /// When the work has no depth, no bytes, no operations in a block, or is a sync; when it is
    /// deeper than the queue, or longer than its buffers; when an arm has no shift in `slots`.
    pub fn new(
        mut queue: Q,
        counters: Option<C>,
        work: Work,
        slots: Slots,
        arms: usize,
    ) -> Subject<Q, C> {
        assert!(work.depth >= 1 && work.depth <= queue.depth(), "a depth that the queue has");
        assert!(work.operation_bytes > 0 && work.block_operations > 0, "something to do");
        assert!(!matches!(work.action, Action::Sync(_)), "a sync moves no bytes");
        let buffer_bytes = units::number::wide(queue.buffer(0).len());
        assert!(u64::from(work.operation_bytes) <= buffer_bytes, "an operation fits the buffer");
        assert!(arms <= slots.arms(), "each arm has its shift");
        let flight = InFlight::new(work.depth);
        let seen = (0..arms).map(|_| Observations::default()).collect();
        Subject { queue, counters, work, slots, seen, flight, written_bytes: 0 }
    }

    /// Begins a pair: see [`Slots::start_pair`].
    pub fn start_pair(&mut self) {
        self.slots.start_pair();
    }

    /// Returns how many nanoseconds one observation of `arm` took. The counters are read right
    /// before and right after it, outside its time. Allocates nothing, but for the text of a
    /// fault.
    ///
    /// # Errors
    /// [`Fault::Void`] when an operation moved fewer bytes than asked or failed, or the counters
    /// cannot be read: nothing that this subject saw may be used. [`Fault::Stopped`] when the
    /// queue cannot go on; it is of no use from there.
    ///
    /// # Panics
    /// When there is no such arm.
    // Always inlined: see the head of `engine::sync` in `host`.
    #[inline(always)]
    pub fn observe(&mut self, arm: usize) -> Result<u64, Fault> {
        let before = self.counters.as_mut().map(Counters::counts).transpose()?;
        let mut block = Block::new(arm, &self.work);
        let result = self.run(&mut block);
        if result.is_err() {
            self.settle(&result);
        }
        result?;
        let after = self.counters.as_mut().map(Counters::counts).transpose()?;
        let counted = after.zip(before).map(|(after, before)| after.since(&before));
        self.seen[arm].note(&self.work, &block, counted);
        Ok(block.time_ns())
    }

    /// Observes the first arm, and leaves no trace in what that saw: to find out
    /// how many operations a block should have.
    ///
    /// # Errors
    /// When [`Subject::observe`] fails.
    pub fn rehearse(&mut self) -> Result<u64, Fault> {
        let kept = std::mem::take(&mut self.seen[0]);
        let result = self.observe(0);
        self.seen[0] = kept;
        result
    }

    /// Sets how many operations a block has, from the next observation on; 0 counts as 1. It
    /// changes nothing at depth 1.
    pub fn set_block_operations(&mut self, operations: u32) {
        self.work.block_operations = operations.max(1);
    }

    /// Returns what `arm` saw.
    ///
    /// # Panics
    /// When there is no such arm.
    #[must_use]
    pub fn seen(&self, arm: usize) -> &Observations {
        &self.seen[arm]
    }

    /// The bytes of all writes that were handed over, whatever became of them.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Returns what is done.
    #[must_use]
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// Returns where it is done.
    #[must_use]
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The queue and the counters.
    #[must_use]
    pub fn into_parts(self) -> (Q, Option<C>) {
        (self.queue, self.counters)
    }

    /// Why the times are not those of the drive, by what it counted: see [`Observations::fewer`].
    /// `None` without counters, and while at most 3 observations or 2 % of them are short.
    #[must_use]
    pub fn accounting(&self) -> Option<String> {
        counter_check::accounting(&self.work, &self.seen)
    }

    /// Why the arms' times differ by more than the drive: something above it let one operation of
    /// some arms through at a time, and several of the others. `None` without counters, at depth 1,
    /// and when all arms went alike. `names` are the arms', in their order.
    #[must_use]
    pub fn serialized(&self, names: &[&str]) -> Option<String> {
        let seen: Vec<&Observations> = self.seen.iter().collect();
        counter_check::serialized(&self.work, &seen, names)
    }

    /// Returns what [`Subject::serialized`] does, for arms that have a subject each.
    #[must_use]
    pub fn serialized_among(subjects: &[Subject<Q, C>], names: &[&str]) -> Option<String> {
        let seen: Vec<&Observations> = subjects.iter().filter_map(|one| one.seen.first()).collect();
        counter_check::serialized(&subjects.first()?.work, &seen, names)
    }

    /// Returns what should be known about what the drive counted, one sentence each; none without
    /// counters and when it counted what was asked. `names` are the arms', in their order.
    #[must_use]
    pub fn remarks(&self, names: &[&str]) -> Vec<String> {
        counter_check::remarks(&self.work, &self.seen, names)
    }

    /// Runs a block to its end.
    #[inline(always)]
    fn run(&mut self, block: &mut Block) -> Result<(), Fault> {
        // Where the last operation went, for a sync of its range alone.
        let mut last_bytes = 0;
        while !block.is_over() {
            self.fill(block, &mut last_bytes);
            self.queue.submit()?;
            let ended = self.reap()?;
            for place in 0..ended {
                self.end(place, block)?;
            }
        }
        Ok(())
    }

    /// Pushes what is due as far as there are slots.
    fn fill(&mut self, block: &mut Block, last_bytes: &mut u64) {
        while let Some(slot) = self.flight.free.pop() {
            let (action, offset_bytes, length_bytes) = if let Some(kind) = block.due() {
                let is_alone = kind == SyncKind::Range && self.work.operations() == 1;
                let range =
                    if is_alone { (*last_bytes, self.work.operation_bytes) } else { (0, 0) };
                (Action::Sync(kind), range.0, range.1)
            } else if block.left > 0 {
                block.left -= 1;
                block.flying += 1;
                *last_bytes = self.slots.next(block.arm);
                (self.work.action, *last_bytes, self.work.operation_bytes)
            } else {
                self.flight.free.push(slot);
                return;
            };
            if matches!(action, Action::Write { .. }) {
                self.written_bytes += u64::from(length_bytes);
            }
            let operation = Operation { action, file: 0, slot, offset_bytes, length_bytes };
            self.flight.operations[usize::from(slot)] = operation;
            self.flight.taken[usize::from(slot)] = true;
            self.queue.push(operation);
        }
    }

    /// Waits for at least one operation to end; how many did.
    #[inline(always)]
    fn reap(&mut self) -> Result<usize, Fault> {
        match self.queue.reap(&mut self.flight.completions, 1)? {
            0 => Err(Fault::Stopped(
                "the queue gave nothing back while something was in flight".into(),
            )),
            ended => Ok(ended),
        }
    }

    /// Takes what ended into account: the completion at `place`.
    #[inline]
    fn end(&mut self, place: usize, block: &mut Block) -> Result<(), Fault> {
        let completion = &self.flight.completions[place];
        let slot = completion.slot;
        let Some(operation) = self.flight.operations.get(usize::from(slot)) else {
            return Err(unasked(slot));
        };
        let taken = &mut self.flight.taken[usize::from(slot)];
        if !*taken {
            return Err(unasked(slot));
        }
        *taken = false;
        self.flight.free.push(slot);
        block.first_ns = block.first_ns.min(completion.submitted_ns);
        block.last_ns = block.last_ns.max(completion.completed_ns);
        if !is_whole(operation, completion) {
            return Err(wrong(operation, completion));
        }
        let seen = &mut self.seen[block.arm];
        if is_sync(operation) {
            block.syncing -= 1;
            seen.syncs.record(completion.latency_ns());
            if let Some(submitted_ns) = block.held_ns.take() {
                seen.latencies.record(completion.completed_ns.saturating_sub(submitted_ns));
            }
            return Ok(());
        }
        block.flying -= 1;
        block.ended += 1;
        let Some((_, every)) = block.syncs else {
            seen.latencies.record(completion.latency_ns());
            return Ok(());
        };
        block.unsynced += 1;
        if self.work.depth == 1 && block.unsynced == every {
            block.held_ns = Some(completion.submitted_ns);
        } else {
            seen.latencies.record(completion.latency_ns());
        }
        Ok(())
    }

    /// Brings the queue to rest after a fault: waits for what is in flight, or forgets it where
    /// the queue gives nothing back.
    fn settle(&mut self, result: &Result<(), Fault>) {
        while matches!(result, Err(Fault::Void(_))) && !self.flight.is_empty() {
            let Ok(ended) = self.reap() else { break };
            for place in 0..ended {
                self.flight.take(self.flight.completions[place].slot);
            }
        }
        self.flight.clear();
    }
}

#[cfg(test)]
mod tests;
