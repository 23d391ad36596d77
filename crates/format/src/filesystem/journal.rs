//! Place of a journal inside its own file system.
//!
//! Source: ext: `lib/ext2fs/ext2_fs.h` and `ext3_extents.h` of e2fsprogs (`s_jnl_blocks`, a copy of
//! the journal inode's `i_block`, valid where `s_jnl_backup_type` is 1). XFS:
//! `libxfs/xfs_format.h` of xfsprogs (`sb_logstart`, of which the high bits are the group's
//! number).

use units::ByteRange;

use crate::bytes::{self, Block};

const JOURNAL_BACKUP_BLOCKS: u8 = 1;
const EXTENT_MAGIC: u16 = 0xf30a;
/// An extent header and four extents fit into `i_block`.
const EXTENTS_MAX: usize = 4;
const EXTENT_BYTES: usize = 12;
/// Longer ones are allocated and not written.
const EXTENT_BLOCKS_MAX: u16 = 0x8000;

/// The ranges of an ext journal by the copy in its superblock; none where that has no extents, or
/// more than fit there.
pub(super) fn of_ext(superblock: &Block<1024>, block_bytes: u64) -> Vec<ByteRange> {
    if superblock.byte::<0xfd>() != JOURNAL_BACKUP_BLOCKS {
        return Vec::new();
    }
    let inode_blocks = superblock.array::<0x10c, 60>();
    let Some(header) = bytes::block::<EXTENT_BYTES>(&inode_blocks) else { return Vec::new() };
    let (count, depth) = (usize::from(header.le16::<2>()), header.le16::<6>());
    if header.le16::<0>() != EXTENT_MAGIC || depth != 0 || count > EXTENTS_MAX {
        return Vec::new();
    }
    let extent = |index: usize| {
        let extent = bytes::block_at::<EXTENT_BYTES>(&inode_blocks, (index + 1) * EXTENT_BYTES)?;
        let blocks = extent.le16::<4>();
        let first = u64::from(extent.le16::<6>()) << 32 | u64::from(extent.le32::<8>());
        let start = first.checked_mul(block_bytes)?;
        let range = ByteRange::new(start, u64::from(blocks).checked_mul(block_bytes)?)?;
        (blocks > 0 && blocks <= EXTENT_BLOCKS_MAX).then_some(range)
    };
    (0..count).map(extent).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The range of an XFS log that lies inside; none where it is outside or cannot be.
pub(super) fn of_xfs(superblock: &Block<512>, block_bytes: u64) -> Vec<ByteRange> {
    let start = superblock.be64::<48>();
    let group_bits = u32::from(superblock.byte::<124>());
    let group = start.checked_shr(group_bits).unwrap_or(0);
    let within = start - group.checked_shl(group_bits).unwrap_or(0);
    let range = || {
        let block = group.checked_mul(superblock.be32::<84>().into())?.checked_add(within)?;
        let length = u64::from(superblock.be32::<96>()).checked_mul(block_bytes)?;
        ByteRange::new(block.checked_mul(block_bytes)?, length)
    };
    let is_inside = start != 0 && superblock.be32::<96>() != 0;
    range().filter(|_| is_inside).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ext(extents: &[(u16, u64)]) -> Block<1024> {
        let mut bytes = [0; 1024];
        bytes[0xfd] = JOURNAL_BACKUP_BLOCKS;
        bytes[0x10c..0x10e].copy_from_slice(&EXTENT_MAGIC.to_le_bytes());
        bytes[0x10e] = u8::try_from(extents.len()).unwrap();
        for (index, (blocks, first)) in extents.iter().enumerate().take(EXTENTS_MAX) {
            let at = 0x10c + (index + 1) * EXTENT_BYTES;
            bytes[at + 4..at + 6].copy_from_slice(&blocks.to_le_bytes());
            bytes[at + 6..at + 8].copy_from_slice(&first.to_le_bytes()[4..6]);
            bytes[at + 8..at + 12].copy_from_slice(&first.to_le_bytes()[..4]);
        }
        Block(bytes)
    }

    #[test]
    fn extents_of_an_ext_journal_are_read_and_a_tree_or_garbage_gives_none() {
        let two = of_ext(&ext(&[(1024, 5), (7, 1 << 33)]), 4096);
        let range = |start, length| ByteRange::new(start, length).unwrap();
        assert_eq!(two, [range(5 * 4096, 1024 * 4096), range(4096 << 33, 7 * 4096)]);
        assert!(of_ext(&ext(&[(0, 5)]), 4096).is_empty());
        assert!(of_ext(&ext(&[(1, 1); 5]), 4096).is_empty());
        let mut deep = ext(&[(1, 1)]);
        deep.0[0x112] = 1;
        assert!(of_ext(&deep, 4096).is_empty());
        assert!(of_ext(&Block([0xff; 1024]), 4096).is_empty());
    }

    #[test]
    fn an_xfs_log_is_found_by_its_groups_number() {
        let mut bytes = [0; 512];
        bytes[48..56].copy_from_slice(&((2_u64 << 16) + 6).to_be_bytes());
        bytes[84..88].copy_from_slice(&40_000_u32.to_be_bytes());
        bytes[96..100].copy_from_slice(&2560_u32.to_be_bytes());
        bytes[124] = 16;
        let log = of_xfs(&Block(bytes), 4096);
        assert_eq!(log, [ByteRange::new((80_000 + 6) * 4096, 2560 * 4096).unwrap()]);
        bytes[124] = 200;
        assert_eq!(of_xfs(&Block(bytes), 4096).len(), 1, "no shift goes too far");
        assert!(of_xfs(&Block([0xff; 512]), 65536).is_empty());
        assert!(of_xfs(&Block([0; 512]), 4096).is_empty());
    }
}
