//! `ReiserFS` 3.5, 3.6 and with a relocated journal, and Reiser4.
//!
//! One idea: the superblock stands at 64 KiB (at 8 KiB in the oldest), and a copy of it may lie in
//! its own journal, so a superblock behind its journal's start is not the one. Source: Linux,
//! `fs/reiserfs/reiserfs.h`; reiserfsprogs, `include/reiserfs_fs.h`; Reiser4, `reiser4_master_sb`.

use super::facts::FileSystem;
use super::field;
use super::found::Found;
use crate::Parsed;
use crate::bytes::Block;
use crate::heads::Heads;

/// Place where a superblock may stand.
const PLACES_BYTES: [u64; 2] = [64 << 10, 8 << 10];

/// The signatures, at 52 bytes into the superblock, and the version that each means.
const SIGNATURES: [(&[u8; 10], &str); 3] =
    [(b"ReIsErFs\0\0", "3.5"), (b"ReIsEr2Fs\0", "3.6"), (b"ReIsEr3Fs\0", "JR")];

/// The `ReiserFS` on the volume: `reiserfs`, or `reiser4`.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    let found = PLACES_BYTES.iter().find_map(|&at_bytes| reiserfs(heads, at_bytes));
    found.or_else(|| reiser4(heads)).map(Parsed::sound)
}

fn reiserfs(heads: &Heads<'_>, at_bytes: u64) -> Option<FileSystem> {
    let superblock: Block<116> = heads.block(at_bytes)?;
    let signature = superblock.array::<52, 10>();
    let (_, version) = SIGNATURES.iter().find(|(known, _)| **known == signature)?;
    let block_bytes = field::power_of_two(superblock.le16::<44>(), 512..=32768)?;
    let journal_block = u64::from(superblock.le32::<12>());
    let journal_is_here = superblock.le32::<16>() == 0 && journal_block != 0;
    if journal_is_here && journal_block * block_bytes <= at_bytes {
        return None;
    }
    // Label and UUID came with 3.6.
    let named = *version != "3.5";
    Some(FileSystem {
        variant: Some((*version).to_owned()),
        label: field::label(&superblock.array::<100, 16>()).filter(|_| named),
        id: field::uuid(superblock.array::<84, 16>()).filter(|_| named),
        size_bytes: u64::from(superblock.le32::<0>()).checked_mul(block_bytes),
        ..FileSystem::of_blocks("reiserfs", block_bytes)
    })
}

/// The number of the device that its journal is on where that is another. `Some(None)` where the
/// journal is within; `None` where it is no `ReiserFS`.
pub(super) fn log_device(heads: &Heads<'_>) -> Option<Option<u32>> {
    let at_bytes =
        PLACES_BYTES.into_iter().find(|&at_bytes| reiserfs(heads, at_bytes).is_some())?;
    let superblock: Block<116> = heads.block(at_bytes)?;
    Some(Some(superblock.le32::<16>()).filter(|&number| number != 0))
}

fn reiser4(heads: &Heads<'_>) -> Option<FileSystem> {
    let superblock: Block<52> = heads.block(PLACES_BYTES[0])?;
    if superblock.array::<0, 8>() != *b"ReIsEr4\0" {
        return None;
    }
    let block_bytes = field::power_of_two(superblock.le16::<18>(), 512..=32768)?;
    Some(FileSystem {
        label: field::label(&superblock.array::<36, 16>()),
        id: field::uuid(superblock.array::<20, 16>()),
        ..FileSystem::of_blocks("reiser4", block_bytes)
    })
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::filesystem::hostile;

    fn volume(at_bytes: u64, signature: &[u8]) -> MemoryDisk {
        let mut disk = MemoryDisk::new(64 << 20);
        disk.put(at_bytes, &16384_u32.to_le_bytes());
        disk.put(at_bytes + 12, &18_u32.to_le_bytes());
        disk.put(at_bytes + 44, &4096_u16.to_le_bytes());
        disk.put(at_bytes + 52, signature);
        disk.put(at_bytes + 100, b"mail");
        disk
    }

    fn found(disk: &MemoryDisk) -> Option<FileSystem> {
        read(&Heads::new(disk)).map(|parsed| parsed.value)
    }

    #[test]
    fn a_version_3_6_has_a_label_and_a_version_3_5_has_none() {
        let new = found(&volume(65536, b"ReIsEr2Fs")).unwrap();
        assert_eq!((new.variant.as_deref(), new.label), (Some("3.6"), Some("mail".into())));
        assert_eq!((new.block_bytes, new.size_bytes), (Some(4096), Some(64 << 20)));
        let old = found(&volume(8192, b"ReIsErFs")).unwrap();
        assert_eq!((old.variant.as_deref(), old.label), (Some("3.5"), None));
    }

    #[test]
    fn a_superblock_behind_its_journals_start_is_a_copy() {
        let mut disk = volume(65536, b"ReIsEr2Fs");
        disk.put(65536 + 12, &2_u32.to_le_bytes());
        assert_eq!(found(&disk), None);
    }

    #[test]
    fn reiser4_is_named_with_its_block_size() {
        let mut disk = MemoryDisk::new(1 << 20);
        disk.put(65536, b"ReIsEr4\0");
        assert_eq!(found(&disk), None);
        disk.put(65536 + 18, &4096_u16.to_le_bytes());
        assert_eq!(found(&disk).unwrap().kind, "reiser4");
    }

    #[test]
    fn every_changed_or_cut_byte_is_answered() {
        hostile::answers_whatever_stands_in(&volume(65536, b"ReIsEr2Fs"), 65536..65652, read);
    }
}
