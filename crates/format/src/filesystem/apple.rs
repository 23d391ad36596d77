//! Apple's: HFS, HFS+ and HFSX (also wrapped in an HFS), APFS.
//!
//! One idea: a wrapped HFS+ counts its blocks from where it starts inside the HFS, at any 512
//! bytes; that start decides its alignment. Signatures of two bytes are believed only when the
//! sizes behind them fit the volume. Source: "Inside Macintosh: Files" (1992), chapter 2; Apple
//! Technical Note TN1150; "Apple File System Reference" (2020), container superblock and object
//! checksums.
//!
//! Not here: labels of HFS+ and APFS, which stand in trees, and blkid's UUID of HFS and HFS+, which
//! is an MD5 that stands nowhere on the disk.

use super::facts::FileSystem;
use super::field;
use super::found::Found;
use crate::bytes::Block;
use crate::heads::Heads;
use crate::{Parsed, Problem, ProblemKind};

/// Place where the superblock of HFS and HFS+ stands.
const HEADER_BYTES: u64 = 1024;

/// The unit in which HFS places its first allocation block.
const HFS_SECTOR_BYTES: u64 = 512;

/// The HFS or HFS+ on the volume: `hfs` or `hfsplus`.
pub(super) fn hfs(heads: &Heads<'_>) -> Option<Found> {
    if let Some(plain) = hfs_plus(heads, 0) {
        return Some(Parsed::sound(plain));
    }
    let header: Block<162> = heads.block(HEADER_BYTES)?;
    if header.array::<0, 2>() != *b"BD" {
        return None;
    }
    let block_bytes = u64::from(header.be32::<20>());
    let blocks = u64::from(header.be16::<18>());
    let start_bytes = u64::from(header.be16::<28>()) * HFS_SECTOR_BYTES;
    // At most 2^32 bytes times 2^16, and 2^25: this cannot overflow.
    let end_bytes = start_bytes + blocks * block_bytes;
    let plausible = block_bytes != 0
        && block_bytes % HFS_SECTOR_BYTES == 0
        && blocks != 0
        && start_bytes > HEADER_BYTES
        && end_bytes <= heads.length_bytes();
    plausible.then_some(())?;
    if matches!(&header.array::<124, 2>(), b"H+" | b"HX") {
        let within_bytes = start_bytes + u64::from(header.be16::<126>()) * block_bytes;
        let wrapped = hfs_plus(heads, within_bytes)?;
        return Some(Parsed::sound(wrapped));
    }
    let length = usize::from(header.byte::<36>()).min(27);
    Some(Parsed::sound(FileSystem {
        label: field::label(header.0.get(37..37 + length)?),
        block_bytes: Some(block_bytes),
        size_bytes: Some(end_bytes),
        data_offset_bytes: start_bytes,
        ..FileSystem::named("hfs")
    }))
}

/// The HFS+ or HFSX that starts at `start_bytes` of the volume.
fn hfs_plus(heads: &Heads<'_>, start_bytes: u64) -> Option<FileSystem> {
    let header: Block<512> = heads.block(start_bytes.checked_add(HEADER_BYTES)?)?;
    let variant = match (&header.array::<0, 2>(), header.be16::<2>()) {
        (b"H+", 4) => "HFS+",
        (b"HX", 5) => "HFSX",
        _ => return None,
    };
    let block_bytes = field::power_of_two(header.be32::<40>(), 512..=1 << 31)?;
    let size_bytes = u64::from(header.be32::<44>()).checked_mul(block_bytes)?;
    let fits = size_bytes != 0 && size_bytes <= heads.length_bytes() - start_bytes;
    let wrapped = if start_bytes == 0 { "" } else { ", wrapped in HFS" };
    fits.then(|| FileSystem {
        variant: Some(format!("{variant}{wrapped}")),
        block_bytes: Some(block_bytes),
        size_bytes: Some(size_bytes),
        data_offset_bytes: start_bytes,
        ..FileSystem::named("hfsplus")
    })
}

/// The APFS container on the volume: `apfs`. A wrong object checksum is a problem.
pub(super) fn apfs(heads: &Heads<'_>) -> Option<Found> {
    if !heads.has(32, b"NXSB") {
        return None;
    }
    let superblock: Block<4096> = heads.block(0)?;
    let block_bytes = field::power_of_two(superblock.le32::<36>(), 4096..=65536)?;
    (superblock.le16::<24>() == 1).then_some(())?;
    let mut block = vec![0; usize::try_from(block_bytes).ok()?];
    let mut problems = Vec::new();
    match heads.read(0, &mut block) {
        Ok(()) if object_sum(&block) != superblock.le64::<0>() => {
            let detail = "the object checksum of the container superblock is wrong";
            problems.push(Problem::new(ProblemKind::Checksum, 0, detail));
        }
        Ok(()) => {}
        Err(error) => problems.push(Problem::unreadable("the container superblock", 0, &error)),
    }
    let value = FileSystem {
        id: field::uuid(superblock.array::<72, 16>()),
        size_bytes: superblock.le64::<40>().checked_mul(block_bytes),
        ..FileSystem::of_blocks("apfs", block_bytes)
    };
    Some(Parsed { value, problems })
}

