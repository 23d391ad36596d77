//! Emptying of the cache: what is on its way to the model, and what goes there next.

use super::ControllerPlan;
use crate::hard_disk::cache::{Cache, CachedExtent};

/// Extents on their way from the cache to the model.
#[derive(Clone, Debug)]
pub(super) struct Destage {
    /// Number of extents the model has at once, at most.
    depth: usize,
    /// Most bytes that are written as one, and at least a stripe.
    run_bytes: u64,
    /// The stripe of the model; 0 for none.
    stripe_bytes: u64,
    /// In no order.
    extents: Vec<CachedExtent>,
    bytes: u64,
    /// Behind the last byte that was given to the model.
    position: u64,
}

impl Destage {
    /// Nothing, to a model with stripes of `stripe_bytes`; 0 for none.
    pub(super) fn new(plan: &ControllerPlan, stripe_bytes: u64) -> Destage {
        Destage {
            depth: plan.depth.into(),
            run_bytes: plan.run_bytes,
            stripe_bytes,
            extents: Vec::new(),
            bytes: 0,
            position: 0,
        }
    }

    /// Returns whether nothing is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// Returns whether the model takes no more.
    pub(super) fn is_full(&self) -> bool {
        self.extents.len() >= self.depth
    }

    /// The bytes that are on their way.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether all of `start..end` is on its way as one.
    pub(super) fn has(&self, start: u64, end: u64) -> bool {
        self.extents.iter().any(|extent| extent.start <= start && extent.end >= end)
    }

    /// Returns whether a part of `start..end` is on its way.
    pub(super) fn touches(&self, start: u64, end: u64) -> bool {
        self.extents.iter().any(|extent| extent.start < end && start < extent.end)
    }

    /// Sends `extent` on its way.
    pub(super) fn begin(&mut self, extent: CachedExtent) {
        self.position = extent.end;
        self.extents.push(extent);
        self.bytes += extent.bytes();
    }

    /// The model has `extent`.
    ///
    /// # Panics
    /// When it was not on its way.
    pub(super) fn end(&mut self, extent: CachedExtent) {
        let place = self.extents.iter().position(|&other| other == extent);
        self.extents.swap_remove(place.expect("it is on its way"));
        self.bytes -= extent.bytes();
    }

    /// Returns what of the cache is written next: from where the last run ended, full stripes
    /// before parts of them.
    pub(super) fn next(&self, dirty: &Cache) -> Option<CachedExtent> {
        let near = || {
            let runs =
                dirty.near(self.position, self.depth + 1).map(|(extent, ())| self.run(extent));
            runs.filter(|run| !self.touches(run.start, run.end))
        };
        near().find(|run| self.is_whole(*run)).or_else(|| near().next())
    }

    /// Returns whether a run begins a stripe and has all of it.
    fn is_whole(&self, run: CachedExtent) -> bool {
        self.stripe_bytes > 0
            && run.start.is_multiple_of(self.stripe_bytes)
            && run.bytes() >= self.stripe_bytes
    }

    /// Returns what of an extent is written as one: full stripes if it has any, else what it has of
    /// one.
    fn run(&self, extent: CachedExtent) -> CachedExtent {
        let CachedExtent { start, end } = extent;
        if self.stripe_bytes == 0 {
            return CachedExtent { start, end: end.min(start + self.run_bytes) };
        }
        let first = start.next_multiple_of(self.stripe_bytes);
        let last = end - end % self.stripe_bytes;
        if first < last {
            let stripes = (self.run_bytes / self.stripe_bytes).max(1);
            return CachedExtent {
                start: first,
                end: last.min(first + stripes * self.stripe_bytes),
            };
        }
        // A part of one stripe, or the end of one and the begin of the next.
        CachedExtent { start, end: if first > start { end.min(first) } else { end } }
    }
}
