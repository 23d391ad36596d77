//! The write cache: what the host was told is written, and the medium does not have.

use std::collections::BTreeMap;

/// Bytes that the medium does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The first byte.
    pub(crate) start: u64,
    /// Behind the last.
    pub(crate) end: u64,
}

impl Extent {
    /// Its length.
    pub(crate) fn bytes(self) -> u64 {
        self.end - self.start
    }
}

/// Extents that neither overlap nor touch, by their start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cache {
    extents: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Cache {
    /// How many bytes are kept.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether nothing is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// Whether all of `start..end` is kept.
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        let before = self.extents.range(..=start).next_back();
        before.is_some_and(|(_, &kept_end)| kept_end >= end)
    }

    /// Whether any of `start..end` is kept.
    pub(crate) fn touches(&self, start: u64, end: u64) -> bool {
        let before = self.extents.range(..end).next_back();
        before.is_some_and(|(_, &kept_end)| kept_end > start)
    }

    /// Keeps `start..end`, joined with what it touches.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        let (mut start, mut end) = (start, end);
        if let Some((&before, &before_end)) = self.extents.range(..=start).next_back()
            && before_end >= start
        {
            self.remove(before, before_end);
            (start, end) = (before, end.max(before_end));
        }
        while let Some((&next, &next_end)) = self.extents.range(start..=end).next() {
            self.remove(next, next_end);
            end = end.max(next_end);
        }
        self.extents.insert(start, end);
        self.bytes += end - start;
    }

    /// Forgets `start..end`: something newer is on the medium, or nobody needs it.
    pub(crate) fn forget(&mut self, start: u64, end: u64) {
        while let Some((&kept, &kept_end)) = self.extents.range(..end).next_back()
            && kept_end > start
        {
            self.remove(kept, kept_end);
            for (left, right) in [(kept, kept_end.min(start)), (kept.max(end), kept_end)] {
                if left < right {
                    self.extents.insert(left, right);
                    self.bytes += right - left;
                }
            }
            if kept <= start {
                return;
            }
        }
    }

    /// Up to `count` extents from `address` on, and then from the first.
    pub(crate) fn near(&self, address: u64, count: usize) -> impl Iterator<Item = Extent> {
        let behind = self.extents.range(address..);
        let before = self.extents.range(..address);
        let all = behind.chain(before).map(|(&start, &end)| Extent { start, end });
        all.take(count)
    }

    /// Takes the first `bytes` of the extent at `start` out.
    ///
    /// # Panics
    /// When no extent starts there.
    pub(crate) fn take(&mut self, start: u64, bytes: u64) -> Extent {
        let end = self.extents[&start];
        self.remove(start, end);
        let cut = end.min(start + bytes);
        if cut < end {
            self.extents.insert(cut, end);
            self.bytes += end - cut;
        }
        Extent { start, end: cut }
    }

    /// Takes `run` out, all of which is kept, in one extent.
    pub(crate) fn cut(&mut self, run: Extent) -> Extent {
        self.forget(run.start, run.end);
        run
    }

    fn remove(&mut self, start: u64, end: u64) {
        self.extents.remove(&start);
        self.bytes -= end - start;
    }
}
