//! Moves of partitions in their order, and the parts that are kept aside meanwhile.
//!
//! A partition whose data is half moved must not be taken for a whole one. So its head, and its
//! tail where something is found from there, are put aside before anything moves, blanked in the
//! old place, and written to the new place last.

use units::ByteRange;

use crate::best_places::NewRange;
use crate::start_fields::FixUp;

/// Length of the part of a partition's start, and of its end, that is put aside, in bytes.
const ASIDE_BYTES: u64 = 1 << 20;

/// A partition that moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Its number.
    pub number: u32,
    /// Its start now, in bytes.
    pub from_bytes: u64,
    /// Its start afterwards, in bytes.
    pub to_bytes: u64,
    /// Number of bytes that are copied.
    pub length_bytes: u64,
    /// Ranges that are put aside, from the partition's start, in order: its head, and whatever else
    /// must change or be hidden.
    pub aside: Vec<ByteRange>,
    /// Changes in the parts that are put aside.
    pub fix_ups: Vec<FixUp>,
}

impl Move {
    /// The partition `number` from `old` to `new`; its end is put aside too where `has_tail`.
    pub(crate) fn new(
        number: u32,
        old: NewRange,
        new: NewRange,
        has_tail: bool,
        fix_ups: Vec<FixUp>,
    ) -> Move {
        let length = old.length.min(new.length);
        let head = range(0, ASIDE_BYTES.min(length));
        let mut aside = vec![head];
        if has_tail && length > head.end_bytes() {
            let start = length.saturating_sub(ASIDE_BYTES).max(head.end_bytes());
            aside.push(range(start, length - start));
        }
        for fix in &fix_ups {
            let end = fix.at_bytes + u64::try_from(fix.new.len()).unwrap_or(u64::MAX);
            let wanted = range(fix.at_bytes, end - fix.at_bytes);
            if end <= length && !aside.iter().any(|one| one.contains(wanted)) {
                let start = fix.at_bytes.div_euclid(512) * 512;
                aside.push(range(start, end.next_multiple_of(512).min(length) - start));
            }
        }
        aside.sort_by_key(|one| one.start_bytes());
        let fits = |fix: &FixUp| {
            aside.iter().any(|one| (one.start_bytes()..one.end_bytes()).contains(&fix.at_bytes))
        };
        let fix_ups = fix_ups.into_iter().filter(|fix| fits(fix)).collect();
        Move {
            number,
            from_bytes: old.start,
            to_bytes: new.start,
            length_bytes: length,
            aside,
            fix_ups,
        }
    }

    /// The parts that are copied straight on, from the partition's start, in an order in which none
    /// overwrites another before that is copied.
    #[must_use]
    pub fn runs(&self) -> Vec<ByteRange> {
        let mut runs = Vec::new();
        let mut at = 0;
        for one in &self.aside {
            if one.start_bytes() > at {
                runs.push(range(at, one.start_bytes() - at));
            }
            at = one.end_bytes();
        }
        if self.length_bytes > at {
            runs.push(range(at, self.length_bytes - at));
        }
        if self.to_bytes > self.from_bytes {
            runs.reverse();
        }
        runs
    }

    /// The bytes of the disk that it leaves and that nothing else of it takes, near its old ends:
    /// where stale superblocks would be found.
    #[must_use]
    pub fn left(&self) -> Option<ByteRange> {
        let (from, to) = (self.from_bytes, self.to_bytes);
        let freed = if to > from {
            (from, to.min(from + self.length_bytes))
        } else {
            ((to + self.length_bytes).max(from), from + self.length_bytes)
        };
        let near = if to > from {
            (freed.0, freed.1.min(freed.0 + ASIDE_BYTES))
        } else {
            (freed.0.max(freed.1.saturating_sub(ASIDE_BYTES)), freed.1)
        };
        (near.1 > near.0).then(|| range(near.0, near.1 - near.0))
    }
}

/// `moves` in an order in which none overwrites what another has still to copy: those that go up
/// from the last to the first, then those that go down from the first on. Partitions keep their
/// order on the disk, so that this always holds.
pub(crate) fn ordered(moves: Vec<Move>) -> Vec<Move> {
    let (mut up, mut down): (Vec<Move>, Vec<Move>) =
        moves.into_iter().partition(|one| one.to_bytes > one.from_bytes);
    up.sort_by_key(|one| std::cmp::Reverse(one.from_bytes));
    down.sort_by_key(|one| one.from_bytes);
    up.append(&mut down);
    up
}

fn range(start: u64, length: u64) -> ByteRange {
    ByteRange::new(start, length).unwrap_or_else(|| ByteRange::new(0, 0).expect("0 bytes at 0"))
}

/// Returns the ranges that moved partitions leave, without those that are `taken` again.
pub(crate) fn leftovers(moves: &[Move], taken: impl Iterator<Item = ByteRange>) -> Vec<ByteRange> {
    let mut free: Vec<ByteRange> = moves.iter().filter_map(Move::left).collect();
    for other in taken {
        free = free.into_iter().flat_map(|one| without(one, other)).collect();
    }
    free
}

/// The parts of `one` that `other` does not cover.
pub(crate) fn without(one: ByteRange, other: ByteRange) -> Vec<ByteRange> {
    let Some(both) = one.intersection(other).filter(|both| both.length_bytes() > 0) else {
        return vec![one];
    };
    let before = (one.start_bytes(), both.start_bytes());
    let after = (both.end_bytes(), one.end_bytes());
    let part = |(start, end): (u64, u64)| ByteRange::new(start, end.checked_sub(start)?);
    let parts = [before, after].into_iter().filter_map(part);
    parts.filter(|part| part.length_bytes() > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A move of a partition in MiB, with two fields that are put aside.
    fn moved(number: u32, from: u64, to: u64, length: u64) -> Move {
        let place = |start: u64| NewRange { start: start * MIB, length: length * MIB };
        let field = |at: u64| {
            let (what, old, new) = (String::new(), vec![0; 8], vec![1; 8]);
            FixUp { what, at_bytes: at * MIB, old, new }
        };
        Move::new(number, place(from), place(to), true, vec![field(3), field(6)])
    }

    /// The ranges of the disk that are read, each with the one that is then written, in order.
    fn copies(moves: Vec<Move>) -> Vec<(ByteRange, ByteRange)> {
        let mut found = Vec::new();
        for one in ordered(moves) {
            let on =
                |base: u64, run: &ByteRange| range(base + run.start_bytes(), run.length_bytes());
            let runs = one.runs();
            found.extend(runs.iter().map(|run| (on(one.from_bytes, run), on(one.to_bytes, run))));
        }
        found
    }

    #[test]
    fn nothing_is_overwritten_that_is_still_to_be_copied() {
        let up = [moved(1, 1, 4, 9), moved(2, 10, 14, 10)];
        let down = [moved(3, 30, 25, 10), moved(4, 40, 36, 10)];
        for moves in [up.to_vec(), down.to_vec(), [up, down].concat()] {
            let copies = copies(moves);
            assert!(copies.len() >= 6, "{copies:?}");
            for (place, (_, written)) in copies.iter().enumerate() {
                let mut later = copies[place + 1..].iter();
                assert!(later.all(|(read, _)| !read.overlaps(*written)), "{copies:?}");
            }
        }
    }
}
