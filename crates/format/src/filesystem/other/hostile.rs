//! For tests only: every byte of a superblock changed, every length cut, and an answer each time.

use std::ops::Range;

use device::{Disk, MemoryDisk, ReadError, disk};

use crate::Parsed;
use crate::filesystem::{FileSystem, Heads};

/// A disk that ends early.
struct Cut<'a> {
    whole: &'a MemoryDisk,
    length_bytes: u64,
}

impl Disk for Cut<'_> {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        disk::check_bounds(self.length_bytes, offset_bytes, disk::length_of(buffer))?;
        self.whole.read_at(offset_bytes, buffer)
    }
}

/// Asks `read` about `whole` with each byte of `region` set to four values, and cut at each of
/// them. What is answered is not judged; a panic fails the test.
pub(super) fn answers_whatever_stands_in(
    whole: &MemoryDisk,
    region: Range<u64>,
    read: fn(&Heads<'_>) -> Option<Parsed<FileSystem>>,
) {
    for at in region {
        for value in [0, 1, 0x7f, 0xff] {
            let mut changed = whole.clone();
            changed.put(at, &[value]);
            let _ = read(&Heads::new(&changed));
        }
        let _ = read(&Heads::new(&Cut { whole, length_bytes: at }));
    }
}
