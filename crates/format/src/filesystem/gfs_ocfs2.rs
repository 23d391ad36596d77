//! File systems of clusters of machines: GFS, GFS2, OCFS2.
//!
//! Source: Linux, `include/uapi/linux/gfs2_ondisk.h`, `fs/ocfs2/ocfs2_fs.h`.

use super::facts::FileSystem;
use super::field;
use super::found::Found;
use crate::Parsed;
use crate::bytes::Block;
use crate::heads::Heads;

/// Place where the superblock of GFS and GFS2 stands.
const GFS_SUPERBLOCK_BYTES: u64 = 64 << 10;

/// The GFS or GFS2 on the volume: `gfs` or `gfs2`, with the name of its lock table as label.
pub(super) fn gfs(heads: &Heads<'_>) -> Option<Found> {
    let superblock: Block<272> = heads.block(GFS_SUPERBLOCK_BYTES)?;
    // The signature, and the type of a metadata block that means a superblock.
    if superblock.be32::<0>() != 0x0116_1970 || superblock.be32::<4>() != 1 {
        return None;
    }
    let kind = match (superblock.be32::<24>(), superblock.be32::<28>()) {
        (1309, 1401) => "gfs",
        (1801 | 1802, 1900) => "gfs2",
        _ => return None,
    };
    let block_bytes = field::power_of_two(superblock.be32::<36>(), 512..=65536)?;
    (superblock.be32::<40>() == block_bytes.ilog2()).then_some(())?;
    Some(Parsed::sound(FileSystem {
        label: field::label(&superblock.array::<160, 64>()),
        id: field::uuid(superblock.array::<256, 16>()),
        ..FileSystem::of_blocks(kind, block_bytes)
    }))
}

/// The OCFS2 on the volume: `ocfs2`. Its superblock stands in block 2, whatever a block is, so
/// where it is found and the block size in it must agree.
pub(super) fn ocfs2(heads: &Heads<'_>) -> Option<Found> {
    [9_u32, 10, 11, 12].into_iter().find_map(|power| {
        let superblock: Block<352> = heads.block(2 << power)?;
        let is_superblock = superblock.array::<0, 6>() == *b"OCFSV2"
            && superblock.le64::<80>() == 2
            && superblock.le32::<248>() == power;
        is_superblock.then_some(())?;
        let cluster_bytes = field::power(superblock.le32::<252>(), 4096..=1 << 20)?;
        Some(Parsed::sound(FileSystem {
            variant: Some(format!("{}.{}", superblock.le16::<192>(), superblock.le16::<194>())),
            label: field::label(&superblock.array::<272, 64>()),
            id: field::uuid(superblock.array::<336, 16>()),
            cluster_bytes: Some(cluster_bytes).filter(|&cluster| cluster > 1 << power),
            size_bytes: u64::from(superblock.le32::<20>()).checked_mul(cluster_bytes),
            ..FileSystem::of_blocks("ocfs2", 1 << power)
        }))
    })
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::filesystem::hostile;

    // No tool that makes these is at hand, so they are made by the tests.
    fn gfs_volume() -> MemoryDisk {
        let mut disk = MemoryDisk::new(64 << 20);
        let fields = [(0, 0x0116_1970), (4, 1), (24, 1802), (28, 1900), (36, 4096), (40, 12)];
        for (at, value) in fields {
            disk.put(65536 + at, &u32::to_be_bytes(value));
        }
        disk.put(65536 + 160, b"alpha:data");
        disk
    }

    fn ocfs2_volume(power: u32) -> MemoryDisk {
        let mut disk = MemoryDisk::new(64 << 20);
        let at = 2 << power;
        disk.put(at, b"OCFSV2");
        for (field, value) in [(20, 64), (80, 2), (248, power), (252, 20)] {
            disk.put(at + field, &u32::to_le_bytes(value));
        }
        disk.put(at + 336, &[0x33; 16]);
        disk
    }

    #[test]
    fn a_gfs2_has_its_lock_table_as_label() {
        let found = gfs(&Heads::new(&gfs_volume())).unwrap().value;
        assert_eq!((found.kind, found.block_bytes), ("gfs2", Some(4096)));
        assert_eq!(found.label, Some("alpha:data".into()));
    }

    #[test]
    fn an_ocfs2_allocates_clusters_and_is_found_at_every_block_size() {
        for power in 9..=12 {
            let found = ocfs2(&Heads::new(&ocfs2_volume(power))).unwrap().value;
            assert_eq!((found.block_bytes, found.cluster_bytes), (Some(1 << power), Some(1 << 20)));
            assert_eq!(found.size_bytes, Some(64 << 20));
        }
    }

    #[test]
    fn a_block_size_that_its_logarithm_or_its_place_denies_is_none() {
        let mut disk = gfs_volume();
        disk.put(65536 + 43, &[13]);
        assert!(gfs(&Heads::new(&disk)).is_none());
        let mut disk = ocfs2_volume(10);
        disk.put(2048 + 248, &[12]);
        assert!(ocfs2(&Heads::new(&disk)).is_none());
    }

    #[test]
    fn every_changed_or_cut_byte_is_answered() {
        hostile::answers_whatever_stands_in(&gfs_volume(), 65536..65536 + 272, gfs);
        hostile::answers_whatever_stands_in(&ocfs2_volume(12), 8192..8192 + 352, ocfs2);
    }
}
