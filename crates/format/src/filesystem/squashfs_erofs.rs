//! Read-only images: squashfs, EROFS, cramfs, romfs.
//!
//! One idea: squashfs, cramfs and romfs pack their data to the byte (or a few), so they have no
//! block that could be aligned, and `block_bytes` stays unknown; what they call block size, the
//! length of data before compression, is a detail. EROFS does place its data in blocks. Source:
//! Linux,
//! `fs/squashfs/squashfs_fs.h`, `fs/erofs/erofs_fs.h`, `include/uapi/linux/cramfs_fs.h`,
//! `Documentation/filesystems/romfs.rst`; squashfs-tools, `squashfs_compat.h` for versions below 4.

use super::facts::FileSystem;
use super::field::{self, ByteOrder};
use super::found::Found;
use crate::bytes::Block;
use crate::heads::Heads;
use crate::{Parsed, Problem, ProblemKind};

/// A squashfs: `squashfs`, or `squashfs3` for versions below 4.
pub(super) fn squashfs(heads: &Heads<'_>) -> Option<Found> {
    let superblock: Block<96> = heads.block(0)?;
    let order = match &superblock.array::<0, 4>() {
        b"hsqs" | b"shsq" => ByteOrder::Little,
        b"sqsh" | b"qshs" => ByteOrder::Big,
        _ => return None,
    };
    let [major, minor] = [order.u16::<28, _>(&superblock), order.u16::<30, _>(&superblock)];
    let (kind, data_bytes, power, size_bytes) = match major {
        4 => (
            "squashfs",
            order.u32::<12, _>(&superblock),
            order.u16::<22, _>(&superblock),
            order.u64::<40, _>(&superblock),
        ),
        3 => (
            "squashfs3",
            order.u32::<51, _>(&superblock),
            order.u16::<34, _>(&superblock),
            order.u64::<63, _>(&superblock),
        ),
        _ => return None,
    };
    let data_bytes = field::power_of_two(data_bytes, 4096..=1 << 20)?;
    (u32::from(power) == data_bytes.ilog2()).then_some(())?;
    Some(Parsed::sound(FileSystem {
        variant: Some(format!("{major}.{minor}")),
        size_bytes: Some(size_bytes),
        details: vec![("block size before compression", data_bytes.to_string())],
        ..FileSystem::named(kind)
    }))
}

/// An EROFS.
pub(super) fn erofs(heads: &Heads<'_>) -> Option<Found> {
    let superblock: Block<128> = heads.block(1024)?;
    if superblock.le32::<0>() != 0xe0f5_e1e2 {
        return None;
    }
    let block_bytes = field::power(superblock.byte::<12>(), 512..=65536)?;
    Some(Parsed::sound(FileSystem {
        label: field::label(&superblock.array::<64, 16>()),
        id: field::uuid(superblock.array::<48, 16>()),
        size_bytes: u64::from(superblock.le32::<36>()).checked_mul(block_bytes),
        ..FileSystem::of_blocks("erofs", block_bytes)
    }))
}

/// A cramfs, at the start or behind 512 bytes of boot code, as the kernel looks for it.
pub(super) fn cramfs(heads: &Heads<'_>) -> Option<Found> {
    let (at_bytes, superblock) = [0, 512].into_iter().find_map(|at_bytes| {
        let superblock = heads.block::<64>(at_bytes)?;
        (superblock.array::<16, 16>() == *b"Compressed ROMFS").then_some((at_bytes, superblock))
    })?;
    let order = [ByteOrder::Little, ByteOrder::Big]
        .into_iter()
        .find(|order| order.u32::<0, _>(&superblock) == 0x28cd_3d45)?;
    Some(Parsed::sound(FileSystem {
        variant: Some(order.name().to_owned()),
        label: field::label(&superblock.array::<48, 16>()),
        size_bytes: Some(order.u32::<4, _>(&superblock).into()),
        data_offset_bytes: at_bytes,
        ..FileSystem::named("cramfs")
    }))
}

