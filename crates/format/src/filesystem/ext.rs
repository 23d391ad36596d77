//! ext2, ext3, ext4 and the external journal of the latter two: one superblock, told apart by the
//! features that it needs.
//!
//! Source: `lib/ext2fs/ext2_fs.h` of e2fsprogs; `libblkid/src/superblocks/ext.c` for the names.

use super::facts::{Beside, FsStripe};
use super::field::{bytes_text, holding, label, power, power_of_two, uuid};
use super::found::Found;
use super::journal;
use crate::bytes::Block;
use crate::checksum::CRC32C;
use crate::heads::Heads;

/// Place where the superblock stands.
const AT: u64 = 1024;
const MAGIC: u16 = 0xef53;
const BLOCK_BYTES_MIN: u64 = 1024;
const BLOCK_BYTES_MAX: u64 = 65536;
/// Clusters of bigalloc: the tools' bound.
const CLUSTER_BYTES_MAX: u64 = 1 << 29;

const COMPAT_HAS_JOURNAL: u32 = 0x4;
const INCOMPAT_JOURNAL_DEVICE: u32 = 0x8;
const INCOMPAT_64BIT: u32 = 0x80;
const RO_BIGALLOC: u32 = 0x200;
const RO_METADATA_CSUM: u32 = 0x400;
/// Features that ext3 also has: file types in directories, recovery, meta block groups.
const INCOMPAT_EXT3: u32 = 0x2 | 0x4 | 0x10;
/// The same for what must be known to write: sparse superblocks, large files, indexed directories.
const RO_EXT3: u32 = 0x1 | 0x2 | 0x4;
const FLAG_TEST: u32 = 0x4;

/// The file system whose superblock stands at 1024.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    if !heads.has(AT + 0x38, &MAGIC.to_le_bytes()) {
        return None;
    }
    let block = heads.block::<1024>(AT)?;
    let summed = block.le32::<0x64>() & RO_METADATA_CSUM != 0;
    let sound = summed && block.le32::<0x3fc>() == checksum(&block);
    if !sound && !plausible(&block) {
        return None;
    }
    let mut found = Found::of(kind(&block));
    if summed {
        found.compare_checksums(AT + 0x3fc, block.le32::<0x3fc>(), checksum(&block));
    }
    found.value.label = label(&block.array::<0x78, 16>());
    found.value.id = uuid(block.array::<0x68, 16>());
    found.value.beside = beside(&block);
    read_layout(&block, heads, &mut found);
    Some(found)
}

/// An external journal is known by its own UUID; one inside has an inode.
fn beside(block: &Block<1024>) -> Option<Beside> {
    if block.le32::<0x60>() & INCOMPAT_JOURNAL_DEVICE != 0 {
        return uuid(block.array::<0x68, 16>()).map(Beside::LogOf);
    }
    let is_outside = block.le32::<0x5c>() & COMPAT_HAS_JOURNAL != 0 && block.le32::<0xe0>() == 0;
    is_outside.then(|| uuid(block.array::<0xd0, 16>()))?.map(Beside::LogOn)
}

/// The CRC of everything before its own place; as the kernel counts, without the last inversion.
fn checksum(block: &Block<1024>) -> u32 {
    !CRC32C.checksum(&block.0[..0x3fc])
}

/// The magic is two bytes, so it needs company: most of these fields have few possible values.
fn plausible(block: &Block<1024>) -> bool {
    let clusters_per_group = 256..=8 * 65536_u32;
    holding(&[
        power(block.le32::<0x18>().saturating_add(10), BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX).is_some(),
        clusters_per_group.contains(&block.le32::<0x24>()),
        block.le32::<0x14>() <= 1,
        matches!(block.le16::<0x3c>(), 1..=3),
        block.le32::<0x48>() <= 4,
        block.le32::<0x4c>() <= 1,
    ]) >= 5
}

/// The name: the least of the family that has all features in use.
fn kind(block: &Block<1024>) -> &'static str {
    let incompat = block.le32::<0x60>();
    let newer = incompat & !INCOMPAT_EXT3 != 0 || block.le32::<0x64>() & !RO_EXT3 != 0;
    if incompat & INCOMPAT_JOURNAL_DEVICE != 0 {
        "jbd"
    } else if newer && block.le32::<0x160>() & FLAG_TEST != 0 {
        "ext4dev"
    } else if newer {
        "ext4"
    } else if block.le32::<0x5c>() & COMPAT_HAS_JOURNAL != 0 {
        "ext3"
    } else {
        "ext2"
    }
}

fn read_layout(block: &Block<1024>, heads: &Heads<'_>, found: &mut Found) {
    let shift = block.le32::<0x18>();
    let Some(block_bytes) = power(shift.saturating_add(10), BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX)
    else {
        found.wrong_field(AT + 0x18, format!("block size of 1024 << {shift} bytes"));
        return;
    };
    found.value.sector_bytes = Some(block_bytes);
    found.value.journal = journal::of_ext(block, block_bytes);
    found.value.block_bytes = Some(block_bytes);
    found.value.cluster_bytes = cluster(block, block_bytes, found);
    let high = if block.le32::<0x60>() & INCOMPAT_64BIT == 0 { 0 } else { block.le32::<0x150>() };
    let blocks = u64::from(high) << 32 | u64::from(block.le32::<0x4>());
    found.set_size(heads, AT + 0x4, blocks, block_bytes);
    let unit_bytes = u64::from(block.le16::<0x164>()) * block_bytes;
    let width_bytes = u64::from(block.le32::<0x170>()) * block_bytes;
    if unit_bytes != 0 || width_bytes != 0 {
        found.value.stripe = Some(FsStripe { unit_bytes, width_bytes });
    }
    if block.le32::<0x4c>() >= 1 {
        let inode = block.le16::<0x58>();
        if power_of_two(inode, 128..=block_bytes).is_none() {
            found.wrong_field(AT + 0x58, format!("inode of {inode} bytes"));
        }
        found.note("inode", bytes_text(u64::from(inode)));
    }
    found.note("blocks per group", block.le32::<0x20>().to_string());
}

