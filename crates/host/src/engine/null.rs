//! A queue whose operations end at once and move nothing: what is left is what a loop costs.

use device::{Action, Completion, Operation, Queue, QueueError};

use super::slots::Slots;
use super::turns::{Act, Turns};
use super::{Buffers, EngineError, now_ns};

/// Completes every operation in full when it is reaped, between two readings of the clock.
#[derive(Debug)]
pub struct NullQueue {
    buffers: Buffers,
    slots: Slots,
    turns: Turns,
}

impl NullQueue {
    /// A queue of as many slots as there are `buffers`, over one file that is not there.
    ///
    /// # Errors
    /// None so far; as the other queues'.
    pub fn new(buffers: Buffers) -> Result<NullQueue, EngineError> {
        let slots = Slots::new(buffers.slots(), 1, buffers.slot_bytes());
        let turns = Turns::new(buffers.slots());
        Ok(NullQueue { buffers, slots, turns })
    }
}

/// Says that all was done.
struct Nothing;

impl Act for Nothing {
    #[inline]
    fn act(&mut self, operation: &Operation) -> Result<u32, i32> {
        match operation.action {
            Action::Sync(_) => Ok(0),
            Action::Read | Action::Write { .. } => Ok(operation.length_bytes),
        }
    }
}

impl Queue for NullQueue {
    fn depth(&self) -> u16 {
        self.buffers.slots()
    }

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    #[inline]
    fn push(&mut self, operation: Operation) {
        self.slots.take(&operation);
        self.turns.push(operation);
    }

    #[inline]
    fn submit(&mut self) -> Result<(), QueueError> {
        self.turns.submit();
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self, completions: &mut [Completion], _: usize) -> Result<usize, QueueError> {
        Ok(self.turns.reap(completions, &mut self.slots, &mut Nothing))
    }

    #[inline]
    fn now_ns(&mut self) -> u64 {
        now_ns()
    }
}