/// A romfs. A wrong sum over its first 512 bytes is a problem.
pub(super) fn romfs(heads: &Heads<'_>) -> Option<Found> {
    if !heads.has(0, b"-rom1fs-") {
        return None;
    }
    let head: Block<32> = heads.block(0)?;
    let size_bytes = u64::from(head.be32::<8>());
    let mut summed = vec![0; usize::try_from(size_bytes.min(512)).ok()?];
    let mut problems = Vec::new();
    match heads.read(0, &mut summed) {
        Ok(()) => {
            let words = summed.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]);
            let sum = words.map(u32::from_be_bytes).fold(0_u32, u32::wrapping_add);
            if sum != 0 {
                let detail = format!("the sum of the first 512 bytes is {sum:#010x}, not 0");
                problems.push(Problem::new(ProblemKind::Checksum, 12, detail));
            }
        }
        Err(error) => problems.push(Problem::unreadable("the summed head", 0, &error)),
    }
    let value = FileSystem {
        label: field::label(&head.array::<16, 16>()),
        size_bytes: Some(size_bytes),
        ..FileSystem::named("romfs")
    };
    Some(Parsed { value, problems })
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::filesystem::hostile;

    fn squashfs_3_big() -> MemoryDisk {
        let mut disk = MemoryDisk::with_head(4096, b"sqsh");
        disk.put(28, &[0, 3, 0, 1]);
        disk.put(34, &[0, 17]);
        disk.put(51, &(128_u32 << 10).to_be_bytes());
        disk.put(63, &4000_u64.to_be_bytes());
        disk
    }

    fn romfs_image() -> MemoryDisk {
        let mut disk = MemoryDisk::with_head(1024, b"-rom1fs-\0\0\x04\0");
        disk.put(16, b"rescue");
        let sum = b"-rom1fs-\0\0\x04\0rescue\0\0"
            .chunks_exact(4)
            .map(|word| u32::from_be_bytes(word.try_into().unwrap()))
            .fold(0_u32, u32::wrapping_add);
        disk.put(12, &sum.wrapping_neg().to_be_bytes());
        disk
    }

    // No tool that makes version 3 or romfs images is at hand, so these are made by the tests.
    #[test]
    fn a_big_endian_squashfs_3_is_read_and_has_no_block_to_align() {
        let found = squashfs(&Heads::new(&squashfs_3_big())).unwrap().value;
        assert_eq!((found.kind, found.variant.as_deref()), ("squashfs3", Some("3.1")));
        assert_eq!((found.block_bytes, found.size_bytes), (None, Some(4000)));
        assert_eq!(found.details[0].1, "131072");
    }

    #[test]
    fn a_romfs_has_a_name_and_a_wrong_sum_is_a_problem() {
        let mut disk = romfs_image();
        let parsed = romfs(&Heads::new(&disk)).unwrap();
        assert_eq!((parsed.value.label, parsed.problems), (Some("rescue".into()), vec![]));
        disk.put(100, &[1]);
        let parsed = romfs(&Heads::new(&disk)).unwrap();
        assert_eq!(parsed.problems[0].kind, ProblemKind::Checksum);
    }

    #[test]
    fn a_cramfs_behind_boot_code_is_found_in_both_orders() {
        for magic in [[0x45, 0x3d, 0xcd, 0x28], [0x28, 0xcd, 0x3d, 0x45]] {
            let mut disk = MemoryDisk::new(4096);
            disk.put(512, &magic);
            assert!(cramfs(&Heads::new(&disk)).is_none());
            disk.put(528, b"Compressed ROMFS");
            assert_eq!(cramfs(&Heads::new(&disk)).unwrap().value.data_offset_bytes, 512);
        }
    }

    #[test]
    fn an_erofs_with_an_impossible_block_size_is_none() {
        let mut disk = MemoryDisk::new(8192);
        disk.put(1024, &0xe0f5_e1e2_u32.to_le_bytes());
        for (power, expected) in [(8, None), (9, Some(512)), (12, Some(4096)), (17, None)] {
            disk.put(1036, &[power]);
            let found = erofs(&Heads::new(&disk)).map(|parsed| parsed.value.block_bytes);
            assert_eq!(found.flatten(), expected);
        }
    }

    #[test]
    fn every_changed_or_cut_byte_is_answered() {
        hostile::answers_whatever_stands_in(&squashfs_3_big(), 0..96, squashfs);
        hostile::answers_whatever_stands_in(&romfs_image(), 0..600, romfs);
    }
}
