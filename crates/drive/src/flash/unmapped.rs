//! Addresses of a drive that are not in use: discarded, or never written.

use std::collections::BTreeMap;

/// Number of stretches told apart; beyond that the smaller ones count as in use.
const STRETCHES_MAX: usize = 4096;

/// Stretches of addresses that hold nothing. They neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Unmapped {
    stretches: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Unmapped {
    /// Returns how many bytes hold nothing.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether all of `start..end` holds nothing.
    pub(super) fn covers(&self, start: u64, end: u64) -> bool {
        let before = self.stretches.range(..=start).next_back();
        before.is_some_and(|(_, &stretch_end)| stretch_end >= end)
    }

    /// `start..end` is not in use any more.
    pub(super) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let (mut start, mut end) = (start, end);
        while let Some((&from, &upto)) = self.stretches.range(..=end).next_back()
            && upto >= start
        {
            self.remove(from, upto);
            (start, end) = (start.min(from), end.max(upto));
        }
        self.keep(start, end);
    }

    /// `start..end` is in use.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        while let Some((&from, &upto)) = self.stretches.range(..end).next_back()
            && upto > start
        {
            self.remove(from, upto);
            let mut rests = [(from, start.max(from)), (end.min(upto), upto)];
            rests.sort_unstable_by_key(|(from, upto)| std::cmp::Reverse(upto - from));
            for (from, upto) in rests {
                self.keep(from, upto);
            }
        }
    }

    fn keep(&mut self, start: u64, end: u64) {
        if start < end && self.stretches.len() < STRETCHES_MAX {
            self.stretches.insert(start, end);
            self.bytes += end - start;
        }
    }

    fn remove(&mut self, start: u64, end: u64) {
        self.stretches.remove(&start);
        self.bytes -= end - start;
    }
}

#[cfg(test)]
mod tests {
    use super::{STRETCHES_MAX, Unmapped};

    /// Against one bit a byte.
    #[test]
    fn it_knows_what_a_bitmap_knows() {
        for seed in 0..50 {
            let mut random = testkit::random(seed);
            let (mut unmapped, mut bits) = (Unmapped::default(), [false; 64]);
            for step in 0..200 {
                let start = random.below(64);
                let end = start + random.below(65 - start);
                let is_discard = random.below(2) == 0;
                match is_discard {
                    true => unmapped.insert(start, end),
                    false => unmapped.forget(start, end),
                }
                let place = |place: u64| usize::try_from(place).unwrap();
                bits[place(start)..place(end)].fill(is_discard);
                let count = bits.iter().filter(|&&bit| bit).count() as u64;
                assert_eq!(unmapped.bytes(), count, "seed {seed}, step {step}");
                let (from, upto) = (start.min(63), end.max(start + 1).min(64));
                let all = bits[place(from)..place(upto)].iter().all(|&bit| bit);
                assert_eq!(unmapped.covers(from, upto), all, "seed {seed}, step {step}");
            }
        }
    }

    #[test]
    fn many_small_holes_take_no_more_memory_than_some() {
        let mut unmapped = Unmapped::default();
        unmapped.insert(0, 1 << 40);
        for hole in 0..100_000 {
            unmapped.forget(hole * 8192, hole * 8192 + 4096);
            assert!(unmapped.stretches.len() <= STRETCHES_MAX);
        }
        // The large rest is kept, and not the slivers.
        assert!(unmapped.covers(1 << 39, 1 << 40));
    }
}
