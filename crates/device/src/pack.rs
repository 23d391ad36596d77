//! Disks as small files: only the sectors that hold something.
//!
//! A real disk's head is mostly zeros, and tests and fuzzers want many of them. A packed disk is
//! the disk's length in bytes (64 bits), then records: a sector's number (64 bits), how many
//! sectors follow (16 bits), and their bytes. Sectors have 512 bytes here, whatever the disk's
//! have; numbers are little-endian. Sectors that no record holds are zeros.
//!
//! Every run of at least eight bytes unpacks to some disk, so that a fuzzer's changes are seldom
//! lost: a record that is cut short holds what is there, one past the disk's end is dropped, and
//! of two that hold the same sector the later counts.

use units::ByteRange;

use crate::disk::{self, Disk, ReadError};
use crate::memory_disk::MemoryDisk;

/// The largest packed disk that [`unpack`] accepts, in bytes: 16 MiB.
const PACKED_BYTES_MAX: usize = 16 << 20;

const SECTOR: usize = 512;
const SECTOR_BYTES: u64 = 512;
const PIECE: usize = 128 * SECTOR;
const PIECE_BYTES: u64 = 128 * SECTOR_BYTES;
const RECORD_SECTORS_MAX: usize = 0xffff;

/// All of `disk` packed. It reads every byte of it.
///
/// # Errors
/// When the disk cannot be read.
pub fn pack(disk: &dyn Disk) -> Result<Vec<u8>, ReadError> {
    pack_ends(disk, disk.length_bytes(), 0)
}

/// `disk` packed as if all but its first `head_bytes` and its last `tail_bytes` were zeros; both
/// are rounded up to whole sectors. It reads no other bytes.
///
/// # Errors
/// When the disk cannot be read.
pub fn pack_ends(disk: &dyn Disk, head_bytes: u64, tail_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let length_bytes = disk.length_bytes();
    let head_end = round_up(head_bytes).min(length_bytes);
    let tail_bytes = round_up(tail_bytes).min(length_bytes - head_end);
    let tail_start = match tail_bytes {
        0 => length_bytes,
        _ => (length_bytes - tail_bytes).div_euclid(SECTOR_BYTES) * SECTOR_BYTES,
    };
    let mut packed = Packed { bytes: length_bytes.to_le_bytes().to_vec(), open: None };
    for (start, end) in [(0, head_end), (tail_start.max(head_end), length_bytes)] {
        let mut at_bytes = start;
        while at_bytes < end {
            let length = (end - at_bytes).min(PIECE_BYTES);
            let mut piece = [0; PIECE];
            let piece = &mut piece[..usize::try_from(length).expect("at most a piece")];
            disk.read_at(at_bytes, piece)?;
            packed.add(at_bytes.div_euclid(SECTOR_BYTES), piece);
            at_bytes += length;
        }
    }
    Ok(packed.bytes)
}

fn round_up(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(SECTOR_BYTES).unwrap_or(u64::MAX)
}

/// Records as they grow.
struct Packed {
    bytes: Vec<u8>,
    open: Option<Record>,
}

/// The record that may still grow.
#[derive(Clone, Copy)]
struct Record {
    count_at: usize,
    sectors: usize,
    next: u64,
}

impl Packed {
    /// Adds the sectors of `piece` that hold something; the first is number `sector`.
    fn add(&mut self, sector: u64, piece: &[u8]) {
        for (number, bytes) in (sector..).zip(piece.chunks(SECTOR)) {
            if bytes == &[0; SECTOR][..bytes.len()] {
                continue;
            }
            let record = match self.open {
                Some(open) if open.next == number && open.sectors < RECORD_SECTORS_MAX => open,
                _ => self.record(number),
            };
            self.bytes.extend_from_slice(bytes);
            self.bytes.resize(self.bytes.len() + SECTOR - bytes.len(), 0);
            let sectors = record.sectors + 1;
            let count = u16::try_from(sectors).expect("a record's bound");
            self.bytes[record.count_at..record.count_at + 2].copy_from_slice(&count.to_le_bytes());
            self.open = Some(Record { sectors, next: number + 1, ..record });
        }
    }

    fn record(&mut self, sector: u64) -> Record {
        self.bytes.extend_from_slice(&sector.to_le_bytes());
        let count_at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 2]);
        Record { count_at, sectors: 0, next: sector }
    }
}

/// The disk that `packed` holds; `None` when it has fewer than 8 bytes or more than 16 MiB.
#[must_use]
pub fn unpack(packed: &[u8]) -> Option<MemoryDisk> {
    let (length_bytes, records) = length_and_records(packed)?;
    let mut disk = MemoryDisk::new(length_bytes);
    for (range, bytes) in records {
        let length = usize::try_from(range.length_bytes()).ok()?;
        disk.put(range.start_bytes(), &bytes[..length.min(bytes.len())]);
    }
    Some(disk)
}

