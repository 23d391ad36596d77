//! Reads and writes of the members that a write of parts of a stripe needs.
//!
//! Parity is worked out row by row: a row is the same `row_bytes` of every member's chunk. Source:
//! `handle_stripe_dirtying` in `drivers/md/raid5.c`, whose rows are pages.
//!
//! | of a row is written | read first | written |
//! |---|---|---|
//! | nothing | nothing | nothing |
//! | all | nothing | all data, all parity |
//! | a part, read-modify-write | what is written, and all parity | the same |
//! | a part, reconstruct-write | data that is not wholly written | what is written, all parity |
//!
//! A way that reads a lost member is not taken where the other does without: in the choice, such a
//! read counts twice the number of members. If both need one, all members that are left are read.
//! Nothing is written to a lost member.

use units::stripe::Rotation;

use super::plan::{ArrayPlan, ParityWrite};

/// The dimensions of a stripe.
#[derive(Clone, Copy, Debug)]
pub(super) struct StripeDimensions {
    pub(super) chunk_bytes: u64,
    pub(super) row_bytes: u64,
    pub(super) data: u64,
    pub(super) parity: u64,
    pub(super) parity_write: ParityWrite,
}

impl StripeDimensions {
    /// Those of a plan for an array with parity.
    pub(super) fn of(plan: &ArrayPlan) -> StripeDimensions {
        StripeDimensions {
            chunk_bytes: plan.chunk_bytes,
            row_bytes: plan.row_bytes,
            data: plan.data_members(),
            parity: plan.level.parity(),
            parity_write: plan.parity_write,
        }
    }
}

/// A chunk of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// That of data at a position.
    Data(u64),
    /// Parity, 0 for P and 1 for Q.
    Parity(u64),
}

impl Chunk {
    /// The member of an array of `plan` that holds the chunk of a stripe.
    pub(super) fn member(self, plan: &ArrayPlan, rotation: Rotation, stripe: u64) -> usize {
        let (count, parity) = (plan.members, plan.level.parity());
        let member = match self {
            Chunk::Data(position) => rotation.members(stripe, position, count, parity).1,
            Chunk::Parity(turn) => (rotation.members(stripe, 0, count, parity).0 + turn) % count,
        };
        usize::try_from(member).expect("members are bounded")
    }
}

/// A part of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkPart {
    pub(super) chunk: Chunk,
    /// The first byte of the chunk that is meant.
    pub(super) start: u64,
    /// Behind the last.
    pub(super) end: u64,
}

/// Work for a stripe, first the reads and then the writes. It is kept to be filled again.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub(super) reads: Vec<ChunkPart>,
    pub(super) writes: Vec<ChunkPart>,
    cuts: Vec<u64>,
}

/// Bytes of a stripe's data, from start to end.
pub(super) type Written = (u64, u64);

/// Share of a chunk's row that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cover {
    None,
    Part,
    All,
}

/// Adds `new` to `written`, which stays in order, and joins what touches.
pub(super) fn join(written: &mut Vec<Written>, new: Written) {
    let from = written.partition_point(|&(_, end)| end < new.0);
    let upto = written.partition_point(|&(start, _)| start <= new.1);
    if from == upto {
        written.insert(from, new);
        return;
    }
    written[from] = (written[from].0.min(new.0), written[upto - 1].1.max(new.1));
    written.drain(from + 1..upto);
}

/// Adds `part` to `parts`, where it joins the one that it goes on.
fn add(parts: &mut Vec<ChunkPart>, part: ChunkPart) {
    let before = parts.iter_mut().rfind(|one| one.chunk == part.chunk && one.end == part.start);
    match before {
        Some(before) => before.end = part.end,
        None => parts.push(part),
    }
}

impl Round {
    /// Works out what `written`, in order and apart, needs.
    pub(super) fn fill(
        &mut self,
        rows: &StripeDimensions,
        written: &[Written],
        is_lost: impl Fn(Chunk) -> bool,
    ) {
        self.reads.clear();
        self.writes.clear();
        self.cut(rows, written);
        for place in 1..self.cuts.len() {
            let (start, end) = (self.cuts[place - 1], self.cuts[place]);
            self.segment(rows, written, (start, end), &is_lost);
        }
    }

    /// The rows at which something begins or ends, so that between them all rows are alike; there
    /// is nothing before the first and after the last.
    fn cut(&mut self, rows: &StripeDimensions, written: &[Written]) {
        self.cuts.clear();
        for &(start, end) in written {
            let chunk = start - start % rows.chunk_bytes;
            if end - chunk > rows.chunk_bytes {
                self.cuts.extend([0, rows.chunk_bytes]);
            }
            for edge in [start - chunk, (end - chunk - 1) % rows.chunk_bytes + 1] {
                self.cuts.push(edge - edge % rows.row_bytes);
                self.cuts.push(edge.next_multiple_of(rows.row_bytes));
            }
        }
        self.cuts.sort_unstable();
        self.cuts.dedup();
    }

