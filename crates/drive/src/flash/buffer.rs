//! The write buffer: room for what is programmed together (a page here) until they are programmed,
//! and memory of what they held.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::FlashPlan;
use crate::server::turn;

/// Number of units it remembers at most.
const KEPT_MAX: u64 = 1 << 16;

/// Room for so many pages. A page's room is taken until the page is programmed.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pages: usize,
    /// When the pages that have room are programmed.
    ends: BinaryHeap<Reverse<u64>>,
    /// Bytes of the page that is not yet full.
    pub(super) open_bytes: u64,
    /// When the last of them is there.
    pub(super) open_ns: u64,
    /// Units that were written last and may still be read from here, each at its number modulo the
    /// length; one more than its number, and 0 for none.
    kept: Vec<u64>,
}

impl Buffer {
    /// An empty buffer.
    pub(super) fn new(plan: &FlashPlan) -> Buffer {
        let units = (plan.buffer_bytes / plan.unit_bytes).min(KEPT_MAX);
        Buffer {
            pages: usize::try_from(plan.buffer_bytes / plan.program_bytes()).unwrap_or(usize::MAX),
            ends: BinaryHeap::new(),
            open_bytes: 0,
            open_ns: 0,
            kept: vec![0; usize::try_from(units).unwrap_or(0)],
        }
    }

    /// For how many pages there is room; 0 where there is no buffer.
    pub(super) fn pages(&self) -> usize {
        self.pages
    }

    /// When there is room for a page that comes at `at_ns`. That room is then the caller's, who
    /// says with [`Buffer::fill`] until when.
    pub(super) fn room(&mut self, at_ns: u64) -> u64 {
        while self.ends.peek().is_some_and(|Reverse(end_ns)| *end_ns <= at_ns) {
            self.ends.pop();
        }
        if self.ends.len() < self.pages {
            return at_ns;
        }
        self.ends.pop().map_or(at_ns, |Reverse(end_ns)| end_ns)
    }

    /// A page has room until `end_ns`.
    pub(super) fn fill(&mut self, end_ns: u64) {
        self.ends.push(Reverse(end_ns));
    }

    /// Remembers the units from `first` to `last`.
    pub(super) fn keep(&mut self, first: u64, last: u64) {
        let least = (last + 1).saturating_sub(self.kept.len() as u64);
        let count = self.kept.len();
        // Without buffer that begins behind the last.
        for unit in first.max(least)..=last {
            self.kept[turn(unit, count)] = unit + 1;
        }
    }

    /// Returns whether all units from `first` to `last` are remembered.
    pub(super) fn has(&self, first: u64, last: u64) -> bool {
        let count = self.kept.len();
        let is_kept = |unit: u64| self.kept[turn(unit, count)] == unit + 1;
        last - first < count as u64 && (first..=last).all(is_kept)
    }
}
