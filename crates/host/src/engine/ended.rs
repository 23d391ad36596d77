//! What has ended and was not reaped yet, for queues that do their work at `submit`.
//!
//! One array for each part of a completion: what was written a moment ago in parts is read in the
//! same parts. A processor that has to put a wider value together from parts that are on their way
//! to memory waits for all of them, some nanoseconds each time.

use device::Completion;

use super::slots::Slots;

/// Completions in the order in which they came, at most one for each slot.
#[derive(Debug)]
pub(super) struct Ended {
    /// A ring of slots.
    order: Box<[u16]>,
    first: usize,
    count: usize,
    /// The parts, by slot.
    submitted_ns: Box<[u64]>,
    completed_ns: Box<[u64]>,
    results: Box<[Result<u32, i32>]>,
}

impl Ended {
    pub(super) fn new(slots: u16) -> Ended {
        let slots = usize::from(slots);
        Ended {
            order: vec![0; slots].into_boxed_slice(),
            first: 0,
            count: 0,
            submitted_ns: vec![0; slots].into_boxed_slice(),
            completed_ns: vec![0; slots].into_boxed_slice(),
            results: vec![Ok(0); slots].into_boxed_slice(),
        }
    }

    /// Adds one, whose slot has none yet.
    #[inline]
    pub(super) fn push(&mut self, completion: Completion) {
        let Completion { slot, submitted_ns, completed_ns, result } = completion;
        let place = usize::from(slot);
        self.submitted_ns[place] = submitted_ns;
        self.completed_ns[place] = completed_ns;
        self.results[place] = result;
        let last = self.around(self.first + self.count);
        self.order[last] = slot;
        self.count += 1;
    }

    /// Moves the first ones into `completions` as far as there is room, and frees their slots; how
    /// many.
    #[inline]
    pub(super) fn reap(&mut self, completions: &mut [Completion], slots: &mut Slots) -> usize {
        let count = completions.len().min(self.count);
        for completion in &mut completions[..count] {
            let slot = self.order[self.first];
            let place = usize::from(slot);
            completion.slot = slot;
            completion.submitted_ns = self.submitted_ns[place];
            completion.completed_ns = self.completed_ns[place];
            completion.result = self.results[place];
            slots.free(slot);
            self.first = self.around(self.first + 1);
        }
        self.count -= count;
        count
    }

    /// A place of the ring: `place` is at most one round ahead.
    #[inline]
    fn around(&self, place: usize) -> usize {
        if place >= self.order.len() { place - self.order.len() } else { place }
    }
}

#[cfg(test)]
mod tests {
    use device::{Action, Operation};

    use super::*;

    #[test]
    fn completions_come_in_the_order_of_their_ends_also_around_the_ring() {
        let mut slots = Slots::new(3, 1, 8);
        let mut ended = Ended::new(3);
        let end = |slot| Completion {
            slot,
            submitted_ns: 10 + u64::from(slot),
            completed_ns: 20 + u64::from(slot),
            result: if slot == 1 { Err(5) } else { Ok(8) },
        };
        let mut found = vec![end(0); 2];
        let mut order = Vec::new();
        for pushed in [&[2, 0][..], &[1], &[2, 0], &[1]] {
            for &slot in pushed {
                let action = Action::Read;
                slots.take(&Operation { action, file: 0, slot, offset_bytes: 0, length_bytes: 8 });
                ended.push(end(slot));
            }
            let count = ended.reap(&mut found, &mut slots);
            for completion in &found[..count] {
                assert_eq!(*completion, end(completion.slot));
                assert!(slots.is_free(completion.slot));
                order.push(completion.slot);
            }
        }
        assert_eq!(order, [2, 0, 1, 2, 0, 1]);
        assert_eq!(ended.reap(&mut found, &mut slots), 0);
    }
}
