//! Parts of units: kept in the hope of the rest, or read, joined and written in a slot.

use std::collections::VecDeque;

use crate::server::Server;

/// The bytes `from..upto` of the unit numbered `unit`, addresses as the flash counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnitPart {
    pub(super) unit: u64,
    pub(super) from: u64,
    pub(super) upto: u64,
}

/// Outcome of offering a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// It is kept.
    Kept,
    /// With it all of the unit is there.
    Whole,
    /// It is kept, and this one must go.
    Evicts(UnitPart),
}

/// The parts that are kept, the oldest first; and the slots.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    most: usize,
    kept: Vec<UnitPart>,
    slots: Vec<Server>,
    /// Number of parts that may wait for a slot, and when those that wait will have one.
    queue: usize,
    waiting: VecDeque<u64>,
}

impl Parts {
    /// None yet, of `most`, and `slots` that are free, for which `queue` may wait.
    pub(super) fn new(most: u32, slots: u32, queue: u32) -> Parts {
        Parts {
            most: most as usize,
            kept: Vec::with_capacity(most as usize + 1),
            slots: vec![Server::default(); slots as usize],
            queue: queue as usize,
            waiting: VecDeque::new(),
        }
    }

    /// Returns whether parts are kept at all.
    pub(super) fn joins(&self) -> bool {
        self.most > 0
    }

    /// Keeps `part` of a unit that is `all`.
    pub(super) fn join(&mut self, part: UnitPart, all: UnitPart) -> Joined {
        let Some(place) = self.kept.iter().position(|kept| kept.unit == part.unit) else {
            self.kept.push(part);
            return match self.kept.len() > self.most {
                true => Joined::Evicts(self.kept.remove(0)),
                false => Joined::Kept,
            };
        };
        let kept = self.kept[place];
        if kept.upto < part.from || part.upto < kept.from {
            // Two parts with a gap between them are not one: the older goes.
            self.kept.remove(place);
            self.kept.push(part);
            return Joined::Evicts(kept);
        }
        let (from, upto) = (kept.from.min(part.from), kept.upto.max(part.upto));
        let joined = UnitPart { from, upto, ..part };
        if joined == all {
            self.kept.remove(place);
            return Joined::Whole;
        }
        self.kept[place] = joined;
        Joined::Kept
    }

    /// Forgets what is kept of the units from `first` to `last`: they were written whole.
    pub(super) fn forget(&mut self, first: u64, last: u64) {
        if !self.kept.is_empty() {
            self.kept.retain(|kept| !(first..=last).contains(&kept.unit));
        }
    }

    /// Takes the oldest out.
    pub(super) fn oldest(&mut self) -> Option<UnitPart> {
        (!self.kept.is_empty()).then(|| self.kept.remove(0))
    }

    /// When a part that comes at `at_ns` and will have a slot at `begun_ns` is taken: when few
    /// enough wait before it.
    pub(super) fn taken_ns(&mut self, begun_ns: u64, at_ns: u64) -> u64 {
        self.waiting.push_back(begun_ns);
        let is_past =
            |waiting: &VecDeque<u64>| waiting.front().is_some_and(|begun_ns| *begun_ns <= at_ns);
        while is_past(&self.waiting) || self.waiting.len() > self.queue + 1 {
            self.waiting.pop_front();
        }
        match self.waiting.len() > self.queue {
            true => self.waiting.front().copied().unwrap_or(at_ns),
            false => at_ns,
        }
    }

    /// The slot that is free first.
    pub(super) fn slot(&mut self) -> &mut Server {
        self.slots.iter_mut().min_by_key(|slot| slot.free_ns).expect("there is a slot at least")
    }
}

#[cfg(test)]
mod tests {
    use super::{Joined, Parts, UnitPart};

    #[test]
    fn a_part_is_taken_as_soon_as_few_enough_wait_for_the_slot() {
        for (queue, wanted) in [(0, [10, 20, 30, 40]), (2, [0, 0, 10, 20]), (9, [0; 4])] {
            let mut parts = Parts::new(0, 1, queue);
            let taken = [10, 20, 30, 40].map(|begun_ns| parts.taken_ns(begun_ns, 0));
            assert_eq!(taken, wanted, "{queue} may wait");
            assert_eq!(parts.taken_ns(50, 50), 50, "and none waits any more");
        }
    }

    #[test]
    fn parts_that_touch_become_whole_and_others_go() {
        let part = |unit, from, upto| UnitPart { unit, from, upto };
        let all = part(0, 0, 4096);
        let mut parts = Parts::new(2, 1, 0);
        assert_eq!(parts.join(part(0, 0, 1024), all), Joined::Kept);
        assert_eq!(parts.join(part(0, 1024, 4096), all), Joined::Whole);
        assert_eq!(parts.oldest(), None);
        parts.join(part(0, 0, 512), all);
        let gap = parts.join(part(0, 1024, 1536), all);
        assert_eq!(gap, Joined::Evicts(part(0, 0, 512)));
        parts.join(part(1, 4096, 5000), part(1, 4096, 8192));
        let third = parts.join(part(2, 8192, 9000), part(2, 8192, 12_288));
        assert_eq!(third, Joined::Evicts(part(0, 1024, 1536)));
        parts.forget(1, 1);
        assert_eq!((parts.oldest(), parts.oldest()), (Some(part(2, 8192, 9000)), None));
    }
}
