//! The writer of a request that goes to a drive: the thread that handed the piece of work in at
//! whose edge the request begins or ends.
//!
//! A request is made of pieces that follow each other, and may be sent by a thread of the kernel.
//! If it is off a granule, so is the piece at its start or at its end. So the pieces that are off
//! are enough to find who made it so. A piece that the kernel cut in two has edges of its own
//! inside; a request that begins and ends at such a cut has no writer that is known.

use std::collections::{BTreeMap, VecDeque};

/// Most pieces that are remembered; the oldest goes first.
const REMEMBERED_MAX: usize = 65_536;

/// Sectors of 512 bytes of a drive, the first and the one behind the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectorRange {
    /// The first.
    pub start: u64,
    /// The one behind the last.
    pub end: u64,
}

/// Pieces of work that were handed in lately, by their edges.
#[derive(Clone, Debug)]
pub struct RequestWriters<W> {
    by_start: BTreeMap<u64, (u64, W)>,
    by_end: BTreeMap<u64, (u64, W)>,
    order: VecDeque<SectorRange>,
    handed_in: u64,
}

impl<W> Default for RequestWriters<W> {
    fn default() -> RequestWriters<W> {
        let (by_start, by_end, order) = (BTreeMap::new(), BTreeMap::new(), VecDeque::new());
        RequestWriters { by_start, by_end, order, handed_in: 0 }
    }
}

impl<W: Clone> RequestWriters<W> {
    /// Remembers that `writer` handed in a piece of work.
    pub fn hand_in(&mut self, piece: SectorRange, writer: &W) {
        self.handed_in += 1;
        self.by_start.insert(piece.start, (self.handed_in, writer.clone()));
        self.by_end.insert(piece.end, (self.handed_in, writer.clone()));
        self.order.push_back(piece);
        while self.order.len() > REMEMBERED_MAX {
            let Some(oldest) = self.order.pop_front() else { break };
            let number = self.handed_in - REMEMBERED_MAX as u64;
            for (edges, at) in [(&mut self.by_start, oldest.start), (&mut self.by_end, oldest.end)]
            {
                if edges.get(&at).is_some_and(|(seen, _)| *seen <= number) {
                    edges.remove(&at);
                }
            }
        }
    }

    /// The writer of `request`: of the piece at its start, else of the one at its end; `None` where
    /// neither was handed in while somebody listened. Of pieces with one edge the latest counts.
    #[must_use]
    pub fn writer(&self, request: SectorRange) -> Option<&W> {
        let at_start = self.by_start.get(&request.start);
        at_start.or_else(|| self.by_end.get(&request.end)).map(|(_, writer)| writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> SectorRange {
        SectorRange { start, end }
    }

    #[test]
    fn a_merged_request_is_of_the_piece_at_its_edge_and_a_cut_one_of_nobody() {
        let mut writers = RequestWriters::default();
        writers.hand_in(range(1, 9), &"a");
        writers.hand_in(range(9, 13), &"b");
        assert_eq!(writers.writer(range(1, 13)), Some(&"a"));
        assert_eq!(writers.writer(range(5, 13)), Some(&"b"));
        assert_eq!(writers.writer(range(2, 8)), None);
        writers.hand_in(range(1, 2), &"c");
        assert_eq!(writers.writer(range(1, 9)), Some(&"c"), "the latest counts");
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_latest_stays() {
        let mut writers = RequestWriters::default();
        for number in 0..REMEMBERED_MAX as u64 + 10 {
            writers.hand_in(range(number % 70_000, number % 70_000 + 1), &number);
        }
        assert_eq!(writers.order.len(), REMEMBERED_MAX);
        assert!(writers.by_start.len() <= REMEMBERED_MAX);
        assert_eq!(writers.writer(range(0, 5)), None);
        assert_eq!(writers.writer(range(11, 12)), Some(&11));
    }
}