    /// Works out rows that are alike.
    fn segment(
        &mut self,
        rows: &StripeDimensions,
        written: &[Written],
        (start, end): (u64, u64),
        is_lost: &impl Fn(Chunk) -> bool,
    ) {
        let cover = |position: u64| {
            let (from, upto) =
                (position * rows.chunk_bytes + start, position * rows.chunk_bytes + end);
            let next = written.partition_point(|&(_, end)| end <= from);
            match written.get(next) {
                Some(&(first, last)) if first <= from && last >= upto => Cover::All,
                Some(&(first, _)) if first < upto => Cover::Part,
                _ => Cover::None,
            }
        };
        // As `handle_stripe_dirtying`: a read costs 1, of what is lost twice the members.
        let lost_cost = 2 * (rows.data + rows.parity);
        let cost = |chunk| if is_lost(chunk) { lost_cost } else { 1 };
        let (mut touched, mut missing) = (0, 0);
        let (mut modify_cost, mut rebuild_cost) = (0, 0);
        for position in 0..rows.data {
            let cover = cover(position);
            if cover != Cover::None {
                (touched, modify_cost) = (touched + 1, modify_cost + cost(Chunk::Data(position)));
            }
            if cover != Cover::All {
                (missing, rebuild_cost) = (missing + 1, rebuild_cost + cost(Chunk::Data(position)));
            }
        }
        if touched == 0 {
            return;
        }
        modify_cost += (0..rows.parity).map(|turn| cost(Chunk::Parity(turn))).sum::<u64>();
        let modifies = match rows.parity_write {
            ParityWrite::ReadModify => modify_cost < lost_cost || rebuild_cost >= lost_cost,
            ParityWrite::Reconstruct => rebuild_cost >= lost_cost && modify_cost < lost_cost,
            ParityWrite::Fewer => modify_cost < rebuild_cost,
        };
        let reads_all = modify_cost.min(rebuild_cost) >= lost_cost && missing > 0;
        let part = |chunk| ChunkPart { chunk, start, end };
        for position in 0..rows.data {
            let (chunk, cover) = (Chunk::Data(position), cover(position));
            if is_lost(chunk) {
                continue;
            }
            let is_read = if modifies { cover != Cover::None } else { cover != Cover::All };
            if missing > 0 && (is_read || reads_all) {
                add(&mut self.reads, part(chunk));
            }
            if cover != Cover::None {
                add(&mut self.writes, part(chunk));
            }
        }
        for chunk in (0..rows.parity).map(Chunk::Parity).filter(|&chunk| !is_lost(chunk)) {
            if missing > 0 && (modifies || reads_all) {
                add(&mut self.reads, part(chunk));
            }
            add(&mut self.writes, part(chunk));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: StripeDimensions = StripeDimensions {
        chunk_bytes: 65_536,
        row_bytes: 4096,
        data: 3,
        parity: 1,
        parity_write: ParityWrite::Fewer,
    };

    /// Bytes read and written for `written`.
    fn check(rows: StripeDimensions, written: &[Written], wanted: (u64, u64)) {
        let mut round = Round::default();
        round.fill(&rows, written, |_| false);
        let sum = |parts: &[ChunkPart]| parts.iter().map(|part| part.end - part.start).sum::<u64>();
        assert_eq!((sum(&round.reads), sum(&round.writes)), wanted, "{rows:?} {written:?}");
    }

    #[test]
    fn a_full_stripe_is_written_without_reads() {
        check(ROWS, &[(0, 3 * 65_536)], (0, 4 * 65_536));
    }

    #[test]
    fn full_rows_are_written_without_reads_though_the_stripe_is_not_full() {
        check(ROWS, &[(0, 4096), (65_536, 69_632), (131_072, 135_168)], (0, 4 * 4096));
    }

    #[test]
    fn of_four_members_one_chunk_is_modified_in_place_or_made_anew_at_the_same_cost() {
        let modify = StripeDimensions { parity_write: ParityWrite::ReadModify, ..ROWS };
        check(ROWS, &[(0, 4096)], (8192, 8192));
        check(modify, &[(0, 4096)], (8192, 8192));
        // Two of three chunks: the third is read, not two and parity.
        check(ROWS, &[(0, 4096), (65_536, 69_632)], (4096, 3 * 4096));
        check(modify, &[(0, 4096), (65_536, 69_632)], (3 * 4096, 3 * 4096));
    }

    #[test]
    fn of_seven_members_one_chunk_is_modified_in_place() {
        check(StripeDimensions { data: 6, ..ROWS }, &[(0, 4096)], (8192, 8192));
        check(StripeDimensions { data: 6, parity: 2, ..ROWS }, &[(0, 4096)], (3 * 4096, 3 * 4096));
        // Three chunks and two parities, or the other three.
        let three = [(0, 4096), (65_536, 69_632), (131_072, 135_168)];
        check(StripeDimensions { data: 6, parity: 2, ..ROWS }, &three, (3 * 4096, 5 * 4096));
    }

    #[test]
    fn a_sector_costs_its_row() {
        check(StripeDimensions { data: 6, ..ROWS }, &[(512, 1024)], (8192, 8192));
        check(StripeDimensions { data: 6, row_bytes: 512, ..ROWS }, &[(512, 1024)], (1024, 1024));
    }

    #[test]
    fn a_write_over_a_chunks_end_touches_the_parity_of_two_rows_alone() {
        let rows = StripeDimensions { data: 6, ..ROWS };
        check(rows, &[(61_440, 69_632)], (4 * 4096, 4 * 4096));
    }

    #[test]
    fn what_touches_is_joined() {
        let mut written = Vec::new();
        for new in [(10, 20), (40, 50), (30, 35), (20, 30), (0, 5), (45, 60), (4, 10)] {
            join(&mut written, new);
        }
        assert_eq!(written, [(0, 35), (40, 60)]);
    }
}
