//! The parts of a volume where superblocks stand, each read once for all readers.

use std::cell::RefCell;

use device::{Disk, ReadError, disk};

use crate::bytes::Block;

/// What one read fetches: a superblock, or several small ones. What lies below a disk reads more at
/// once.
const WINDOW_BYTES: u64 = 2048;

/// The most windows that are kept: readers look at fewer than fifty places.
const WINDOWS_MAX: usize = 64;

/// A volume, with the windows of it that were read.
pub struct Heads<'a> {
    disk: &'a dyn Disk,
    windows: RefCell<Vec<(u64, Vec<u8>)>>,
}

impl<'a> Heads<'a> {
    /// The volume on `disk`, of which nothing is read yet.
    #[must_use]
    pub fn new(disk: &'a dyn Disk) -> Heads<'a> {
        Heads { disk, windows: RefCell::new(Vec::new()) }
    }

    /// The volume itself: for what is read rarely, or is larger than a window.
    #[must_use]
    pub fn disk(&self) -> &'a dyn Disk {
        self.disk
    }

    /// The volume's length in bytes.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.disk.length_bytes()
    }

    /// The `N` bytes from `at_bytes` on; `None` when the volume ends before or cannot be read.
    #[must_use]
    pub fn block<const N: usize>(&self, at_bytes: u64) -> Option<Block<N>> {
        let mut bytes = [0; N];
        self.read(at_bytes, &mut bytes).ok()?;
        Some(Block(bytes))
    }

    /// Whether `magic` stands at `at_bytes`.
    #[must_use]
    pub fn has(&self, at_bytes: u64, magic: &[u8]) -> bool {
        let mut found = [0_u8; 64];
        let Some(found) = found.get_mut(..magic.len()) else { return false };
        self.read(at_bytes, found).is_ok() && found == magic
    }

    /// Fills `buffer` from `at_bytes` on.
    ///
    /// # Errors
    /// As [`Disk::read_at`].
    pub fn read(&self, at_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let length = disk::length_of(buffer);
        disk::check_bounds(self.length_bytes(), at_bytes, length)?;
        let start = at_bytes - at_bytes % WINDOW_BYTES;
        if at_bytes - start + length > WINDOW_BYTES {
            return self.disk.read_at(at_bytes, buffer);
        }
        let within = usize::try_from(at_bytes - start).expect("below the window's length");
        let mut windows = self.windows.borrow_mut();
        if !windows.iter().any(|(address, _)| *address == start) {
            let have = WINDOW_BYTES.min(self.length_bytes() - start);
            let window = disk::read_vec(self.disk, start, have)?;
            if windows.len() >= WINDOWS_MAX {
                windows.remove(0);
            }
            windows.push((start, window));
        }
        let window = windows.iter().find(|(address, _)| *address == start);
        let (_, window) = window.expect("it was just read");
        buffer.copy_from_slice(&window[within..within + buffer.len()]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_one_window_across_two_and_at_a_short_end_are_the_disks() {
        let bytes: Vec<u8> = (0..20_000_u32).map(|n| n.to_le_bytes()[0] ^ 0x5a).collect();
        let heads = Heads::new(&bytes);
        for at in [0_usize, 8190, 19_996] {
            let found = heads.block::<4>(u64::try_from(at).unwrap()).unwrap();
            assert_eq!(found.0[..], bytes[at..at + 4]);
        }
        assert!(heads.block::<4>(19_997).is_none());
        assert!(heads.has(0, &bytes[..4]) && !heads.has(1, &bytes[..4]));
    }

    #[test]
    fn the_last_bytes_of_a_volume_of_all_addresses_are_read_like_any_other() {
        let mut disk = device::MemoryDisk::new(u64::MAX);
        disk.put(u64::MAX - 4, &[1, 2, 3, 4]);
        let heads = Heads::new(&disk);
        assert_eq!(heads.block::<4>(u64::MAX - 4).unwrap().0, [1, 2, 3, 4]);
        assert!(heads.block::<4>(u64::MAX - 3).is_none());
    }
}
