//! An image's file as it is after the replay of its log, which is kept in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use device::{Disk, ReadError, disk};
use units::ByteRange;

use crate::image::guest::read_padded;

/// Bytes that a log brings to their places.
#[derive(Clone, PartialEq, Eq)]
pub struct Replay {
    /// Length of the file after the replay.
    file_bytes: u64,
    /// Disjoint changes: the end of each, by its start. Zeros where there are no bytes.
    changes: BTreeMap<u64, Change>,
}

#[derive(Clone, PartialEq, Eq)]
struct Change {
    end: u64,
    bytes: Option<Arc<[u8; 4096]>>,
}

impl Replay {
    /// No change of a file that has `file_bytes` after the replay.
    pub(super) fn new(file_bytes: u64) -> Replay {
        Replay { file_bytes, changes: BTreeMap::new() }
    }

    pub(super) fn put(&mut self, range: ByteRange, bytes: Box<[u8; 4096]>) {
        self.change(range, Some(bytes.into()));
    }

    pub(super) fn put_zeros(&mut self, range: ByteRange) {
        self.change(range, None);
    }

    /// Replaces what `range` held. Only zeros are ever cut: other changes are whole sectors.
    fn change(&mut self, range: ByteRange, bytes: Option<Arc<[u8; 4096]>>) {
        let (start, end) = (range.start_bytes(), range.end_bytes());
        self.cut(start);
        self.cut(end);
        let old: Vec<u64> = self.changes.range(start..end).map(|(&at, _)| at).collect();
        for at in old {
            self.changes.remove(&at);
        }
        self.changes.insert(start, Change { end, bytes });
    }

    /// Makes a change that goes across `at` two.
    fn cut(&mut self, at: u64) {
        let Some((_, change)) = self.changes.range_mut(..at).next_back() else { return };
        if change.end > at {
            let rest = change.clone();
            change.end = at;
            self.changes.insert(at, rest);
        }
    }

    /// Changes of the bytes from `start` to `end`.
    fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &Change)> {
        let changes = self.changes.range(..end).rev();
        changes.map(|(&at, change)| (at, change)).take_while(move |(_, one)| one.end > start)
    }

    /// Returns whether the log changes any byte from `start` to `end`.
    pub(super) fn changes(&self, start: u64, end: u64) -> bool {
        self.within(start, end).next().is_some()
    }
}

impl std::fmt::Debug for Replay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Replay({} changes)", self.changes.len())
    }
}

/// A file with its replay, if there is one.
pub(super) struct Replayed<'a> {
    pub(super) file: &'a dyn Disk,
    pub(super) replay: Option<&'a Replay>,
}

impl Disk for Replayed<'_> {
    fn length_bytes(&self) -> u64 {
        self.replay.map_or_else(|| self.file.length_bytes(), |replay| replay.file_bytes)
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let Some(replay) = self.replay else { return self.file.read_at(offset_bytes, buffer) };
        let length = disk::length_of(buffer);
        disk::check_bounds(replay.file_bytes, offset_bytes, length)?;
        read_padded(self.file, offset_bytes, buffer)?;
        let end = offset_bytes + length;
        for (at, change) in replay.within(offset_bytes, end) {
            let (first, last) = (at.max(offset_bytes), change.end.min(end));
            let place = |byte: u64, from: u64| usize::try_from(byte - from).unwrap_or(usize::MAX);
            let target = &mut buffer[place(first, offset_bytes)..place(last, offset_bytes)];
            match &change.bytes {
                Some(bytes) => target.copy_from_slice(&bytes[place(first, at)..place(last, at)]),
                None => target.fill(0),
            }
        }
        Ok(())
    }
}
