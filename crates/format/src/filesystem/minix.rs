//! Minix, versions 1 to 3.
//!
//! One idea: its signature is two bytes, but the maps' sizes follow from the counts, and the first
//! data zone from both; only a superblock in which all that holds is a Minix. Source: Linux,
//! `include/uapi/linux/minix_fs.h`; util-linux, `disk-utils/mkfs.minix.c`, for how the sizes
//! follow.

use super::facts::FileSystem;
use super::field::{self, ByteOrder};
use super::found::Found;
use crate::Parsed;
use crate::bytes::Block;
use crate::heads::Heads;

/// Place where the superblock stands.
const SUPERBLOCK_BYTES: u64 = 1024;

/// The block size of versions 1 and 2.
const OLD_BLOCK_BYTES: u64 = 1024;

/// A superblock's counts, whatever the version.
struct MinixCounts {
    version: u8,
    block_bytes: u64,
    inode_bytes: u64,
    inodes: u64,
    zones: u64,
    inode_map_blocks: u64,
    zone_map_blocks: u64,
    first_data_zone: u64,
    zone_shift: u16,
}

/// The Minix file system on the volume: `minix`.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    let superblock: Block<64> = heads.block(SUPERBLOCK_BYTES)?;
    let counts = [ByteOrder::Little, ByteOrder::Big].into_iter().find_map(|order| {
        old(&superblock, order).or_else(|| third(&superblock, order)).filter(is_plausible)
    })?;
    let size_bytes = counts.zones.checked_mul(counts.block_bytes)?;
    // The signature of ext2 stands in the same kibibyte.
    let is_ext = superblock.le16::<0x38>() == 0xef53;
    (!is_ext && size_bytes <= heads.length_bytes()).then(|| {
        Parsed::sound(FileSystem {
            variant: Some(counts.version.to_string()),
            size_bytes: Some(size_bytes),
            ..FileSystem::of_blocks("minix", counts.block_bytes)
        })
    })
}

/// Versions 1 and 2, with names of 14 or of 30 bytes.
fn old(superblock: &Block<64>, order: ByteOrder) -> Option<MinixCounts> {
    let (version, inode_bytes, zones) = match order.u16::<16, _>(superblock) {
        0x137f | 0x138f => (1, 32, order.u16::<2, _>(superblock).into()),
        0x2468 | 0x2478 => (2, 64, order.u32::<20, _>(superblock).into()),
        _ => return None,
    };
    Some(MinixCounts {
        version,
        block_bytes: OLD_BLOCK_BYTES,
        inode_bytes,
        inodes: order.u16::<0, _>(superblock).into(),
        zones,
        inode_map_blocks: order.u16::<4, _>(superblock).into(),
        zone_map_blocks: order.u16::<6, _>(superblock).into(),
        first_data_zone: order.u16::<8, _>(superblock).into(),
        zone_shift: order.u16::<10, _>(superblock),
    })
}

/// Version 3, which says its block size.
fn third(superblock: &Block<64>, order: ByteOrder) -> Option<MinixCounts> {
    (order.u16::<24, _>(superblock) == 0x4d5a).then_some(())?;
    Some(MinixCounts {
        version: 3,
        block_bytes: field::power_of_two(order.u16::<28, _>(superblock), 1024..=32768)?,
        inode_bytes: 64,
        inodes: order.u32::<0, _>(superblock).into(),
        zones: order.u32::<20, _>(superblock).into(),
        inode_map_blocks: order.u16::<6, _>(superblock).into(),
        zone_map_blocks: order.u16::<8, _>(superblock).into(),
        first_data_zone: order.u16::<10, _>(superblock).into(),
        zone_shift: order.u16::<12, _>(superblock),
    })
}

/// Returns whether the maps are as long as the counts need (one block more is allowed), and the
/// first data zone follows two blocks, the maps and the inodes. Zones are blocks in all that is in
/// use.
fn is_plausible(counts: &MinixCounts) -> bool {
    let bits = counts.block_bytes * 8;
    let inode_map = (counts.inodes + 1).div_ceil(bits);
    let data_zones = counts.zones.saturating_sub(counts.first_data_zone);
    let zone_map = (data_zones + 1).div_ceil(bits);
    let inode_blocks = counts.inodes.div_ceil(counts.block_bytes.div_euclid(counts.inode_bytes));
    let first = 2 + counts.inode_map_blocks + counts.zone_map_blocks + inode_blocks;
    counts.zone_shift == 0
        && counts.inodes != 0
        && data_zones != 0
        && (inode_map..=inode_map + 1).contains(&counts.inode_map_blocks)
        && (zone_map..=zone_map + 1).contains(&counts.zone_map_blocks)
        && counts.first_data_zone == first
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::filesystem::hostile;

    fn volume(bytes: fn(u16) -> [u8; 2]) -> MemoryDisk {
        let mut disk = MemoryDisk::new(2 << 20);
        // 640 inodes in 20 blocks: 2 + 1 + 1 + 20.
        let fields = [(0, 640), (2, 2048), (4, 1), (6, 1), (8, 24), (16, 0x138f)];
        for (at, value) in fields {
            disk.put(1024 + at, &bytes(value));
        }
        disk
    }

    #[test]
    fn counts_that_fit_each_other_are_a_minix_in_either_byte_order() {
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let found = read(&Heads::new(&volume(bytes))).unwrap().value;
            assert_eq!((found.variant.as_deref(), found.block_bytes), (Some("1"), Some(1024)));
            assert_eq!(found.size_bytes, Some(2 << 20));
        }
    }

    #[test]
    fn two_bytes_with_other_counts_or_a_volume_too_short_are_none() {
        for (at, value) in [(0, 0), (4, 9), (6, 0), (8, 25), (10, 1), (56, 0xef53)] {
            let mut disk = volume(u16::to_le_bytes);
            disk.put(1024 + at, &u16::to_le_bytes(value));
            assert!(read(&Heads::new(&disk)).is_none(), "{at}");
        }
    }

    #[test]
    fn every_changed_or_cut_byte_is_answered() {
        hostile::answers_whatever_stands_in(&volume(u16::to_le_bytes), 1024..1088, read);
    }
}
