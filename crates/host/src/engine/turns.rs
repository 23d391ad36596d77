//! One operation after the other, for queues without depth: each is done when it is reaped.

use std::collections::VecDeque;

use device::{Completion, Operation};

use super::now_ns;
use super::slots::Slots;

/// What does an operation.
pub(super) trait Act {
    /// Does `operation`; the bytes moved, or the error's number.
    fn act(&mut self, operation: &Operation) -> Result<u32, i32>;
}

/// Operations that wait for their turn, in the order in which they were pushed.
#[derive(Debug)]
pub(super) struct Turns {
    waiting: VecDeque<Operation>,
    /// How many of them were submitted.
    submitted: usize,
}

impl Turns {
    pub(super) fn new(slots: u16) -> Turns {
        Turns { waiting: VecDeque::with_capacity(slots.into()), submitted: 0 }
    }

    /// Takes one, whose slot was taken for it.
    #[inline]
    pub(super) fn push(&mut self, operation: Operation) {
        self.waiting.push_back(operation);
    }

    /// Lets all that were pushed have their turn.
    #[inline]
    pub(super) fn submit(&mut self) {
        self.submitted = self.waiting.len();
    }

    /// Lets `actor` do those that were submitted, as far as there is room in `completions`, each
    /// between two readings of the clock, and frees their slots; how many.
    #[inline(always)]
    pub(super) fn reap(
        &mut self,
        completions: &mut [Completion],
        slots: &mut Slots,
        actor: &mut impl Act,
    ) -> usize {
        let count = self.submitted.min(completions.len());
        for completion in &mut completions[..count] {
            let Some(operation) = self.waiting.pop_front() else { break };
            completion.slot = operation.slot;
            completion.submitted_ns = now_ns();
            completion.result = actor.act(&operation);
            completion.completed_ns = now_ns();
            slots.free(operation.slot);
        }
        self.submitted -= count;
        count
    }
}

#[cfg(test)]
mod tests {
    use device::Action;

    use super::*;

    /// Moves 8 bytes, but fails in slot 1.
    struct Eight;

    impl Act for Eight {
        fn act(&mut self, operation: &Operation) -> Result<u32, i32> {
            if operation.slot == 1 { Err(5) } else { Ok(8) }
        }
    }

    #[test]
    fn each_has_its_turn_in_order_once_it_was_submitted_and_as_far_as_there_is_room() {
        let (mut turns, mut slots) = (Turns::new(3), Slots::new(3, 1, 8));
        let nothing = Completion { slot: 9, submitted_ns: 0, completed_ns: 0, result: Ok(0) };
        let mut found = [nothing; 2];
        let mut order = Vec::new();
        let pushed = |turns: &mut Turns, slots: &mut Slots, slot| {
            let action = Action::Read;
            let operation = Operation { action, file: 0, slot, offset_bytes: 0, length_bytes: 8 };
            slots.take(&operation);
            turns.push(operation);
        };
        for some in [&[2, 0, 1][..], &[2], &[0, 2], &[1]] {
            for &slot in some {
                pushed(&mut turns, &mut slots, slot);
            }
            turns.submit();
            let count = turns.reap(&mut found, &mut slots, &mut Eight);
            for completion in &found[..count] {
                assert_eq!(completion.result.is_err(), completion.slot == 1);
                assert!(completion.submitted_ns <= completion.completed_ns);
                assert!(slots.is_free(completion.slot));
                order.push(completion.slot);
            }
        }
        assert_eq!(order, [2, 0, 1, 2, 0, 2, 1]);
        pushed(&mut turns, &mut slots, 0);
        assert_eq!(turns.reap(&mut found, &mut slots, &mut Eight), 0, "it was not submitted");
    }
}
