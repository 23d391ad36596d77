//! What a model's queue holds: what was pushed, what is in flight, and the simulated time.

use device::{Completion, Operation};

/// What is on the way, and when it is.
#[derive(Debug)]
pub(super) struct Flight {
    now_ns: u64,
    depth: u16,
    pushed: Vec<Operation>,
    flying: Vec<Completion>,
}

impl Flight {
    /// Nothing yet, at time 0, with room for `depth` operations.
    pub(super) fn new(depth: u16) -> Flight {
        let slots = usize::from(depth);
        let (pushed, flying) = (Vec::with_capacity(slots), Vec::with_capacity(slots));
        Flight { now_ns: 0, depth, pushed, flying }
    }

    pub(super) fn depth(&self) -> u16 {
        self.depth
    }

    pub(super) fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Lets so much time pass.
    pub(super) fn pass(&mut self, ns: u64) {
        self.now_ns += ns;
    }

    /// Takes an operation for the next submission.
    pub(super) fn push(&mut self, operation: Operation) {
        let slot = operation.slot;
        let is_free = self.flying.iter().all(|flying| flying.slot != slot)
            && self.pushed.iter().all(|pushed| pushed.slot != slot);
        assert!(slot < self.depth && is_free, "a free slot");
        self.pushed.push(operation);
    }

    /// The operation that was pushed at this place since the last submission.
    pub(super) fn pushed(&self, place: usize) -> Option<Operation> {
        self.pushed.get(place).copied()
    }

    /// An operation flies, and how it will end.
    pub(super) fn start(&mut self, completion: Completion) {
        self.flying.push(completion);
    }

    /// All that was pushed flies.
    pub(super) fn submitted(&mut self) {
        self.pushed.clear();
    }

    /// Waits until at least `least` have ended, as far as there are so many; how many of those that
    /// ended are in `completions`, the first to end first.
    pub(super) fn reap(&mut self, completions: &mut [Completion], least: usize) -> usize {
        self.flying.sort_unstable_by_key(|flying| flying.completed_ns);
        let room = self.flying.len().min(completions.len());
        if let Some(last) = least.min(room).checked_sub(1) {
            self.now_ns = self.now_ns.max(self.flying[last].completed_ns);
        }
        let now_ns = self.now_ns;
        let ended = self.flying.partition_point(|flying| flying.completed_ns <= now_ns).min(room);
        for (completion, flying) in completions.iter_mut().zip(self.flying.drain(..ended)) {
            *completion = flying;
        }
        ended
    }
}
