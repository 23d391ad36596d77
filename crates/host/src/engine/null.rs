//! A queue whose operations end at once and move nothing: what is left is what a loop costs.

use device::{Action, Completion, Operation, Queue, QueueError};

use super::ended::Ended;
use super::slots::Slots;
use super::{Buffers, EngineError, now_ns};

/// Completes every operation in full at `submit`, between two readings of the clock.
#[derive(Debug)]
pub struct NullQueue {
    buffers: Buffers,
    slots: Slots,
    pushed: Vec<Operation>,
    ended: Ended,
}

impl NullQueue {
    /// A queue of as many slots as there are `buffers`, over one file that is not there.
    ///
    /// # Errors
    /// None so far; as the other queues'.
    pub fn new(buffers: Buffers) -> Result<NullQueue, EngineError> {
        let slots = Slots::new(buffers.slots(), 1, buffers.slot_bytes());
        let pushed = Vec::with_capacity(buffers.slots().into());
        let ended = Ended::new(buffers.slots());
        Ok(NullQueue { buffers, slots, pushed, ended })
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
        self.pushed.push(operation);
    }

    #[inline]
    fn submit(&mut self) -> Result<(), QueueError> {
        for operation in &self.pushed {
            let submitted_ns = now_ns();
            let moved = match operation.action {
                Action::Sync(_) => 0,
                Action::Read | Action::Write { .. } => operation.length_bytes,
            };
            let completed_ns = now_ns();
            let slot = operation.slot;
            self.ended.push(Completion { slot, submitted_ns, completed_ns, result: Ok(moved) });
        }
        self.pushed.clear();
        Ok(())
    }

    #[inline]
    fn reap(&mut self, completions: &mut [Completion], _: usize) -> Result<usize, QueueError> {
        Ok(self.ended.reap(completions, &mut self.slots))
    }

    #[inline]
    fn now_ns(&mut self) -> u64 {
        now_ns()
    }
}
