//! The members: what goes to them, joined; what they have done; which of several copies is read.

use std::ops::Range;

use units::ByteRange;

use super::Member;
use super::ledger::MemberLedger;
use crate::slab::Slab;
use crate::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};

/// Whose a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A command.
    Flight(usize),
    /// A stripe that is being written.
    Stripe(usize),
    /// A piece of a rebuild.
    Rebuild(usize),
}

/// A run of a member's bytes, from the start of its data, with what is to be done to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberRun {
    pub(super) member: usize,
    pub(super) action: CommandKind,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) owner: Owner,
    /// Number of the write in the array's ledger; 0 where it keeps none.
    pub(super) origin: usize,
}

/// A piece that a member has; the pieces that were joined with it follow.
#[derive(Clone, Copy, Debug)]
struct Sent {
    piece: MemberRun,
    next: Option<usize>,
}

/// A member with what the array knows of it.
#[derive(Clone, Debug)]
struct ArrayMember<M> {
    model: M,
    offset_bytes: u64,
    /// Pieces that it has not done yet.
    pending: u64,
    /// Behind the last byte that it has done.
    head: u64,
    /// Behind the last byte that it was told to read.
    read_end: u64,
    /// When something happens next at it; [`NEVER`] where nothing does.
    next_ns: u64,
    /// Ledger of the member, if somebody asked for it.
    ledger: Option<Box<MemberLedger>>,
}

/// All members.
#[derive(Clone, Debug)]
pub(super) struct Members<M> {
    parts: Vec<ArrayMember<M>>,
    turns: bool,
    /// Commands to be sent.
    outbox: Vec<MemberRun>,
    sent: Slab<Sent>,
    /// Completions to be worked through; each is named by the place of its first piece.
    pub(super) heard: Vec<DriveCompletion>,
    reads: u64,
    writes: u64,
}

