//! For tests only: every byte of a superblock changed, every length cut, and an answer each time.

use std::ops::Range;

use device::{MemoryDisk, Window};
use units::ByteRange;

use super::Reader;
use crate::heads::Heads;

/// Asks `read` about `whole` with each byte of `region` set to four values, and cut at each of
/// them. What is answered is not judged; a panic fails the test.
pub(super) fn answers_whatever_stands_in(whole: &MemoryDisk, region: Range<u64>, read: Reader) {
    for at in region {
        for value in [0, 1, 0x7f, 0xff] {
            let mut changed = whole.clone();
            changed.put(at, &[value]);
            let _ = read(&Heads::new(&changed));
        }
        let cut = Window::new(whole, ByteRange::new(0, at).unwrap());
        let _ = read(&Heads::new(&cut));
    }
}