/// The cluster, with bigalloc; `None` when it cannot be.
fn cluster(block: &Block<1024>, block_bytes: u64, found: &mut Found) -> Option<u64> {
    if block.le32::<0x64>() & RO_BIGALLOC == 0 {
        return None;
    }
    let shift = block.le32::<0x1c>();
    let bytes = power(shift.saturating_add(10), block_bytes..=CLUSTER_BYTES_MAX);
    if bytes.is_none() {
        found.wrong_field(AT + 0x1c, format!("cluster size of 1024 << {shift} bytes"));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProblemKind;
    use device::MemoryDisk;

    /// A superblock of 1 GiB in blocks of 4096 with a stride of 16 and a width of 64 blocks.
    fn superblock() -> [u8; 1024] {
        let mut bytes = [0; 1024];
        let fields: [(usize, u32); 14] = [
            (0x0, 65536),
            (0x4, 262_144),
            (0x18, 2),
            (0x1c, 2),
            (0x20, 32768),
            (0x24, 32768),
            (0x38, 0x1_ef53),
            (0x3c, 1),
            (0x4c, 1),
            (0x58, 256),
            (0x5c, COMPAT_HAS_JOURNAL),
            (0x60, 0x2),
            (0x164, 16),
            (0x170, 64),
        ];
        for (at, value) in fields {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[0x78..0x7c].copy_from_slice(b"data");
        bytes
    }

    fn parse(bytes: &[u8; 1024]) -> Option<Found> {
        let mut disk = MemoryDisk::new(1 << 30);
        disk.put(AT, bytes);
        read(&Heads::new(&disk))
    }

    #[test]
    fn the_stripe_is_given_in_bytes() {
        let found = parse(&superblock()).unwrap();
        assert_eq!(found.problems, []);
        assert_eq!((found.value.kind, found.value.block_bytes), ("ext3", Some(4096)));
        assert_eq!(found.value.size_bytes, Some(1 << 30));
        let stripe = FsStripe { unit_bytes: 65536, width_bytes: 262_144 };
        assert_eq!(found.value.stripe, Some(stripe));
    }

    #[test]
    fn features_name_the_kind() {
        let cases = [
            (0_u32, 0x2_u32, 0_u32, "ext2"),
            (4, 0x2, 1, "ext3"),
            (4, 0x42, 1, "ext4"),
            (0, 0x2, 0x8, "ext4"),
            (0, 0x8, 0, "jbd"),
        ];
        for (compat, incompat, ro, kind) in cases {
            let mut bytes = superblock();
            for (at, value) in [(0x5c, compat), (0x60, incompat), (0x64, ro)] {
                bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
            assert_eq!(parse(&bytes).unwrap().value.kind, kind);
        }
    }

    #[test]
    fn a_journal_on_another_device_is_named_by_its_uuid() {
        let mut bytes = superblock();
        bytes[0x68..0x78].fill(0x11);
        bytes[0xd0..0xe0].fill(0x22);
        let uuid = |digit: &str| format!("{}-{0}-{0}-{0}-{}", digit.repeat(4), digit.repeat(12));
        let uuid = |digit: &str| format!("{}{}", digit.repeat(4), uuid(digit));
        let on = parse(&bytes).unwrap().value.beside;
        assert_eq!(on, Some(Beside::LogOn(uuid("2"))));
        bytes[0xe0] = 8;
        assert_eq!(parse(&bytes).unwrap().value.beside, None, "it is in inode 8");
        bytes[0x60] = 0x8;
        assert_eq!(parse(&bytes).unwrap().value.beside, Some(Beside::LogOf(uuid("1"))));
    }

    #[test]
    fn clusters_are_the_unit_of_allocation() {
        let mut bytes = superblock();
        bytes[0x1c] = 6;
        bytes[0x65] = 0x2;
        let found = parse(&bytes).unwrap().value;
        assert_eq!((found.block_bytes, found.cluster_bytes), (Some(4096), Some(65536)));
        assert_eq!(found.allocated_bytes(), Some(65536));
    }

    #[test]
    fn the_high_half_of_the_size_counts_only_with_64_bits() {
        for (incompat, size_bytes) in [(0x2, 1 << 30), (0x82, (3 << 44) + (1 << 30))] {
            let mut bytes = superblock();
            bytes[0x60] = incompat;
            bytes[0x150] = 3;
            assert_eq!(parse(&bytes).unwrap().value.size_bytes, Some(size_bytes));
        }
    }

    #[test]
    fn an_impossible_block_size_leaves_sizes_unknown_and_a_wrong_checksum_shows() {
        let mut bytes = superblock();
        bytes[0x18..0x1c].fill(0xff);
        bytes[0x65] = 0x4;
        let found = parse(&bytes).unwrap();
        let kinds: Vec<ProblemKind> = found.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::Checksum, ProblemKind::Field]);
        assert_eq!((found.value.block_bytes, found.value.size_bytes), (None, None));
    }

    #[test]
    fn the_magic_alone_is_no_file_system() {
        let mut bytes = [0xa5; 1024];
        bytes[0x38..0x3a].copy_from_slice(&MAGIC.to_le_bytes());
        assert!(parse(&bytes).is_none());
        bytes.fill(0);
        bytes[0x38..0x3a].copy_from_slice(&MAGIC.to_le_bytes());
        assert!(parse(&bytes).is_none());
    }
}
