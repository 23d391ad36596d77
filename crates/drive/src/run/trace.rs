//! A recorded workload, done again.

use std::collections::BTreeMap;

use workload::trace::{TraceAction as Recorded, TraceEntry, TraceTarget};

use super::source::{CommandPart, OperationSource};
use crate::CommandKind;

/// Layout of a trace's files and devices on a drive.
///
/// One alone keeps its addresses. Several lie one behind the other, each from a multiple of 1 MiB,
/// in the order of their numbers, so that the trace's own distances stay within each.
#[derive(Clone, Debug, Default)]
pub struct TraceLayout {
    /// End of the operations on each file, and then its first byte on the drive.
    places: BTreeMap<TraceTarget, u64>,
    bytes: u64,
}

/// Between two files or devices.
const APART_BYTES: u64 = 1 << 20;

impl TraceLayout {
    /// The layout of everything that `entries` name. Memory: a few words for each file.
    pub fn of(entries: impl Iterator<Item = TraceEntry>) -> TraceLayout {
        let mut reach: BTreeMap<TraceTarget, u64> = BTreeMap::new();
        for entry in entries {
            // With the length at most 2^63.
            let end = entry.offset_bytes + u64::from(entry.length_bytes);
            let reached = reach.entry(entry.target).or_default();
            *reached = (*reached).max(end);
        }
        let mut bytes: u64 = 0;
        for place in reach.values_mut() {
            let length = place.div_ceil(APART_BYTES).saturating_mul(APART_BYTES);
            *place = bytes;
            bytes = bytes.saturating_add(length);
        }
        TraceLayout { places: reach, bytes }
    }

    /// Returns how much of a drive it needs, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns how many files or devices there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.places.len()
    }
}

/// A trace, replayed as fast as the drive goes, or with [`TraceReplay::timed`] at its own times.
/// A sync becomes a flush.
#[derive(Clone, Debug)]
pub struct TraceReplay<'a, I> {
    entries: I,
    /// The next entry.
    ahead: Option<TraceEntry>,
    layout: &'a TraceLayout,
    start_bytes: u64,
    sector_bytes: u64,
    widened: u64,
    /// The time of the first entry, where times are kept.
    first_ns: Option<u64>,
    /// True if what comes after a read waits for it.
    reads_in_turn: bool,
}

impl<'a, I: Iterator<Item = TraceEntry>> TraceReplay<'a, I> {
    /// `entries` on a drive with sectors of `sector_bytes`, where `layout` puts them behind
    /// `start_bytes`.
    pub fn new(
        mut entries: I,
        layout: &'a TraceLayout,
        start_bytes: u64,
        sector_bytes: u64,
    ) -> TraceReplay<'a, I> {
        let (ahead, sector_bytes) = (entries.next(), sector_bytes.max(1));
        TraceReplay {
            entries,
            ahead,
            layout,
            start_bytes,
            sector_bytes,
            widened: 0,
            first_ns: None,
            reads_in_turn: false,
        }
    }

    /// The same with the trace's own times: an operation arrives as long after the first as it did.
    /// One without a time, or earlier than the first, comes at once.
    #[must_use]
    pub fn timed(mut self) -> TraceReplay<'a, I> {
        self.first_ns = self.ahead.and_then(|entry| entry.at_ns);
        self
    }

    /// The same, where what comes after a read waits for it: a program reads one file after
    /// another, and the kernel writes beside.
    #[must_use]
    pub fn reads_in_turn(self) -> Self {
        TraceReplay { reads_in_turn: true, ..self }
    }

    /// Returns how many operations were made wider so that they are whole sectors, as a page cache
    /// does it.
    #[must_use]
    pub fn widened(&self) -> u64 {
        self.widened
    }

    /// The command for `entry`.
    fn piece(&mut self, entry: &TraceEntry) -> CommandPart {
        let action = match entry.action {
            Recorded::Read => CommandKind::Read,
            Recorded::Write { fua } => CommandKind::Write { fua },
            Recorded::Discard => CommandKind::Discard,
            Recorded::Flush | Recorded::Fsync | Recorded::Fdatasync => {
                return CommandPart {
                    action: CommandKind::Flush,
                    offset_bytes: 0,
                    length_bytes: 0,
                };
            }
        };
        let base = self.layout.places.get(&entry.target).copied().unwrap_or(0);
        let start = base.saturating_add(entry.offset_bytes);
        let end = start.saturating_add(entry.length_bytes.into());
        let first = start / self.sector_bytes * self.sector_bytes;
        let last = end.div_ceil(self.sector_bytes).saturating_mul(self.sector_bytes);
        self.widened += u64::from((first, last) != (start, end));
        let offset_bytes = self.start_bytes.saturating_add(first);
        CommandPart { action, offset_bytes, length_bytes: last - first }
    }
}

impl<I: Iterator<Item = TraceEntry>> OperationSource for TraceReplay<'_, I> {
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool {
        let Some(entry) = self.ahead.take() else { return false };
        self.ahead = self.entries.next();
        let piece = self.piece(&entry);
        pieces.push(piece);
        true
    }

    fn arrives_ns(&mut self) -> Option<u64> {
        let first_ns = self.first_ns?;
        self.ahead?.at_ns?.checked_sub(first_ns)
    }

    fn waits_for_reads(&self) -> bool {
        self.reads_in_turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::trace::DeviceNumber;

    fn entry(minor: u32, offset_bytes: u64, length_bytes: u32) -> TraceEntry {
        let target = TraceTarget::Device(DeviceNumber { major: 8, minor });
        TraceEntry { at_ns: None, action: Recorded::Read, target, offset_bytes, length_bytes }
    }

    #[test]
    fn one_device_keeps_its_addresses_and_several_lie_behind_each_other() {
        let one = [entry(0, 4096, 512)];
        let layout = TraceLayout::of(one.into_iter());
        let mut pieces = Vec::new();
        assert!(TraceReplay::new(one.into_iter(), &layout, 512, 512).next(&mut pieces));
        assert_eq!((pieces[0].offset_bytes, pieces[0].length_bytes), (4608, 512));

        let two = [entry(0, 0, 512), entry(16, 100, 10)];
        let layout = TraceLayout::of(two.into_iter());
        assert_eq!((layout.count(), layout.bytes()), (2, 2 << 20));
        let mut replay = TraceReplay::new(two.into_iter(), &layout, 0, 512);
        pieces.clear();
        while replay.next(&mut pieces) {}
        assert_eq!((pieces[1].offset_bytes, pieces[1].length_bytes), (1 << 20, 512));
        assert_eq!(replay.widened(), 1, "ten bytes became a sector");
    }
}
