//! Things by number, in order, in chunks that are small enough to be moved in.
//!
//! A cache of a disk looks up its neighbors, puts something in between and goes on along them, all
//! of it for each command. Chunks that lie in one piece of memory make that much quicker than a
//! tree does.

/// Number of things a chunk holds at most.
const CHUNK_MOST: usize = 64;

/// Things in the order of their numbers, each number once. Chunks are a quarter full on average at
/// least, so that memory goes with the number of things.
#[derive(Clone, Debug)]
pub(crate) struct Sorted<T> {
    /// The first number of each chunk.
    firsts: Vec<u64>,
    /// None is empty, and none holds more than [`CHUNK_MOST`].
    chunks: Vec<Vec<(u64, T)>>,
}

/// Place of a thing, until the next is put in or taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    chunk: usize,
    index: usize,
}

impl<T> Default for Sorted<T> {
    fn default() -> Sorted<T> {
        Sorted { firsts: Vec::new(), chunks: Vec::new() }
    }
}

impl<T> Sorted<T> {
    /// Returns whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The thing with the largest number up to `number`.
    #[inline]
    pub(crate) fn upto(&self, number: u64) -> Option<Seat> {
        let chunk = self.firsts.partition_point(|first| *first <= number).checked_sub(1)?;
        // The first of the chunk is not beyond it.
        let index = self.chunks[chunk].partition_point(|(own, _)| *own <= number) - 1;
        Some(Seat { chunk, index })
    }

    /// The thing at `seat`, with its number.
    #[inline]
    pub(crate) fn at(&self, seat: Seat) -> (u64, &T) {
        let (number, thing) = &self.chunks[seat.chunk][seat.index];
        (*number, thing)
    }

    /// The thing at `seat`, to be changed.
    #[inline]
    pub(crate) fn at_mut(&mut self, seat: Seat) -> &mut T {
        &mut self.chunks[seat.chunk][seat.index].1
    }

    /// Puts in `thing` with `number`, which none has; `before` is the thing with the largest number
    /// up to it.
    pub(crate) fn insert(&mut self, before: Option<Seat>, number: u64, thing: T) {
        let Seat { mut chunk, mut index } = match before {
            Some(Seat { chunk, index }) => Seat { chunk, index: index + 1 },
            None => Seat { chunk: 0, index: 0 },
        };
        if self.chunks.is_empty() {
            self.firsts.push(number);
            self.chunks.push(Vec::with_capacity(CHUNK_MOST));
        }
        if self.chunks[chunk].len() == CHUNK_MOST {
            // What comes in order fills chunks whole.
            let is_last = index == CHUNK_MOST && chunk + 1 == self.chunks.len();
            let half = if is_last { CHUNK_MOST } else { CHUNK_MOST / 2 };
            let mut behind = Vec::with_capacity(CHUNK_MOST);
            behind.extend(self.chunks[chunk].drain(half..));
            let first = behind.first().map_or(number, |(first, _)| *first);
            self.firsts.insert(chunk + 1, first);
            self.chunks.insert(chunk + 1, behind);
            if index > half || is_last {
                (chunk, index) = (chunk + 1, index - half);
            }
        }
        self.chunks[chunk].insert(index, (number, thing));
        self.firsts[chunk] = self.chunks[chunk][0].0;
    }

    /// Takes out the thing at `seat`.
    pub(crate) fn remove(&mut self, seat: Seat) -> T {
        let Seat { chunk, index } = seat;
        let (_, thing) = self.chunks[chunk].remove(index);
        let left = self.chunks[chunk].len();
        let next = self.chunks.get(chunk + 1).map(Vec::len);
        if left == 0 {
            self.firsts.remove(chunk);
            self.chunks.remove(chunk);
            return thing;
        }
        if next.is_some_and(|next| left + next <= CHUNK_MOST / 2) {
            self.firsts.remove(chunk + 1);
            let behind = self.chunks.remove(chunk + 1);
            self.chunks[chunk].extend(behind);
        }
        self.firsts[chunk] = self.chunks[chunk][0].0;
        thing
    }

    /// All from `number` on, and then those before it, in order and in pieces.
    #[inline]
    pub(crate) fn around(&self, number: u64) -> impl Iterator<Item = &[(u64, T)]> {
        let chunk = self.firsts.partition_point(|first| *first <= number).saturating_sub(1);
        let (before, from) = self.chunks.split_at(chunk);
        let (middle, behind) = match from.split_first() {
            Some((middle, behind)) => (&middle[..], behind),
            None => (&[][..], &[][..]),
        };
        let (low, high) = middle.split_at(middle.partition_point(|(own, _)| *own < number));
        let behind = std::iter::once(high).chain(behind.iter().map(Vec::as_slice));
        behind.chain(before.iter().map(Vec::as_slice)).chain(std::iter::once(low))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{CHUNK_MOST, Sorted};

    /// Against a tree, over as many numbers as fill some chunks.
    #[test]
    fn it_knows_what_a_tree_knows_and_its_chunks_are_a_quarter_full() {
        for seed in 0..20 {
            let mut random = testkit::random(seed);
            let (mut sorted, mut tree) = (Sorted::default(), BTreeMap::new());
            for step in 0..4000 {
                // Grows, then shrinks.
                let number = random.below(2000);
                let is_more = random.below(3000) > step;
                let seat = sorted.upto(number);
                let found = seat.map(|seat| sorted.at(seat)).map(|(own, thing)| (own, *thing));
                assert_eq!(found, tree.range(..=number).next_back().map(|(own, at)| (*own, *at)));
                match found {
                    Some((own, _)) if own == number => {
                        *sorted.at_mut(seat.expect("found")) += 1;
                        *tree.get_mut(&number).expect("found") += 1;
                    }
                    _ if is_more => {
                        sorted.insert(seat, number, step);
                        tree.insert(number, step);
                    }
                    Some((own, thing)) => {
                        assert_eq!(sorted.remove(seat.expect("found")), thing);
                        tree.remove(&own);
                    }
                    None => {}
                }
                assert_eq!(sorted.is_empty(), tree.is_empty());
                let chunks = sorted.chunks.iter();
                assert!(chunks.clone().all(|chunk| (1..=CHUNK_MOST).contains(&chunk.len())));
                assert!(chunks.count() <= 1 + 4 * tree.len().div_ceil(CHUNK_MOST), "step {step}");
                if step % 50 == 0 {
                    let around: Vec<_> = sorted.around(number).flatten().copied().collect();
                    let parts = tree.range(number..).chain(tree.range(..number));
                    assert_eq!(around, parts.map(|(own, at)| (*own, *at)).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn what_comes_in_order_fills_chunks_whole() {
        let mut sorted = Sorted::default();
        for number in 0..1000 {
            sorted.insert(sorted.upto(number), number, ());
        }
        assert_eq!(sorted.chunks.len(), 1000_usize.div_ceil(CHUNK_MOST));
    }
}
