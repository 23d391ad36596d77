//! A run of bytes of a disk, as a disk: a partition, a logical volume's linear part.

use units::ByteRange;

use crate::disk::{self, Disk, ReadError};

/// The bytes of `range` within a disk.
#[derive(Clone, Copy, Debug)]
pub struct Window<D> {
    below: D,
    range: ByteRange,
}

impl<D: Disk> Window<D> {
    /// The bytes of `range` of `below`. A range that ends past the disk is kept at its full
    /// length: reading the missing part fails, as it would on a truncated disk.
    pub fn new(below: D, range: ByteRange) -> Window<D> {
        Window { below, range }
    }
}

impl<D: Disk> Disk for Window<D> {
    fn length_bytes(&self) -> u64 {
        self.range.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        disk::check_bounds(self.range.length_bytes(), offset_bytes, disk::length_of(buffer))?;
        // Within the range, whose end does not overflow.
        self.below.read_at(self.range.start_bytes() + offset_bytes, buffer)
    }
}
