//! A disk in memory that may be larger than memory: only what was put there takes room.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::disk::{self, Disk, ReadError};

const PAGE_BYTES: u64 = 4096;
const PAGE: usize = 4096;

/// A sparse disk: zeros, but for what [`MemoryDisk::put`] placed. Copies share pages until one of
/// them changes.
#[derive(Clone, Debug)]
pub struct MemoryDisk {
    length_bytes: u64,
    pages: BTreeMap<u64, Arc<[u8; PAGE]>>,
}

impl MemoryDisk {
    /// `length_bytes` zeros.
    #[must_use]
    pub fn new(length_bytes: u64) -> MemoryDisk {
        MemoryDisk { length_bytes, pages: BTreeMap::new() }
    }

    /// A disk of `length_bytes` that starts with `head`; the rest are zeros.
    ///
    /// # Panics
    /// When `head` is longer than the disk.
    #[must_use]
    pub fn with_head(length_bytes: u64, head: &[u8]) -> MemoryDisk {
        let mut disk = MemoryDisk::new(length_bytes);
        disk.put(0, head);
        disk
    }

    /// Places `bytes` at `offset_bytes`.
    ///
    /// # Panics
    /// When they end past the end of the disk: the caller is a test or a model, which made both.
    pub fn put(&mut self, offset_bytes: u64, bytes: &[u8]) {
        disk::check_bounds(self.length_bytes, offset_bytes, disk::length_of(bytes))
            .expect("bytes are put within the disk");
        for (address, piece) in pieces(offset_bytes, bytes.len()) {
            let page = self.pages.entry(address.div_euclid(PAGE_BYTES));
            let within = within_page(address);
            let page = Arc::make_mut(page.or_insert_with(|| Arc::new([0; PAGE])));
            page[within..within + piece.len()].copy_from_slice(&bytes[piece]);
        }
    }
}

impl Disk for MemoryDisk {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        disk::check_bounds(self.length_bytes, offset_bytes, disk::length_of(buffer))?;
        for (address, piece) in pieces(offset_bytes, buffer.len()) {
            let target = &mut buffer[piece];
            match self.pages.get(&address.div_euclid(PAGE_BYTES)) {
                Some(page) => {
                    let within = within_page(address);
                    target.copy_from_slice(&page[within..within + target.len()]);
                }
                None => target.fill(0),
            }
        }
        Ok(())
    }
}

fn within_page(address: u64) -> usize {
    usize::try_from(address % PAGE_BYTES).expect("below the page size")
}

/// The runs of `length` bytes from `offset_bytes` that stay within one page: each with its address
/// and its place in the buffer.
fn pieces(offset_bytes: u64, length: usize) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done >= length {
            return None;
        }
        let address = offset_bytes + u64::try_from(done).expect("a length fits in 64 bits");
        let take = (PAGE - within_page(address)).min(length - done);
        let piece = done..done + take;
        done += take;
        Some((address, piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_across_pages_is_read_back_and_the_rest_is_zero() {
        let mut disk = MemoryDisk::new(1 << 50);
        let bytes: Vec<u8> = (0..10_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        disk.put((1 << 40) - 5000, &bytes);
        assert_eq!(disk::read_vec(&disk, (1 << 40) - 5000, 10_000).unwrap(), bytes);
        assert_eq!(disk.read_array::<4>((1 << 40) - 5004).unwrap(), [0; 4]);
    }

    #[test]
    fn reading_past_the_end_is_an_error_and_allocates_nothing() {
        let disk = MemoryDisk::new(10);
        assert!(matches!(disk::read_vec(&disk, 5, 1 << 60), Err(ReadError::PastEnd { .. })));
        assert!(disk.read_array::<6>(5).is_err());
    }
}
