//! UFS1 and UFS2, in either byte order.
//!
//! One idea: a UFS writes fragments, of which up to eight make a block; both sizes and their ratio
//! are stored, and must agree. Source: `FreeBSD`, `sys/ufs/ffs/fs.h`.

use super::facts::FileSystem;
use super::field::{self, ByteOrder};
use super::found::Found;
use crate::Parsed;
use crate::bytes::Block;
use crate::heads::Heads;

/// Place where the superblock may stand, the likeliest first. Source: `SBLOCKSEARCH`.
const PLACES_BYTES: [u64; 4] = [64 << 10, 8 << 10, 0, 256 << 10];

/// The superblock's signatures, and whether each means UFS2. The others are UFS1 with long names
/// and the like. Source: `FreeBSD` as above; Linux, `fs/ufs/ufs_fs.h`.
const SIGNATURES: [(u32, bool); 6] = [
    (0x0001_1954, false),
    (0x1954_0119, true),
    (0x0019_5612, false),
    (0x0009_5014, false),
    (0x0061_2195, false),
    (0x0523_1994, false),
];

/// The superblock up to its signature, which is its last field.
type Superblock = Block<1376>;

/// The UFS on the volume: `ufs`.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    PLACES_BYTES.into_iter().find_map(|at_bytes| system(&heads.block(at_bytes)?))
}

fn system(superblock: &Superblock) -> Option<Found> {
    let (order, is_second) = signature(superblock)?;
    let block_bytes = field::power_of_two(order.u32::<48, _>(superblock), 4096..=65536)?;
    let fragment_bytes = field::power_of_two(order.u32::<52, _>(superblock), 512..=block_bytes)?;
    let fragments = u64::from(order.u32::<56, _>(superblock));
    (fragments <= 8 && fragments * fragment_bytes == block_bytes).then_some(())?;
    let (version, size, label) = if is_second {
        let label = field::label(&superblock.array::<680, 32>());
        (2, order.u64::<1080, _>(superblock), label)
    } else {
        (1, order.u32::<36, _>(superblock).into(), None)
    };
    let id = [order.u32::<144, _>(superblock), order.u32::<148, _>(superblock)];
    Some(Parsed::sound(FileSystem {
        variant: Some(format!("{version}, {}", order.name())),
        label,
        id: (id != [0, 0]).then(|| format!("{:08x}{:08x}", id[0], id[1])),
        cluster_bytes: Some(block_bytes).filter(|&block| block > fragment_bytes),
        size_bytes: size.checked_mul(fragment_bytes),
        ..FileSystem::of_blocks("ufs", fragment_bytes)
    }))
}

fn signature(superblock: &Superblock) -> Option<(ByteOrder, bool)> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find_map(|order| {
        let found = order.u32::<1372, _>(superblock);
        let (_, is_second) = SIGNATURES.iter().find(|(known, _)| *known == found)?;
        Some((order, *is_second))
    })
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::filesystem::hostile;

    // No tool that makes these is at hand, so they are made by the tests.
    fn volume(at_bytes: u64, signature: u32, bytes: fn(u32) -> [u8; 4]) -> MemoryDisk {
        let mut disk = MemoryDisk::new(1 << 20);
        let fields = [
            (36, 256),
            (48, 32768),
            (52, 4096),
            (56, 8),
            (144, 0xab),
            (148, 0xcd),
            (1372, signature),
        ];
        for (at, value) in fields {
            disk.put(at_bytes + at, &bytes(value));
        }
        disk
    }

    #[test]
    fn ufs1_and_ufs2_have_fragments_in_either_byte_order() {
        let first = read(&Heads::new(&volume(8192, 0x0001_1954, u32::to_be_bytes))).unwrap().value;
        assert_eq!(first.variant.as_deref(), Some("1, big-endian"));
        assert_eq!((first.block_bytes, first.cluster_bytes), (Some(4096), Some(32768)));
        assert_eq!((first.size_bytes, first.id), (Some(1 << 20), Some("000000ab000000cd".into())));
        let mut disk = volume(65536, 0x1954_0119, u32::to_le_bytes);
        disk.put(65536 + 680, b"root");
        let second = read(&Heads::new(&disk)).unwrap().value;
        assert_eq!(second.variant.as_deref(), Some("2, little-endian"));
        assert_eq!(second.label, Some("root".into()));
    }

    #[test]
    fn sizes_that_do_not_agree_are_no_ufs() {
        let mut disk = volume(65536, 0x1954_0119, u32::to_le_bytes);
        disk.put(65536 + 56, &[4]);
        assert!(read(&Heads::new(&disk)).is_none());
    }

    #[test]
    fn every_changed_or_cut_byte_is_answered() {
        let disk = volume(65536, 0x1954_0119, u32::to_le_bytes);
        hostile::answers_whatever_stands_in(&disk, 65536..65536 + 1376, read);
    }
}
