//! A queue without depth: each operation is done when it is reaped.

use std::collections::VecDeque;

use device::{Completion, Operation, Queue, QueueError};

use super::buffers::Buffers;
use super::clock::now_ns;
use super::slot_states::Slots;

/// Something that does operations.
pub trait Operate {
    /// Does `operation`; the bytes moved, or the error's number.
    fn operate(&mut self, buffers: &mut Buffers, operation: &Operation) -> Result<u32, i32>;
}

/// Has `A` do what was submitted when it is reaped, one after the other in order, each stamped
/// right before and right after. Depth is allowed, and gives no more than depth 1.
#[derive(Debug)]
pub struct SequentialQueue<A> {
    actor: A,
    buffers: Buffers,
    slots: Slots,
    waiting: VecDeque<Operation>,
    /// Number of those waiting that were submitted.
    submitted: usize,
}

impl<A> SequentialQueue<A> {
    /// A queue over `files` files, of as many slots as there are `buffers`.
    pub(super) fn over(actor: A, files: usize, buffers: Buffers) -> SequentialQueue<A> {
        let slots = Slots::new(buffers.slots(), files, buffers.slot_bytes());
        let waiting = VecDeque::with_capacity(buffers.slots().into());
        SequentialQueue { actor, buffers, slots, waiting, submitted: 0 }
    }
}

impl<A: Operate> Queue for SequentialQueue<A> {
    fn depth(&self) -> u16 {
        self.buffers.slots()
    }

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    #[inline]
    fn push(&mut self, operation: Operation) {
        self.slots.take(&operation);
        self.waiting.push_back(operation);
    }

    #[inline]
    fn submit(&mut self) -> Result<(), QueueError> {
        self.submitted = self.waiting.len();
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self, completions: &mut [Completion], _: usize) -> Result<usize, QueueError> {
        let count = self.submitted.min(completions.len());
        for completion in &mut completions[..count] {
            let Some(operation) = self.waiting.pop_front() else { break };
            completion.slot = operation.slot;
            completion.submitted_ns = now_ns();
            completion.result = self.actor.operate(&mut self.buffers, &operation);
            completion.completed_ns = now_ns();
            self.slots.free(operation.slot);
        }
        self.submitted -= count;
        Ok(count)
    }

    #[inline]
    fn now_ns(&mut self) -> u64 {
        now_ns()
    }
}

#[cfg(test)]
mod tests {
    use device::Action;

    use super::*;

    /// Moves 8 bytes, but fails in slot 1.
    struct Eight;

    impl Operate for Eight {
        fn operate(&mut self, _: &mut Buffers, operation: &Operation) -> Result<u32, i32> {
            if operation.slot == 1 { Err(5) } else { Ok(8) }
        }
    }

    #[test]
    fn each_has_its_turn_in_order_once_it_was_submitted_and_as_far_as_there_is_room() {
        let mut queue = SequentialQueue::over(Eight, 1, Buffers::new(3, 8).unwrap());
        let nothing = Completion { slot: 9, submitted_ns: 0, completed_ns: 0, result: Ok(0) };
        let mut found = [nothing; 2];
        let mut order = Vec::new();
        let pushed = |queue: &mut SequentialQueue<Eight>, slot| {
            let action = Action::Read;
            queue.push(Operation { action, file: 0, slot, offset_bytes: 0, length_bytes: 8 });
        };
        for some in [&[2, 0, 1][..], &[2], &[0, 2], &[1]] {
            for &slot in some {
                pushed(&mut queue, slot);
            }
            queue.submit().unwrap();
            let count = queue.reap(&mut found, 0).unwrap();
            for completion in &found[..count] {
                assert_eq!(completion.result.is_err(), completion.slot == 1);
                assert!(completion.submitted_ns <= completion.completed_ns);
                assert!(queue.slots.is_free(completion.slot));
                order.push(completion.slot);
            }
        }
        assert_eq!(order, [2, 0, 1, 2, 0, 2, 1]);
        pushed(&mut queue, 0);
        assert_eq!(queue.reap(&mut found, 0).unwrap(), 0, "it was not submitted");
    }
}
