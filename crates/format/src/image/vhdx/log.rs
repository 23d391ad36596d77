//! The log: changes of the tables that a writer did not bring to their places yet.
//!
//! Whoever opens the file for writing replays the log first, so the tables are those after the
//! replay. A log that cannot be replayed makes every place unknown. Source: [MS-VHDX], section 2.3.

use device::{Disk, disk};
use units::ByteRange;

use super::header::{self, Header};
use super::replay::Replay;
use crate::bytes::{self, Block};

const SECTOR: usize = 4096;
const SECTOR_BYTES: u64 = 4096;
const ENTRY_HEAD: usize = 64;
const DESCRIPTOR: usize = 32;
/// Longest log that is read; Hyper-V and QEMU make logs of 1 MiB.
const LOG_BYTES_MAX: u64 = 32 << 20;
/// Longest file that a replay may make.
const FILE_BYTES_MAX: u64 = 1 << 60;
/// Number of times that each byte of the log may be summed: forged entries may overlap.
const SUMS_MAX: usize = 4;

/// Changes that the log of `header` holds; `None` where it is empty.
pub(super) fn read(file: &dyn Disk, header: &Header) -> Result<Option<Replay>, String> {
    let id = header.array::<48, 16>();
    if id == [0; 16] {
        return Ok(None);
    }
    let version = header.le16::<64>();
    if version != 0 {
        return Err(format!("the log must be replayed, and its version {version} is not known"));
    }
    let range = ByteRange::new(header.le64::<72>(), u64::from(header.le32::<68>()));
    let range = range.ok_or("the log must be replayed, and its place is impossible")?;
    if range.length_bytes() > LOG_BYTES_MAX || !range.length_bytes().is_multiple_of(SECTOR_BYTES) {
        let length = range.length_bytes();
        return Err(format!("the log must be replayed, and its length of {length} is impossible"));
    }
    let bytes = disk::read_vec(file, range.start_bytes(), range.length_bytes())
        .map_err(|error| format!("the log must be replayed, and cannot be read: {error}"))?;
    let mut log = Log { sectors: bytes.as_chunks().0, id, sums: SUMS_MAX * bytes.len() };
    let entries = log.active()?;
    log.replay(&entries, file.length_bytes()).map(Some)
}

/// A ring of sectors.
struct Log<'a> {
    sectors: &'a [[u8; SECTOR]],
    id: [u8; 16],
    /// Number of bytes that may still be summed.
    sums: usize,
}

/// An entry whose checksum is right.
#[derive(Clone, Copy)]
struct Entry {
    /// Sector of the log where it starts.
    at: usize,
    sectors: usize,
    sequence: u64,
    /// Sector of the log where the oldest entry of its time starts.
    tail: usize,
    descriptors: usize,
    /// Length of the file that was safe on the disk.
    flushed_bytes: u64,
    /// Length of the file that holds all that was allocated.
    file_bytes: u64,
}