impl<M: Model> Members<M> {
    /// Members that did nothing yet for an array.
    pub(super) fn new(members: Vec<Member<M>>, turns: bool) -> Members<M> {
        let part = |member: Member<M>| ArrayMember {
            next_ns: next_ns(&member.model),
            model: member.model,
            offset_bytes: member.offset_bytes,
            pending: 0,
            head: 0,
            read_end: 0,
            ledger: None,
        };
        Members {
            parts: members.into_iter().map(part).collect(),
            turns,
            outbox: Vec::new(),
            sent: Slab::new(),
            heard: Vec::new(),
            reads: 0,
            writes: 0,
        }
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> usize {
        self.parts.len()
    }

    /// The models, in order.
    pub(super) fn models(&self) -> impl Iterator<Item = &M> {
        self.parts.iter().map(|part| &part.model)
    }

    /// Makes every member keep a log of at most `entries_max` entries; true if all do.
    pub(super) fn keep_logs(&mut self, entries_max: usize) -> bool {
        for part in &mut self.parts {
            if !part.model.keep_log(entries_max) {
                return false;
            }
            part.ledger = Some(Box::new(MemberLedger::new(part.model.told(), entries_max)));
        }
        true
    }

    /// The members, each with what it was sent, where it keeps a log.
    pub(super) fn ledgers(&self) -> impl Iterator<Item = (&M, Option<&MemberLedger>)> {
        self.parts.iter().map(|part| (&part.model, part.ledger.as_deref()))
    }

    /// Returns what `member` was sent, where it keeps a log.
    pub(super) fn ledger(&self, member: usize) -> Option<&MemberLedger> {
        self.parts[member].ledger.as_deref()
    }

    /// The first byte of `member` that the array uses.
    pub(super) fn offset_bytes(&self, member: usize) -> u64 {
        self.parts[member].offset_bytes
    }

    /// The addressable unit of `member`.
    pub(super) fn logical_bytes(&self, member: usize) -> u64 {
        self.parts[member].model.logical_bytes()
    }

    /// Puts a piece among what is to be sent.
    pub(super) fn post(&mut self, piece: MemberRun) {
        let part = &mut self.parts[piece.member];
        part.pending += 1;
        if piece.action == CommandKind::Read {
            part.read_end = piece.end;
        }
        self.outbox.push(piece);
    }

    /// Chooses which of `count` copies from member `first` on reads `range` of their bytes. As
    /// `read_balance` in `drivers/md/raid1.c` chooses: one that goes on where it read last or its
    /// head is; else, where members do not turn or one has nothing to do, that with the fewest
    /// pieces pending; else that whose head is nearest.
    pub(super) fn copy(&self, first: usize, count: usize, range: ByteRange) -> usize {
        let copies = &self.parts[first..first + count];
        let start = range.start_bytes();
        let goes_on = copies.iter().position(|part| start == part.read_end || start == part.head);
        let pending = (0..count).min_by_key(|&copy| copies[copy].pending).unwrap_or(0);
        let nearest = (0..count).min_by_key(|&copy| copies[copy].head.abs_diff(start)).unwrap_or(0);
        let is_by_pending = !self.turns || copies[pending].pending == 0;
        first + goes_on.unwrap_or(if is_by_pending { pending } else { nearest })
    }

    /// Sends what is to be sent, what is adjacent on a member as one: as Linux merges requests
    /// that one caller queues (`blk_attempt_plug_merge` in `block/blk-merge.c`).
    pub(super) fn send(&mut self, now_ns: u64) {
        self.outbox.sort_by_key(|piece| (piece.member, rank(piece.action), piece.start));
        let mut from = 0;
        while from < self.outbox.len() {
            let first = self.outbox[from];
            let (mut upto, mut end, mut next) = (from + 1, first.end, None);
            while let Some(piece) = self.outbox.get(upto)
                && first.start < first.end
                && (piece.member, piece.action, piece.start) == (first.member, first.action, end)
            {
                next = Some(self.sent.insert(Sent { piece: *piece, next }));
                (upto, end) = (upto + 1, piece.end);
            }
            let id = self.sent.insert(Sent { piece: first, next });
            self.note(&first, from..upto, now_ns);
            self.submit(id, MemberRun { end, ..first }, now_ns);
            from = upto;
        }
        self.outbox.clear();
    }

    /// Writes down that the pieces `joined` of the outbox are sent as one, where that is a write
    /// and somebody asked.
    fn note(&mut self, first: &MemberRun, joined: Range<usize>, now_ns: u64) {
        let part = &mut self.parts[first.member];
        let (Some(ledger), CommandKind::Write { fua }) = (&mut part.ledger, first.action) else {
            return;
        };
        let pieces = &self.outbox[joined];
        let end = pieces.last().map_or(first.end, |piece| piece.end);
        let range = ByteRange::new(part.offset_bytes + first.start, end - first.start);
        let range = range.expect("bytes of the member");
        let origins = pieces.iter().map(|piece| (piece.start, piece.end, piece.origin));
        ledger.sent(range, origins, fua, now_ns);
    }

    fn submit(&mut self, id: usize, piece: MemberRun, now_ns: u64) {
        match piece.action {
            CommandKind::Read => self.reads += 1,
            CommandKind::Write { .. } => self.writes += 1,
            CommandKind::Flush | CommandKind::Discard => {}
        }
        let part = &mut self.parts[piece.member];
        let offset = if piece.action == CommandKind::Flush { 0 } else { part.offset_bytes };
        let command = DriveCommand {
            id: id as u64,
            action: piece.action,
            offset_bytes: offset + piece.start,
            length_bytes: piece.end - piece.start,
        };
        part.model.submit(command, now_ns, &mut self.heard);
        part.next_ns = next_ns(&part.model);
    }

    /// Ends the piece at `place`; whose it is, and where that is which was joined with it.
    pub(super) fn end(&mut self, place: usize) -> (Owner, Option<usize>) {
        let Sent { piece, next } = self.sent.remove(place);
        let part = &mut self.parts[piece.member];
        part.pending -= 1;
        if piece.action != CommandKind::Flush {
            part.head = piece.end;
        }
        (piece.owner, next)
    }

    /// When something happens next at a member.
    pub(super) fn next_ns(&self) -> Option<u64> {
        let next_ns = self.parts.iter().fold(NEVER, |least, part| least.min(part.next_ns));
        (next_ns != NEVER).then_some(next_ns)
    }

    /// Advances the members where something happens until `to_ns`.
    pub(super) fn advance(&mut self, to_ns: u64) {
        for part in self.parts.iter_mut().filter(|part| part.next_ns <= to_ns) {
            part.model.advance(to_ns, &mut self.heard);
            part.next_ns = next_ns(&part.model);
        }
    }

    /// The sums of the members' accounts, with what was sent to them.
    pub(super) fn tally(&self) -> DriveTally {
        let all = self.parts.iter().map(|part| part.model.tally());
        let own = DriveTally {
            member_reads: self.reads,
            member_writes: self.writes,
            ..DriveTally::default()
        };
        all.fold(own, DriveTally::plus)
    }

    /// Returns how many pieces were with the members at once, at most.
    #[cfg(test)]
    pub(super) fn most(&self) -> usize {
        self.sent.most()
    }
}

/// The time of what does not happen.
const NEVER: u64 = u64::MAX;

/// When something happens next at `model`.
fn next_ns(model: &impl Model) -> u64 {
    model.next_ns().unwrap_or(NEVER)
}

/// The order of what is sent at once.
fn rank(action: CommandKind) -> u8 {
    match action {
        CommandKind::Read => 0,
        CommandKind::Write { fua: false } => 1,
        CommandKind::Write { fua: true } => 2,
        CommandKind::Discard => 3,
        CommandKind::Flush => 4,
    }
}
