//! The disk that a table of other sectors is for.

use std::rc::Rc;

use device::{Disk, ReadError, disk as bytes};

/// Sectors and length of the disk that a table is for.
#[derive(Clone, Copy, Debug)]
pub struct WantedTable {
    /// The sector in which it counts, in bytes.
    pub sector_bytes: u64,
    /// The disk's length in bytes, not below what it is.
    pub disk_bytes: u64,
}

/// A disk that goes on with zeros.
pub struct LongerDisk {
    disk: Rc<dyn Disk>,
    length_bytes: u64,
}

impl LongerDisk {
    /// `disk` with zeros after it, up to `length_bytes`; as long as it is where that is less.
    #[must_use]
    pub fn new(disk: Rc<dyn Disk>, length_bytes: u64) -> LongerDisk {
        LongerDisk { length_bytes: length_bytes.max(disk.length_bytes()), disk }
    }
}

impl Disk for LongerDisk {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        bytes::check_bounds(self.length_bytes, offset_bytes, bytes::length_of(buffer))?;
        let there = self.disk.length_bytes().saturating_sub(offset_bytes);
        let there = usize::try_from(there).unwrap_or(usize::MAX).min(buffer.len());
        let (old, new) = buffer.split_at_mut(there);
        new.fill(0);
        if old.is_empty() { Ok(()) } else { self.disk.read_at(offset_bytes, old) }
    }
}