/// Returns the ranges of `packed` that hold bytes, in the order of its records; empty where
/// [`unpack`] gives `None`.
#[must_use]
pub fn ranges(packed: &[u8]) -> Vec<ByteRange> {
    let records = length_and_records(packed).map(|(_, records)| records);
    records.into_iter().flatten().map(|(range, _)| range).collect()
}

/// A range that is held, and its bytes: up to a sector more where the disk ends within one.
type Held<'a> = (ByteRange, &'a [u8]);

/// The disk's length, and the records that hold at least one byte of it.
fn length_and_records(packed: &[u8]) -> Option<(u64, Vec<Held<'_>>)> {
    if packed.len() > PACKED_BYTES_MAX {
        return None;
    }
    let (length, mut rest) = packed.split_first_chunk::<8>()?;
    let length_bytes = u64::from_le_bytes(*length);
    let mut records = Vec::new();
    while let Some((sector, behind)) = rest.split_first_chunk::<8>() {
        let Some((count, behind)) = behind.split_first_chunk::<2>() else { break };
        let take = usize::from(u16::from_le_bytes(*count)) * SECTOR;
        let (bytes, behind) = behind.split_at(take.min(behind.len()));
        rest = behind;
        let start = u64::from_le_bytes(*sector).checked_mul(SECTOR_BYTES);
        let room = start.and_then(|start| length_bytes.checked_sub(start)).unwrap_or(0);
        let held = room.min(disk::length_of(bytes));
        if let Some(range) = start.and_then(|start| ByteRange::new(start, held))
            && held > 0
        {
            records.push((range, bytes));
        }
    }
    Some((length_bytes, records))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> MemoryDisk {
        let mut disk = MemoryDisk::new((3 << 20) + 100);
        disk.put(510, &[1, 2, 3, 4]);
        disk.put(1 << 20, &[5; 70_000]);
        disk.put((3 << 20) + 96, &[6; 4]);
        disk
    }

    #[test]
    fn a_disk_with_an_odd_length_comes_back_byte_for_byte() {
        let disk = sample();
        let packed = pack(&disk).unwrap();
        let again = unpack(&packed).unwrap();
        assert_eq!(
            disk::read_vec(&again, 0, again.length_bytes()),
            disk::read_vec(&disk, 0, disk.length_bytes())
        );
        assert!(packed.len() < 73_000, "{} bytes", packed.len());
        let held: Vec<(u64, u64)> =
            ranges(&packed).iter().map(|held| (held.start_bytes(), held.length_bytes())).collect();
        assert_eq!(held, [(0, 1024), (1 << 20, 70_144), (3 << 20, 100)]);
    }

    #[test]
    fn the_middle_is_left_out_when_only_the_ends_are_asked_for() {
        let packed = pack_ends(&sample(), 1000, 100).unwrap();
        let starts: Vec<u64> = ranges(&packed).iter().map(|range| range.start_bytes()).collect();
        assert_eq!(starts, [0, 3 << 20]);
        assert_eq!(unpack(&packed).unwrap().length_bytes(), (3 << 20) + 100);
        assert_eq!(pack_ends(&sample(), u64::MAX, u64::MAX), pack(&sample()));
    }

    #[test]
    fn any_cut_of_a_packed_disk_unpacks_to_a_disk() {
        let packed = pack(&sample()).unwrap();
        for length in (0..packed.len()).step_by(7).chain(0..2000) {
            assert_eq!(unpack(&packed[..length]).is_some(), length >= 8, "{length}");
        }
    }

    #[test]
    fn records_behind_the_end_or_beyond_64_bits_are_dropped() {
        let mut packed = 1000_u64.to_le_bytes().to_vec();
        for sector in [2_u64, u64::MAX, u64::MAX.div_euclid(512), 1] {
            packed.extend_from_slice(&sector.to_le_bytes());
            packed.extend_from_slice(&1_u16.to_le_bytes());
            packed.extend_from_slice(&[7; 512]);
        }
        let disk = unpack(&packed).unwrap();
        assert_eq!(disk.read_array::<488>(512).unwrap(), [7; 488]);
        assert_eq!(disk.read_array::<512>(0).unwrap(), [0; 512]);
    }

    #[test]
    fn too_large_a_file_is_refused() {
        assert!(unpack(&vec![0; PACKED_BYTES_MAX + 1]).is_none());
    }
}
