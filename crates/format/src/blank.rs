//! Tells blank disks from written ones, as far as a few reads can tell.

use device::{Disk, ReadError};

/// Bytes of the start and of the end that are read.
const ENDS_BYTES: u64 = 1 << 20;

/// In how many places between them something is read.
const SAMPLES: u64 = 64;

/// Bytes that are read at once.
const PIECE_BYTES: u64 = 4096;

/// Bytes that are read at each place between the ends.
const SAMPLE_BYTES: u64 = 4096;

/// Returns whether the first and last MiB of `disk`, and 64 places spread between them, are all
/// zeros.
///
/// # Errors
/// Same as [`Disk::read_at`]: what cannot be read is not blank.
pub fn is_blank(disk: &dyn Disk) -> Result<bool, ReadError> {
    let length = disk.length_bytes();
    let last = length.saturating_sub(ENDS_BYTES).max(ENDS_BYTES.min(length));
    let between = last.saturating_sub(ENDS_BYTES.min(length));
    let step = between.div_euclid(SAMPLES) & !(SAMPLE_BYTES - 1);
    let count = if step == 0 { 0 } else { SAMPLES };
    let samples = (0..count).map(|number| (ENDS_BYTES + number * step, SAMPLE_BYTES));
    let head = pieces(0, ENDS_BYTES.min(length));
    // A disk without samples is so short that all of it is read.
    let from = if step == 0 { ENDS_BYTES.min(length) } else { last };
    let tail = pieces(from, length - from);
    let zeros = vec![0_u8; usize::try_from(PIECE_BYTES).unwrap_or(0)];
    let mut buffer = zeros.clone();
    for (at, bytes) in head.chain(tail).chain(samples) {
        let part = usize::try_from(bytes).ok().and_then(|bytes| buffer.get_mut(..bytes));
        let Some(part) = part else { return Ok(false) };
        disk.read_at(at, part)?;
        if !zeros.starts_with(part) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `bytes` from `start` on, in pieces.
fn pieces(start: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..bytes.div_ceil(PIECE_BYTES)).map(move |number| {
        let done = number * PIECE_BYTES;
        (start + done, (bytes - done).min(PIECE_BYTES))
    })
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    #[test]
    fn zeros_of_any_length_are_blank() {
        for length in [0, 1, 4095, 1 << 20, (1 << 20) + 1, (2 << 20) + 4097, 1 << 30, 1 << 50] {
            assert_eq!(is_blank(&MemoryDisk::new(length)), Ok(true), "{length}");
        }
    }

    #[test]
    fn one_byte_at_either_end_of_a_disk_is_seen() {
        for length in [1, 4095, 1 << 20, (1 << 20) + 1, (2 << 20) + 4097, 1 << 30] {
            for at in [0, length - 1, length.min(1 << 20) - 1, length - length.min(1 << 20)] {
                let mut disk = MemoryDisk::new(length);
                disk.put(at, &[1]);
                assert_eq!(is_blank(&disk), Ok(false), "byte {at} of {length}");
            }
        }
    }

    #[test]
    fn every_byte_of_a_short_disk_is_looked_at() {
        let length = (2 << 20) + (200 << 10);
        for at in (0..length).step_by(4099) {
            let mut disk = MemoryDisk::new(length);
            disk.put(at, &[1]);
            assert_eq!(is_blank(&disk), Ok(false), "byte {at}");
        }
    }

    #[test]
    fn a_written_run_in_the_middle_is_seen() {
        let mut disk = MemoryDisk::new(1 << 30);
        disk.put(512 << 20, &vec![7; 32 << 20]);
        assert_eq!(is_blank(&disk), Ok(false));
    }
}