impl Log<'_> {
    /// Entries to replay, the oldest first: those of the newest complete sequence.
    fn active(&mut self) -> Result<Vec<Entry>, String> {
        let mut newest: Vec<Entry> = Vec::new();
        let mut highest = 0;
        let mut at = 0;
        while at < self.sectors.len() {
            let sequence = self.sequence(at)?;
            let Some(head) = sequence.last().copied() else {
                at += 1;
                continue;
            };
            highest = highest.max(head.sequence);
            at += sequence.iter().map(|entry| entry.sectors).sum::<usize>();
            let tail = sequence.iter().position(|entry| entry.at == head.tail);
            let is_newer = newest.last().is_none_or(|last| last.sequence < head.sequence);
            if let (Some(tail), true) = (tail, is_newer) {
                newest = sequence[tail..].to_vec();
            }
        }
        match newest.last() {
            None => Err("the log must be replayed, and holds no complete entry".to_owned()),
            Some(head) if head.sequence < highest => {
                Err(format!("the log must be replayed, and lacks the entries before {highest}"))
            }
            Some(_) => Ok(newest),
        }
    }

    /// Entries from sector `at` on that follow each other without a gap.
    fn sequence(&mut self, at: usize) -> Result<Vec<Entry>, String> {
        let mut found: Vec<Entry> = Vec::new();
        let (mut next, mut used) = (at, 0);
        while let Some(entry) = self.entry(next)? {
            let follows = found
                .last()
                .is_none_or(|last| last.sequence.checked_add(1) == Some(entry.sequence));
            used += entry.sectors;
            if !follows || used > self.sectors.len() {
                break;
            }
            found.push(entry);
            next = (next + entry.sectors) % self.sectors.len();
        }
        Ok(found)
    }

    /// The sector number `index` from sector `at` of the ring on.
    fn sector(&self, at: usize, index: usize) -> &[u8; SECTOR] {
        &self.sectors[(at + index) % self.sectors.len()]
    }

    /// The entry at sector `at`; `None` where there is no complete one of this log.
    fn entry(&mut self, at: usize) -> Result<Option<Entry>, String> {
        let Some(head) = bytes::block::<ENTRY_HEAD>(self.sector(at, 0)) else { return Ok(None) };
        let length = usize::try_from(head.le32::<8>()).unwrap_or(usize::MAX);
        let descriptors = usize::try_from(head.le32::<24>()).unwrap_or(usize::MAX);
        let tail = usize::try_from(head.le32::<12>()).unwrap_or(usize::MAX);
        let is_ours = head.array::<0, 4>() == *b"loge"
            && head.array::<32, 16>() == self.id
            && head.le64::<16>() > 0;
        let is_whole = length > 0
            && length.is_multiple_of(SECTOR)
            && length.div_euclid(SECTOR) <= self.sectors.len()
            && descriptors <= length.div_euclid(DESCRIPTOR)
            && tail.is_multiple_of(SECTOR);
        if !is_ours || !is_whole {
            return Ok(None);
        }
        let entry = Entry {
            at,
            sectors: length.div_euclid(SECTOR),
            sequence: head.le64::<16>(),
            tail: tail.div_euclid(SECTOR),
            descriptors,
            flushed_bytes: head.le64::<48>(),
            file_bytes: head.le64::<56>(),
        };
        self.sums = self
            .sums
            .checked_sub(length)
            .ok_or("the log must be replayed, and its entries overlap")?;
        let pieces = (0..entry.sectors).map(|index| &self.sector(at, index)[..]);
        Ok((header::sum(pieces) == head.le32::<4>()).then_some(entry))
    }

    /// Applies `entries` to a file of `file_bytes`.
    fn replay(&self, entries: &[Entry], file_bytes: u64) -> Result<Replay, String> {
        let newest = entries.last().ok_or("the log must be replayed, and is empty")?;
        if file_bytes < newest.flushed_bytes {
            return Err(format!(
                "the log must be replayed, and the file has {file_bytes} bytes of {}",
                newest.flushed_bytes
            ));
        }
        if newest.file_bytes > FILE_BYTES_MAX {
            let length = newest.file_bytes;
            return Err(format!("the log must be replayed, and names a file of {length} bytes"));
        }
        let mut replay = Replay::new(newest.file_bytes.max(file_bytes));
        for entry in entries {
            self.apply(entry, &mut replay).ok_or_else(|| {
                format!("the log must be replayed, and its entry {} is damaged", entry.sequence)
            })?;
        }
        Ok(replay)
    }

    /// Applies one entry; `None` where a descriptor or its data is not allowed.
    fn apply(&self, entry: &Entry, replay: &mut Replay) -> Option<()> {
        let mut data = (ENTRY_HEAD + entry.descriptors * DESCRIPTOR).div_ceil(SECTOR);
        for number in 0..entry.descriptors {
            let at = ENTRY_HEAD + number * DESCRIPTOR;
            let sector = self.sector(entry.at, at.div_euclid(SECTOR));
            let descriptor: Block<DESCRIPTOR> = bytes::block_at(sector, at % SECTOR)?;
            let place = descriptor.le64::<16>();
            if descriptor.le64::<24>() != entry.sequence || !place.is_multiple_of(SECTOR_BYTES) {
                return None;
            }
            match &descriptor.array::<0, 4>() {
                b"zero" => {
                    let range = ByteRange::new(place, descriptor.le64::<8>())?;
                    range.length_bytes().is_multiple_of(SECTOR_BYTES).then_some(())?;
                    replay.put_zeros(range);
                }
                b"desc" if data < entry.sectors => {
                    let bytes = whole(&descriptor, self.sector(entry.at, data), entry.sequence)?;
                    replay.put(ByteRange::new(place, SECTOR_BYTES)?, bytes);
                    data += 1;
                }
                _ => return None,
            }
        }
        Some(())
    }
}

/// The sector that a data descriptor and its data sector hold together; `None` where the data
/// sector belongs to another entry.
fn whole(
    descriptor: &Block<DESCRIPTOR>,
    data: &[u8; SECTOR],
    sequence: u64,
) -> Option<Box<[u8; SECTOR]>> {
    let stored = Block(*data);
    let number = u64::from(stored.le32::<4>()) << 32 | u64::from(stored.le32::<4092>());
    if stored.array::<0, 4>() != *b"data" || number != sequence {
        return None;
    }
    let mut bytes = Box::new(*data);
    bytes[..8].copy_from_slice(&descriptor.array::<8, 8>());
    bytes[4092..].copy_from_slice(&descriptor.array::<4, 4>());
    Some(bytes)
}
