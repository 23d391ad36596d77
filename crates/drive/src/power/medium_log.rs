//! Work of a drive: what came into it, what it put on the medium, and when.
//!
//! A model fills it; the writes are numbered as the host's log numbers them, in the order in which
//! they were sent.

use std::ops::Range;

use units::ByteRange;

use super::Sectors;
use crate::DriveCommand;

/// An arrival in the drive, in the order of taking; where parts of a drive work side by side, a
/// later one can be there before an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// A write whose data is in the cache, over what was there of the same bytes.
    Cached(usize),
    /// A write that goes to the medium by itself. What the cache has of its bytes is forgotten.
    Through(usize),
    /// A discard: what the cache has of these bytes is forgotten.
    Dropped(ByteRange),
}

/// Whose data was put on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// That of the command called so, which has arrived and has not ended.
    Command(u64),
    /// That of the write with this number, which has arrived. Where the medium has a later one
    /// already it stays: a mapping knows which is newer.
    Write(usize),
    /// Content of the cache: of each sector the newest.
    Cached,
}

/// A pass over physical sectors that wrote them, in equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumPass {
    /// The first; where the origin is not 0, number 0 is the piece before it.
    pub first: u64,
    /// Number of sectors.
    pub sectors: u64,
    /// When the first began.
    pub from_ns: u64,
    /// When the last had ended.
    pub to_ns: u64,
}

/// Bytes that were put on the medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Put {
    /// The write whose data it is; `None` for what the cache had.
    pub(super) write: Option<usize>,
    /// The bytes the host had sent; the rest of their physical sectors is rewritten as it was.
    pub(super) range: ByteRange,
    /// Number of arrivals when the data was taken.
    pub(super) upto: usize,
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    /// Range of the log's spans; without any, nothing is there until `to_ns`.
    pub(super) spans: Range<usize>,
    /// True if parts of sectors are in a buffer that does not forget.
    pub(super) is_buffered: bool,
    /// True if what is there of a later write stays.
    pub(super) is_mapped: bool,
}

/// Work of a drive, in order.
///
/// It holds as many entries as it was made for, each of at most 80 bytes; then it stops and is
/// [`MediumLog::is_full`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediumLog {
    sectors: Sectors,
    capacity_bytes: u64,
    arrivals: Vec<(u64, Arrived)>,
    puts: Vec<Put>,
    spans: Vec<MediumPass>,
    /// Writes that have not ended: what the command is called, and its number.
    flying: Vec<(u64, usize)>,
    writes: usize,
    entries_max: usize,
    is_full: bool,
}

impl MediumLog {
    /// An empty log of a drive of `capacity_bytes`, for at most `entries_max` entries. `sectors` is
    /// what it truly reads and writes as one, whatever it reports.
    #[must_use]
    pub fn new(sectors: Sectors, capacity_bytes: u64, entries_max: usize) -> MediumLog {
        MediumLog {
            sectors,
            capacity_bytes,
            arrivals: Vec::new(),
            puts: Vec::new(),
            spans: Vec::new(),
            flying: Vec::new(),
            writes: 0,
            entries_max,
            is_full: false,
        }
    }

    /// Returns what the drive reads and writes as one.
    #[must_use]
    pub fn sectors(&self) -> Sectors {
        self.sectors
    }

    /// Returns whether something was not written down because there was no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns how many logical sectors there are.
    pub(super) fn capacity_lbas(&self) -> u64 {
        self.capacity_bytes / self.sectors.logical_bytes
    }

    pub(super) fn arrivals(&self) -> &[(u64, Arrived)] {
        &self.arrivals
    }

    pub(super) fn puts(&self) -> &[Put] {
        &self.puts
    }

    pub(super) fn spans(&self, put: &Put) -> &[MediumPass] {
        &self.spans[put.spans.clone()]
    }

    fn has_room(&mut self, entries: usize) -> bool {
        let all = self.arrivals.len() + self.puts.len() + self.spans.len() + entries;
        self.is_full |= all > self.entries_max;
        !self.is_full
    }

    /// The number of the write that is called `id`.
    fn number(&self, id: u64) -> Option<usize> {
        self.flying.iter().find(|(flying, _)| *flying == id).map(|(_, number)| *number)
    }

    /// A write that the drive does not refuse was sent; its number. A full log takes no more
    /// notice.
    pub fn sent(&mut self, id: u64) -> Option<usize> {
        if self.is_full {
            return None;
        }
        self.flying.push((id, self.writes));
        self.writes += 1;
        Some(self.writes - 1)
    }

    /// A write's data is in the drive: in its cache, or to go to the medium by itself.
    pub fn arrived(&mut self, id: u64, is_cached: bool, at_ns: u64) {
        if let Some(number) = self.number(id)
            && self.has_room(1)
        {
            let arrived = match is_cached {
                true => Arrived::Cached(number),
                false => Arrived::Through(number),
            };
            self.arrivals.push((at_ns, arrived));
        }
    }

    /// A discard took effect: the cache has nothing of `range` any more.
    pub fn dropped(&mut self, range: ByteRange, at_ns: u64) {
        if self.has_room(1) {
            self.arrivals.push((at_ns, Arrived::Dropped(range)));
        }
    }

    /// From `from_ns` to `to_ns` the drive puts `range` on the medium, in these spans.
    /// `is_buffered` is whether parts of physical sectors outlast a cut by themselves.
    ///
    /// Puts of the same bytes must come in the order in which they take effect.
    pub fn put(
        &mut self,
        data: Data,
        range: ByteRange,
        (from_ns, to_ns): (u64, u64),
        spans: &[MediumPass],
        is_buffered: bool,
    ) {
        let write = match data {
            Data::Command(id) => self.number(id),
            Data::Write(number) => Some(number),
            Data::Cached => None,
        };
        if (write.is_none() && data != Data::Cached) || !self.has_room(1 + spans.len()) {
            return;
        }
        let first = self.spans.len();
        self.spans.extend_from_slice(spans);
        let (spans, upto) = (first..self.spans.len(), self.arrivals.len());
        let is_mapped = matches!(data, Data::Write(_));
        self.puts.push(Put { write, range, upto, from_ns, to_ns, spans, is_buffered, is_mapped });
    }

    /// A write was sent and is put on the medium in these spans, from the first time to the second,
    /// without a cache before it.
    pub(crate) fn written(
        &mut self,
        command: &DriveCommand,
        times: (u64, u64),
        spans: &[MediumPass],
    ) {
        if let (Some(range), Some(number)) = (command.range(), self.sent(command.id)) {
            self.arrived(command.id, false, times.0);
            self.put(Data::Write(number), range, times, spans, false);
            self.ended(command.id);
        }
    }

    /// A write has ended; its name is free.
    pub fn ended(&mut self, id: u64) {
        self.flying.retain(|(flying, _)| *flying != id);
    }
}
