//! bcachefs: the superblock at 4 KiB.
//!
//! One idea: it says where it stands, in units of 512 bytes, and that is checked. Source: bcachefs,
//! `bcachefs_format.h`, `struct bch_sb`.
//!
//! Not here: the members' bucket sizes, and the checksum, of which there are several kinds.

use super::facts::FileSystem;
use super::field;
use super::found::Found;
use crate::Parsed;
use crate::bytes::Block;
use crate::heads::Heads;
use device::{Disk, disk};

/// Place where the first superblock stands.
const SUPERBLOCK_BYTES: u64 = 4096;

/// The signature, and the one of early versions, which is that of bcache.
const SIGNATURES: [[u8; 16]; 2] = [
    [
        0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7,
        0xef,
    ],
    [
        0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d,
        0x81,
    ],
];

/// The bcachefs on the volume. bcache, which has the early signature too, is told apart by what
/// stands where this has its own place and its block size: there, bcache has flags and nothing.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    let superblock: Block<128> = heads.block(SUPERBLOCK_BYTES)?;
    is_superblock(&superblock).then_some(())?;
    let [devices, this] = [superblock.byte::<123>(), superblock.byte::<122>()];
    let block_bytes = field::power_of_two(u64::from(superblock.le16::<120>()) * 512, 512..=65536)?;
    let version = superblock.le16::<16>();
    Some(Parsed::sound(FileSystem {
        variant: Some(format!("{}.{}", version >> 10, version & 0x3ff)),
        label: field::label(&superblock.array::<72, 32>()),
        id: field::uuid(superblock.array::<56, 16>()),
        details: vec![("device", format!("{} of {devices}", u16::from(this) + 1))],
        ..FileSystem::of_blocks("bcachefs", block_bytes)
    }))
}

fn is_superblock(superblock: &Block<128>) -> bool {
    SIGNATURES.contains(&superblock.array::<24, 16>())
        && superblock.le64::<104>() == SUPERBLOCK_BYTES.div_euclid(512)
        && superblock.byte::<122>() < superblock.byte::<123>()
}

/// Returns whether a bcachefs is on `disk`, also one whose signature is that of bcache.
pub(crate) fn is_on(disk: &dyn Disk) -> bool {
    disk::read_array(disk, SUPERBLOCK_BYTES).is_ok_and(|bytes| is_superblock(&Block(bytes)))
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::filesystem::hostile;

    // No tool that makes these is at hand, so they are made by the tests.
    fn volume(signature: [u8; 16]) -> MemoryDisk {
        let mut disk = MemoryDisk::new(1 << 20);
        disk.put(4096 + 16, &((1_u16 << 10) | 28).to_le_bytes());
        disk.put(4096 + 24, &signature);
        disk.put(4096 + 56, &[0x44; 16]);
        disk.put(4096 + 72, b"pile");
        disk.put(4096 + 104, &[8]);
        disk.put(4096 + 120, &[8, 0, 1, 3]);
        disk
    }

    #[test]
    fn block_size_label_and_place_among_the_devices_are_read() {
        for signature in SIGNATURES {
            let found = read(&Heads::new(&volume(signature))).unwrap().value;
            assert_eq!((found.block_bytes, found.label), (Some(4096), Some("pile".into())));
            assert_eq!(found.variant.as_deref(), Some("1.28"));
            assert_eq!(found.details, [("device", "2 of 3".to_owned())]);
        }
    }

    #[test]
    fn a_bcache_superblock_is_none() {
        let mut disk = volume(SIGNATURES[1]);
        disk.put(4096 + 104, &[0]);
        assert!(read(&Heads::new(&disk)).is_none());
    }

    #[test]
    fn a_bcachefs_with_the_signature_of_bcache_is_no_bcache() {
        assert!(crate::member::bcache::read(&volume(SIGNATURES[1])).is_none());
    }

    #[test]
    fn every_changed_or_cut_byte_is_answered() {
        hostile::answers_whatever_stands_in(&volume(SIGNATURES[0]), 4096..4096 + 128, read);
    }
}
