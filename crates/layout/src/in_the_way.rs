//! Bytes that are not zero, or cannot be read, where nothing may be.

use device::{Disk, disk};
use units::ByteRange;

/// The most that is read at once, in bytes.
const CHUNK_BYTES: u64 = 1 << 20;

/// The first byte in the way of a partition, as seen from where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InTheWay {
    /// Its place on the disk.
    pub(crate) at_bytes: u64,
    /// False where it cannot be read.
    pub(crate) is_read: bool,
}

impl InTheWay {
    /// A reason, to follow "partition 1 stays: ".
    pub(crate) fn words(self) -> String {
        let what =
            if self.is_read { "bytes that are not zero" } else { "bytes that cannot be read" };
        format!("{what} are in the way, at byte {}", self.at_bytes)
    }
}

/// The first byte of `range` that is not zero or cannot be read; the last one where `from_end`.
pub(crate) fn used_byte(bytes: &dyn Disk, range: ByteRange, from_end: bool) -> Option<InTheWay> {
    let (mut start, mut end) = (range.start_bytes(), range.end_bytes());
    while start < end {
        let length = CHUNK_BYTES.min(end - start);
        let at = if from_end { end - length } else { start };
        let Ok(now) = disk::read_vec(bytes, at, length) else {
            let at_bytes = if from_end { end - 1 } else { start };
            return Some(InTheWay { at_bytes, is_read: false });
        };
        if !disk::is_filled_with(&now, 0) {
            let mut places = (at..).zip(&now).filter(|&(_, &byte)| byte != 0);
            let found = if from_end { places.last() } else { places.next() };
            return found.map(|(at_bytes, _)| InTheWay { at_bytes, is_read: true });
        }
        if from_end { end = at } else { start += length }
    }
    None
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    #[test]
    fn the_first_and_the_last_byte_of_a_range_are_in_the_way() {
        let range = ByteRange::new(4096, 3 << 20).expect("a range");
        let (start, end) = (range.start_bytes(), range.end_bytes());
        for (at, is_within) in [(start - 1, false), (start, true), (end - 1, true), (end, false)] {
            let mut disk = MemoryDisk::new(8 << 20);
            disk.put(at, &[1]);
            let found = is_within.then_some(InTheWay { at_bytes: at, is_read: true });
            assert_eq!([false, true].map(|last| used_byte(&disk, range, last)), [found; 2]);
        }
    }
}