/// Fletcher's 64-bit sum over all but the first eight bytes, such that the whole sums to zero.
fn object_sum(block: &[u8]) -> u64 {
    const MODULUS: u64 = 0xffff_ffff;
    let words = block.get(8..).unwrap_or_default().chunks_exact(4);
    let (first, second) = words.fold((0_u64, 0_u64), |(first, second), word| {
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let first = (first + u64::from(word)) % MODULUS;
        (first, (second + first) % MODULUS)
    });
    let low = MODULUS - (first + second) % MODULUS;
    let high = MODULUS - (first + low) % MODULUS;
    high << 32 | low
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::filesystem::hostile;

    // No tool that makes these is at hand, so they are made by the tests.
    fn plus_header(signature: &[u8], blocks: u32) -> Vec<u8> {
        let mut bytes = vec![0; 512];
        bytes[..4].copy_from_slice(signature);
        bytes[40..44].copy_from_slice(&4096_u32.to_be_bytes());
        bytes[44..48].copy_from_slice(&blocks.to_be_bytes());
        bytes
    }

    fn hfs_volume() -> MemoryDisk {
        let mut disk = MemoryDisk::new(4 << 20);
        disk.put(1024, b"BD");
        disk.put(1024 + 18, &1000_u16.to_be_bytes());
        disk.put(1024 + 20, &4096_u32.to_be_bytes());
        disk.put(1024 + 28, &19_u16.to_be_bytes());
        disk.put(1024 + 36, b"\x05Macos");
        disk
    }

    fn wrapped_volume() -> MemoryDisk {
        let mut disk = hfs_volume();
        disk.put(1024 + 124, b"H+");
        disk.put(1024 + 126, &3_u16.to_be_bytes());
        disk.put(19 * 512 + 3 * 4096 + 1024, &plus_header(b"H+\0\x04", 900));
        disk
    }

    fn container() -> MemoryDisk {
        let mut block = vec![0; 4096];
        block[24..28].copy_from_slice(&[1, 0, 0, 0x80]);
        block[32..36].copy_from_slice(b"NXSB");
        block[37] = 0x10;
        block[40] = 200;
        block[72..88].copy_from_slice(&[0x22; 16]);
        let sum = object_sum(&block).to_le_bytes();
        block[..8].copy_from_slice(&sum);
        MemoryDisk::with_head(1 << 20, &block)
    }

    #[test]
    fn an_hfs_counts_its_blocks_from_its_first_one() {
        let found = hfs(&Heads::new(&hfs_volume())).unwrap().value;
        assert_eq!((found.kind, found.block_bytes), ("hfs", Some(4096)));
        assert_eq!((found.label, found.data_offset_bytes), (Some("Macos".into()), 9728));
    }

    #[test]
    fn a_wrapped_hfs_plus_counts_from_where_it_starts() {
        let found = hfs(&Heads::new(&wrapped_volume())).unwrap().value;
        assert_eq!((found.kind, found.data_offset_bytes), ("hfsplus", 9728 + 12288));
        assert_eq!(found.variant.as_deref(), Some("HFS+, wrapped in HFS"));
    }

    #[test]
    fn two_letters_alone_are_no_file_system() {
        for signature in [&b"BD"[..], b"H+\0\x04", b"HX\0\x05"] {
            let mut disk = MemoryDisk::new(4 << 20);
            disk.put(1024, signature);
            assert!(hfs(&Heads::new(&disk)).is_none());
        }
        let mut disk = MemoryDisk::new(4 << 20);
        for (blocks, expected) in [(1024, true), (1025, false)] {
            disk.put(1024, &plus_header(b"HX\0\x05", blocks));
            assert_eq!(hfs(&Heads::new(&disk)).is_some(), expected);
        }
    }

    #[test]
    fn an_apfs_container_sums_to_zero_and_a_changed_one_is_a_problem() {
        let mut disk = container();
        let parsed = apfs(&Heads::new(&disk)).unwrap();
        assert_eq!(parsed.problems, []);
        assert_eq!(
            (parsed.value.block_bytes, parsed.value.size_bytes),
            (Some(4096), Some(819_200))
        );
        disk.put(1000, &[1]);
        let parsed = apfs(&Heads::new(&disk)).unwrap();
        assert_eq!(parsed.problems[0].kind, ProblemKind::Checksum);
    }

    #[test]
    fn every_changed_or_cut_byte_is_answered() {
        hostile::answers_whatever_stands_in(&hfs_volume(), 1024..1024 + 162, hfs);
        hostile::answers_whatever_stands_in(&wrapped_volume(), 1024..1024 + 162, hfs);
        hostile::answers_whatever_stands_in(&container(), 0..100, apfs);
    }
}
