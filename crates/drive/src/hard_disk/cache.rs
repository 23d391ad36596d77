//! The write cache: what the host was told is written, and the medium does not have.

use crate::sorted::{Seat, Sorted};

/// Bytes that the medium does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CachedExtent {
    /// The first byte.
    pub(crate) start: u64,
    /// Behind the last.
    pub(crate) end: u64,
}

impl CachedExtent {
    /// Its length.
    pub(crate) fn bytes(self) -> u64 {
        self.end - self.start
    }
}

/// Extents that neither overlap nor touch, by their start; each with a note, which is empty at
/// first and again when it starts elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Cache<Note = ()> {
    extents: Sorted<KeptExtent<Note>>,
    bytes: u64,
    pieces: u64,
}

/// An extent, behind its start.
#[derive(Clone, Copy, Debug)]
struct KeptExtent<Note> {
    end: u64,
    note: Note,
}

impl<Note> Default for Cache<Note> {
    fn default() -> Cache<Note> {
        Cache { extents: Sorted::default(), bytes: 0, pieces: 0 }
    }
}

impl<Note: Default> Cache<Note> {
    /// Returns how many bytes are kept.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns how many extents are kept.
    pub(crate) fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Returns whether nothing is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// Returns whether all of `start..end` is kept.
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        self.upto(start).is_some_and(|(_, kept)| kept.end >= end)
    }

    /// Returns whether any of `start..end` is kept.
    pub(crate) fn touches(&self, start: u64, end: u64) -> bool {
        start < end && self.upto(end - 1).is_some_and(|(_, kept)| kept.end > start)
    }

    /// Keeps `start..end`, joined with what it touches.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        let mut end = end;
        loop {
            let before = self.extents.upto(end);
            let Some((seat, kept)) = before.map(|seat| (seat, self.extent(seat))) else {
                return self.put(before, start, end);
            };
            if kept.end < start {
                return self.put(before, start, end);
            }
            end = end.max(kept.end);
            if kept.start <= start {
                self.bytes += end - kept.end;
                self.extents.at_mut(seat).end = end;
                return;
            }
            self.remove(seat);
        }
    }

    /// Forgets `start..end`, which is some: something newer is on the medium, or nobody needs it.
    pub(crate) fn forget(&mut self, start: u64, end: u64) {
        while let Some((seat, kept)) = self.upto(end - 1)
            && kept.end > start
        {
            self.remove(seat);
            for (left, right) in
                [(kept.start, kept.end.min(start)), (kept.start.max(end), kept.end)]
            {
                if left < right {
                    self.put(self.extents.upto(left), left, right);
                }
            }
            if kept.start <= start {
                return;
            }
        }
    }

    /// Up to `count` extents from `address` on, and then from the first, each with its note.
    pub(crate) fn near(
        &self,
        address: u64,
        count: usize,
    ) -> impl Iterator<Item = (CachedExtent, &Note)> {
        self.extents.around(address).flatten().take(count).map(noted)
    }

    /// Calls `each` with the same, which is quicker than to go through them one by one.
    #[inline]
    pub(crate) fn each_near(
        &self,
        address: u64,
        count: usize,
        mut each: impl FnMut(CachedExtent, &Note),
    ) {
        let mut left = count;
        for piece in self.extents.around(address) {
            for kept in &piece[..left.min(piece.len())] {
                let (extent, note) = noted(kept);
                each(extent, note);
            }
            left = left.saturating_sub(piece.len());
            if left == 0 {
                return;
            }
        }
    }

    /// Takes the first `bytes` of the extent at `start` out.
    ///
    /// # Panics
    /// When no extent starts there.
    pub(crate) fn take(&mut self, start: u64, bytes: u64) -> CachedExtent {
        let (seat, kept) = self.upto(start).expect("an extent starts there");
        assert_eq!(kept.start, start, "an extent starts there");
        self.remove(seat);
        let cut = kept.end.min(start + bytes);
        if cut < kept.end {
            self.put(self.extents.upto(cut), cut, kept.end);
        }
        CachedExtent { start, end: cut }
    }

    /// Takes `run` out, all of which is kept, in one extent.
    pub(crate) fn cut(&mut self, run: CachedExtent) -> CachedExtent {
        self.forget(run.start, run.end);
        run
    }

    /// The last extent that starts up to `address`.
    fn upto(&self, address: u64) -> Option<(Seat, CachedExtent)> {
        self.extents.upto(address).map(|seat| (seat, self.extent(seat)))
    }

    fn extent(&self, seat: Seat) -> CachedExtent {
        let (start, kept) = self.extents.at(seat);
        CachedExtent { start, end: kept.end }
    }

    /// Keeps `start..end`, which touches nothing, behind the extent at `before`.
    fn put(&mut self, before: Option<Seat>, start: u64, end: u64) {
        self.extents.insert(before, start, KeptExtent { end, note: Note::default() });
        self.bytes += end - start;
        self.pieces += 1;
    }

    /// Takes the extent at `seat` out.
    fn remove(&mut self, seat: Seat) {
        let bytes = self.extent(seat).bytes();
        self.extents.remove(seat);
        self.bytes -= bytes;
        self.pieces -= 1;
    }
}

fn noted<Note>((start, kept): &(u64, KeptExtent<Note>)) -> (CachedExtent, &Note) {
    (CachedExtent { start: *start, end: kept.end }, &kept.note)
}

#[cfg(test)]
mod tests {
    use super::Cache;

    /// Against one bit a byte, and the same extents whichever way they are asked for.
    #[test]
    fn it_keeps_what_a_bitmap_keeps_and_nothing_touches() {
        const BYTES: u64 = 4096;
        let place = |at: u64| usize::try_from(at).expect("small");
        for seed in 0..30 {
            let mut random = testkit::random(seed);
            let (mut cache, mut bits) = (Cache::<()>::default(), vec![false; place(BYTES)]);
            for step in 0..1500 {
                let start = random.below(BYTES);
                let end = (start + 1 + random.below(6)).min(BYTES);
                let is_kept = random.below(5) > 0;
                let all = bits[place(start)..place(end)].iter().all(|bit| *bit);
                let any = bits[place(start)..place(end)].iter().any(|bit| *bit);
                assert_eq!((cache.covers(start, end), cache.touches(start, end)), (all, any));
                match is_kept {
                    true => cache.insert(start, end),
                    false => cache.forget(start, end),
                }
                bits[place(start)..place(end)].fill(is_kept);
                let first = cache.near(start, 1).next().map(|(extent, ())| extent);
                if step % 10 == 0
                    && let Some(extent) = first
                {
                    let taken = cache.take(extent.start, 3);
                    bits[place(taken.start)..place(taken.end)].fill(false);
                }
                let count = bits.iter().filter(|bit| **bit).count();
                assert_eq!(cache.bytes(), count as u64, "seed {seed}, step {step}");
            }
            let middle = random.below(BYTES);
            let near: Vec<_> = cache.near(middle, 40).map(|(extent, ())| extent).collect();
            let mut each = Vec::new();
            cache.each_near(middle, 40, |extent, ()| each.push(extent));
            assert_eq!(near, each);
            let begins = |at: &u64| bits[place(*at)] && (*at == 0 || !bits[place(*at - 1)]);
            let firsts = (middle..BYTES).chain(0..middle).filter(begins).take(40);
            assert!(near.len() == 40 && near.iter().map(|extent| extent.start).eq(firsts));
        }
    }
}
