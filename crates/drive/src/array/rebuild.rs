//! A lost member's bytes on a spare: read from the others, worked out, and written, at a rate.
//!
//! Pieces of 64 KiB, at most 32 at once, as md's `RESYNC_BLOCK_SIZE` and `RESYNC_DEPTH`
//! (`drivers/md/raid1-10.c`, Linux 6.12). What lies before the first piece that has not ended is
//! whole again: it is read from the spare and written to it.

use super::members::{MemberRun, Owner};
use super::{Array, ArrayPlan};
use crate::slab::Slab;
use crate::{CommandKind, Model};

const PIECE_BYTES: u64 = 65_536;
const PIECES_MAX: usize = 32;
/// The member that is rebuilt.
const SPARE: usize = 0;

/// A part of the spare that is being made.
#[derive(Clone, Copy, Debug)]
struct RebuildPiece {
    start: u64,
    end: u64,
    /// Reads that have not ended; 0 when it is being written.
    reads_left: usize,
}

/// Progress on the spare, in bytes of a member's data.
#[derive(Clone, Debug)]
pub(super) struct Rebuild {
    /// At most so many a second; 0 for no spare.
    rate: u64,
    end: u64,
    /// Behind the last piece that was begun.
    begun: u64,
    /// The first byte that is not whole yet.
    whole: u64,
    /// When the next piece may begin.
    due_ns: u64,
    pieces: Slab<RebuildPiece>,
    flying: usize,
    /// Starts of the pieces in flight, in order.
    starts: Vec<u64>,
}

impl Rebuild {
    /// None of `member_bytes` yet, as `plan` says.
    pub(super) fn new(plan: &ArrayPlan, member_bytes: u64) -> Rebuild {
        Rebuild {
            rate: plan.rebuild_bytes_per_second,
            end: member_bytes,
            begun: 0,
            whole: 0,
            due_ns: 0,
            pieces: Slab::new(),
            flying: 0,
            starts: Vec::with_capacity(PIECES_MAX),
        }
    }

    /// Returns whether there is a spare in the place of the first lost member.
    pub(super) fn has_spare(&self) -> bool {
        self.rate > 0
    }

    /// Bytes of the spare that are whole, from its start.
    pub(super) fn whole_bytes(&self) -> u64 {
        self.whole
    }

    /// When it goes on by itself; `None` where it is over, or waits for pieces in flight.
    pub(super) fn next_ns(&self) -> Option<u64> {
        let can = self.rate > 0 && self.begun < self.end && self.flying < PIECES_MAX;
        can.then_some(self.due_ns)
    }

    /// The next piece, if one may begin now.
    fn begin(&mut self, now_ns: u64, reads: usize) -> Option<(usize, RebuildPiece)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        let start = self.begun;
        let end = self.end.min(start + PIECE_BYTES);
        let piece = RebuildPiece { start, end, reads_left: reads };
        let took_ns = u128::from(end - start) * 1_000_000_000 / u128::from(self.rate);
        self.due_ns = now_ns.saturating_add(u64::try_from(took_ns).unwrap_or(u64::MAX));
        (self.begun, self.flying) = (end, self.flying + 1);
        self.starts.push(start);
        Some((self.pieces.insert(piece), piece))
    }

    /// Ends the write of the piece at `place`.
    fn end(&mut self, place: usize) {
        let piece = self.pieces.remove(place);
        self.flying -= 1;
        self.starts.retain(|&start| start != piece.start);
        self.whole = self.starts.first().copied().unwrap_or(self.begun);
    }
}

impl<M: Model> Array<M> {
    /// Returns whether the bytes of `member` up to `end` are on no drive.
    pub(super) fn is_lost(&self, member: usize, end: u64) -> bool {
        let is_lost = member < self.lost;
        is_lost && !(member == SPARE && end <= self.rebuild.whole_bytes())
    }

    /// Returns whether `member` is there at all: to be flushed.
    pub(super) fn is_there(&self, member: usize) -> bool {
        member >= self.lost || (member == SPARE && self.rebuild.has_spare())
    }

    /// Members whose bytes a lost one's are worked out from: all that are left of an array with
    /// parity, as md reads them (`fetch_block` in `drivers/md/raid5.c`), else one other copy.
    pub(super) fn sources(&self) -> std::ops::Range<usize> {
        match self.plan.level.parity() {
            0 => self.lost..self.lost + 1,
            _ => self.lost..self.members.count(),
        }
    }

    /// Begins the pieces that are due.
    pub(super) fn rebuild_on(&mut self) {
        let sources = self.sources();
        while let Some((place, piece)) = self.rebuild.begin(self.now_ns, sources.len()) {
            for member in sources.clone() {
                self.post_rebuild(place, member, CommandKind::Read, piece);
            }
        }
    }

    /// Ends a read or the write of a piece.
    pub(super) fn end_rebuild(&mut self, place: usize) {
        let piece = self.rebuild.pieces.at(place);
        if piece.reads_left == 0 {
            return self.rebuild.end(place);
        }
        piece.reads_left -= 1;
        let piece = *piece;
        if piece.reads_left == 0 {
            self.post_rebuild(place, SPARE, CommandKind::Write { fua: false }, piece);
        }
    }

    fn post_rebuild(
        &mut self,
        place: usize,
        member: usize,
        action: CommandKind,
        piece: RebuildPiece,
    ) {
        let (start, end, owner) = (piece.start, piece.end, Owner::Rebuild(place));
        self.members.post(MemberRun { member, action, start, end, owner, origin: 0 });
    }
}
