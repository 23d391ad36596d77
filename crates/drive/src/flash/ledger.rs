//! Origin of the bytes in each page, for power cuts: kept only if somebody asks.
//!
//! The drive itself counts bytes and does not care whose they are. Whole units enter the buffer one
//! behind the other and leave it page by page; parts of units wait to be joined, or enter it when
//! the rest was read. A unit is written elsewhere and its address changed then:
//! until its page is programmed all of it is as it was.

use std::collections::{BTreeMap, VecDeque};

use units::ByteRange;

use super::partial_units::UnitPart;
use crate::power::{Data, MediumLog, MediumPass};

/// The bytes `part` of the write with this number.
#[derive(Clone, Copy, Debug)]
struct WritePiece {
    write: usize,
    part: UnitPart,
}

/// The log, and what is to be put into it.
#[derive(Clone, Debug)]
pub(super) struct FlashLedger {
    pub(super) log: MediumLog,
    /// By how much the flash's addresses are above the host's.
    shift_bytes: u64,
    unit_bytes: u64,
    /// The write that is taken.
    write: Option<usize>,
    /// Units in the buffer, each with what it holds and with how many bytes entered until then.
    buffered: VecDeque<(u64, Vec<WritePiece>)>,
    entered_bytes: u64,
    programmed_bytes: u64,
    /// Parts of units that wait for the rest.
    kept: BTreeMap<u64, Vec<WritePiece>>,
}

impl FlashLedger {
    /// An empty ledger with an empty `log`, for units of so many bytes.
    pub(super) fn new(log: MediumLog, shift_bytes: u64, unit_bytes: u64) -> FlashLedger {
        FlashLedger {
            log,
            shift_bytes,
            unit_bytes,
            write: None,
            buffered: VecDeque::new(),
            entered_bytes: 0,
            programmed_bytes: 0,
            kept: BTreeMap::new(),
        }
    }

    /// The write called `id` is taken; its data are there at `at_ns`.
    pub(super) fn takes(&mut self, id: u64, is_cached: bool, at_ns: u64) {
        self.write = self.log.sent(id);
        self.log.arrived(id, is_cached, at_ns);
        self.log.ended(id);
    }

    /// The write has `part` of a unit, which waits for the rest.
    pub(super) fn keep(&mut self, part: UnitPart) {
        let piece = self.piece(part);
        self.kept.entry(part.unit).or_default().extend(piece);
    }

    /// The write has `part` of a unit which enters the buffer with it, and with what was kept of
    /// it.
    pub(super) fn enter(&mut self, part: UnitPart) {
        let piece = self.piece(part);
        let mut pieces = self.kept.remove(&part.unit).unwrap_or_default();
        pieces.extend(piece);
        self.enter_pieces(pieces);
    }

    /// Forgets what is kept of the units from `first` to `last`.
    pub(super) fn forget(&mut self, first: u64, last: u64) {
        let gone: Vec<u64> = self.kept.range(first..=last).map(|(unit, _)| *unit).collect();
        for unit in gone {
            self.kept.remove(&unit);
        }
    }

    /// Moves what is kept of `unit` into the buffer: the rest of it was read.
    pub(super) fn join(&mut self, unit: u64) {
        let pieces = self.kept.remove(&unit).unwrap_or_default();
        self.enter_pieces(pieces);
    }

    fn enter_pieces(&mut self, pieces: Vec<WritePiece>) {
        self.entered_bytes += self.unit_bytes;
        self.buffered.push_back((self.entered_bytes, pieces));
    }

    /// A page of so many bytes is programmed, with the units that end in it.
    pub(super) fn program(&mut self, bytes: u64, times: (u64, u64)) {
        // The last page before a flush is not full.
        self.programmed_bytes = (self.programmed_bytes + bytes).min(self.entered_bytes);
        while self.buffered.front().is_some_and(|(end, _)| *end <= self.programmed_bytes) {
            for piece in self.buffered.pop_front().map(|(_, pieces)| pieces).unwrap_or_default() {
                self.put(piece, times);
            }
        }
    }

    fn piece(&self, part: UnitPart) -> Option<WritePiece> {
        self.write.map(|write| WritePiece { write, part })
    }

    fn put(&mut self, piece: WritePiece, times: (u64, u64)) {
        let UnitPart { unit, from, upto } = piece.part;
        let range = ByteRange::new(from - self.shift_bytes, upto - from);
        let range = range.expect("bytes of the drive");
        let span = MediumPass { first: unit, sectors: 1, from_ns: times.0, to_ns: times.1 };
        self.log.put(Data::Write(piece.write), range, times, &[span], false);
    }
}
