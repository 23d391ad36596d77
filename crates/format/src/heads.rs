//! The parts of a volume where superblocks stand, as their readers ask for them.

use device::{Disk, ReadError};

use crate::bytes::Block;

/// The longest magic that is looked for.
pub(crate) const MAGIC_MAX: usize = 64;

/// A volume, as readers ask for it: a field here, a superblock there. What lies below a disk reads
/// more at once and remembers it, so nothing is kept here.
pub struct Heads<'a> {
    disk: &'a dyn Disk,
}

impl<'a> Heads<'a> {
    /// The volume on `disk`, of which nothing is read yet.
    #[must_use]
    pub fn new(disk: &'a dyn Disk) -> Heads<'a> {
        Heads { disk }
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

    /// Returns whether `magic` stands at `at_bytes`.
    #[must_use]
    pub fn has(&self, at_bytes: u64, magic: &[u8]) -> bool {
        let mut found = [0_u8; MAGIC_MAX];
        let Some(found) = found.get_mut(..magic.len()) else { return false };
        self.read(at_bytes, found).is_ok() && found == magic
    }

    /// Fills `buffer` from `at_bytes` on.
    ///
    /// # Errors
    /// Same as [`Disk::read_at`].
    pub fn read(&self, at_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.disk.read_at(at_bytes, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_the_disks_bytes_or_nothing() {
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
