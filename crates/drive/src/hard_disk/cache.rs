//! The write cache: what the host was told is written, and the medium does not have.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

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

/// Extents that neither overlap nor touch, by their start; each with a note, which is empty at
/// first and again when it starts elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cache<Note = ()> {
    extents: BTreeMap<u64, Kept<Note>>,
    bytes: u64,
}

/// An extent, behind its start.
#[derive(Clone, Copy, Debug)]
struct Kept<Note> {
    end: u64,
    note: Note,
}

impl<Note: Default> Cache<Note> {
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
        before.is_some_and(|(_, kept)| kept.end >= end)
    }

    /// Whether any of `start..end` is kept.
    pub(crate) fn touches(&self, start: u64, end: u64) -> bool {
        let before = self.extents.range(..end).next_back();
        before.is_some_and(|(_, kept)| kept.end > start)
    }

    /// Keeps `start..end`, joined with what it touches.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        let mut end = end;
        while let Some((&first, kept)) = self.extents.range_mut(..=end).next_back()
            && kept.end >= start
        {
            end = end.max(kept.end);
            if first <= start {
                self.bytes += end - kept.end;
                kept.end = end;
                return;
            }
            self.remove(first);
        }
        self.put(start, end);
    }

    /// Forgets `start..end`: something newer is on the medium, or nobody needs it.
    pub(crate) fn forget(&mut self, start: u64, end: u64) {
        while let Some((&first, kept)) = self.extents.range(..end).next_back()
            && kept.end > start
        {
            let last = kept.end;
            self.remove(first);
            for (left, right) in [(first, last.min(start)), (first.max(end), last)] {
                if left < right {
                    self.put(left, right);
                }
            }
            if first <= start {
                return;
            }
        }
    }

    /// Up to `count` extents from `address` on, and then from the first, each with its note.
    pub(crate) fn near(&self, address: u64, count: usize) -> impl Iterator<Item = (Extent, &Note)> {
        let parts = [(Included(address), Unbounded), (Unbounded, Excluded(address))];
        let all = parts.into_iter().flat_map(|part| self.extents.range::<u64, _>(part));
        all.take(count).map(|(&start, kept)| (Extent { start, end: kept.end }, &kept.note))
    }

    /// Takes the first `bytes` of the extent at `start` out.
    ///
    /// # Panics
    /// When no extent starts there.
    pub(crate) fn take(&mut self, start: u64, bytes: u64) -> Extent {
        let end = self.remove(start);
        let cut = end.min(start + bytes);
        if cut < end {
            self.put(cut, end);
        }
        Extent { start, end: cut }
    }

    /// Takes `run` out, all of which is kept, in one extent.
    pub(crate) fn cut(&mut self, run: Extent) -> Extent {
        self.forget(run.start, run.end);
        run
    }

    /// Keeps `start..end`, which touches nothing.
    fn put(&mut self, start: u64, end: u64) {
        self.extents.insert(start, Kept { end, note: Note::default() });
        self.bytes += end - start;
    }

    /// Takes the extent at `start` out; where it ended.
    fn remove(&mut self, start: u64) -> u64 {
        let kept = self.extents.remove(&start).expect("an extent starts there");
        self.bytes -= kept.end - start;
        kept.end
    }
}
