//! Marks of data that no other parser here reads, for whoever is about to write over them.
//!
//! The parsers say what a disk holds, and check what they find. This table only says that something
//! may be there: its marks are looked for alone, without checksums, since a refusal too many costs
//! a question and one too few costs the data. Never used to say what a disk is. All that
//! [`crate::named`] knows is looked for as well.
//!
//! Sources: util-linux, `libblkid/src/superblocks` and `libblkid/src/partitions`; ECMA-119 and
//! ECMA-167 (volume recognition); Linux, `include/uapi/linux/magic.h`, `fs/jbd2`, `fs/sysv`,
//! `fs/ufs/ufs_fs.h`, `fs/xfs/libxfs/xfs_log_format.h`; LUKS2 On-Disk Format Specification, 2.

use device::Disk;

use crate::heads::Heads;
use crate::named::MagicPlace::{self, End, Sectors, Start, Starts};
use crate::named::NAMED;

/// The name that blkid uses, the mark's place, and the mark.
const MARKS: &[(&str, MagicPlace, &[u8])] = &[
    ("jmicron_raid_member", End(512, 512), b"JM"),
    ("LVM2_member", Starts(&[0x18, 0x218, 0x418, 0x618]), b"LVM2 001"),
    ("ocfs2", Starts(&[1 << 10, 2 << 10, 4 << 10, 8 << 10]), b"OCFSV2"),
    ("gfs2", Start(64 << 10), &[0x01, 0x16, 0x19, 0x70]),
    ("vxfs", Start(8 << 10), &[0xa5, 0x01, 0xfc, 0xf5]),
    ("reiser4", Start(64 << 10), b"ReIsEr4"),
    ("iso9660", Start(32_769), b"CD001"),
    ("iso9660", Start(32_777), b"CDROM"),
    ("udf", Start(32_769), b"BEA01"),
    ("udf", Start(32_769), b"BOOT2"),
    ("udf", Start(32_769), b"CDW02"),
    ("udf", Start(32_769), b"NSR0"),
    ("sun", Start(508), &[0xda, 0xbe]),
    ("sgi", Start(0), &[0x0b, 0xe5, 0xa9, 0x41]),
    ("bsd", Starts(&[512, 64]), &[0x57, 0x45, 0x56, 0x82]),
    ("gpt", Starts(&[512, 4096]), b"EFI PART"),
    ("gpt", End(512, 512), b"EFI PART"),
    ("gpt", End(4096, 4096), b"EFI PART"),
    ("dos", Start(510), &[0x55, 0xaa]),
    ("ext", Starts(EXT_PLACES), &[0x53, 0xef]),
    // The head of a block of a journal.
    ("jbd", Starts(&[0, 1024, 2048, 4096]), &[0xc0, 0x3b, 0x39, 0x98]),
    ("xfs", Start(0), b"XFSB"),
    ("xfs_external_log", Sectors(512), &[0xfe, 0xed, 0xba, 0xbe]),
    // A packed list of names and values, in labels 0 and 1, of either byte order.
    ("zfs_member", Starts(ZFS_PLACES), &[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    ("zfs_member", Starts(ZFS_PLACES), &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    ("btrfs", Starts(&[(64 << 10) + 64, (64 << 20) + 64]), b"_BHRfS_M"),
    ("f2fs", Starts(&[1024, 5120]), &[0x10, 0x20, 0xf5, 0xf2]),
    ("nilfs2", Start(1030), &[0x34, 0x34]),
    ("erofs", Start(1024), &[0xe2, 0xe1, 0xf5, 0xe0]),
    ("squashfs", Start(0), b"hsqs"),
    ("squashfs", Start(0), b"sqsh"),
    ("cramfs", Start(0), &[0x45, 0x3d, 0xcd, 0x28]),
    ("cramfs", Start(0), &[0x28, 0xcd, 0x3d, 0x45]),
    ("romfs", Start(0), b"-rom1fs-"),
    ("jfs", Start(32 << 10), b"JFS1"),
    ("reiserfs", Starts(&[(8 << 10) + 52, (64 << 10) + 52]), b"ReIsEr"),
    ("hfs", Start(1024), b"BD"),
    ("hfsplus", Start(1024), b"H+\0\x04"),
    ("hfsplus", Start(1024), b"HX\0\x05"),
    ("apfs", Start(32), b"NXSB"),
    ("ntfs", Start(3), b"NTFS    "),
    ("exfat", Start(3), b"EXFAT   "),
    ("vfat", Start(54), b"FAT1"),
    ("vfat", Start(82), b"FAT32   "),
    ("minix", Start(1040), &[0x7f, 0x13]),
    ("minix", Start(1040), &[0x8f, 0x13]),
    ("minix", Start(1040), &[0x68, 0x24]),
    ("minix", Start(1040), &[0x78, 0x24]),
    ("minix", Start(1048), &[0x5a, 0x4d]),
    ("sysv", Starts(SYSV_PLACES), &[0x20, 0x7e, 0x18, 0xfd]),
    ("sysv", Starts(&[0x3f8, (9 << 10) + 0x3f8]), &[0xfd, 0x18, 0x7e, 0x20]),
    ("xenix", Start(2048), &[0x2b, 0x55, 0x44]),
    ("xenix", Start(2048), &[0x44, 0x55, 0x2b]),
    ("nss", Start(4096), b"SPB5"),
    ("ufs", Starts(&[0x55c, (8 << 10) + 0x55c, (64 << 10) + 0x55c]), &[0x54, 0x19, 0x01, 0x00]),
    ("ufs", Start((8 << 10) + 0x55c), &[0x00, 0x01, 0x19, 0x54]),
    ("ufs", Starts(UFS_2_PLACES), &[0x19, 0x01, 0x54, 0x19]),
    ("ufs", Start((64 << 10) + 0x55c), &[0x19, 0x54, 0x01, 0x19]),
    ("swap", Starts(&[4086, 8182, 16_374, 65_526]), b"SWAP"),
    ("swsuspend", Start(4086), b"S1SUSPEND"),
    ("swsuspend", Start(4086), b"S2SUSPEND"),
    ("swsuspend", Start(4086), b"LINHIB0001"),
    ("crypto_LUKS", Start(0), b"LUKS\xba\xbe"),
    ("crypto_LUKS", Starts(LUKS_SECOND_PLACES), b"SKUL\xba\xbe"),
    ("linux_raid_member", Starts(&[0, 4096]), MD),
    ("linux_raid_member", End(8192, 4096), MD),
    ("linux_raid_member", End(64 << 10, 64 << 10), MD),
    ("DM_integrity", Start(0), b"integrt\0"),
    ("bcache", Starts(&[4120, 24]), &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca]),
];

const MD: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];

/// The superblock, and its first two copies with blocks of 1, 2 and 4 KiB.
const EXT_PLACES: &[u64] = &[
    1080,
    (8193 << 10) + 56,
    (24_577 << 10) + 56,
    (16_384 << 11) + 56,
    (49_152 << 11) + 56,
    (32_768 << 12) + 56,
    (98_304 << 12) + 56,
];

const SYSV_PLACES: &[u64] = &[0x3f8, (9 << 10) + 0x3f8, (15 << 10) + 0x3f8, (18 << 10) + 0x3f8];

const ZFS_PLACES: &[u64] = &[16 << 10, (256 + 16) << 10];

const UFS_2_PLACES: &[u64] = &[(8 << 10) + 0x55c, (64 << 10) + 0x55c, (256 << 10) + 0x55c];

/// The second header of LUKS2 stands where the first one ends.
const LUKS_SECOND_PLACES: &[u64] =
    &[0x4000, 0x8000, 0x1_0000, 0x2_0000, 0x4_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000];

/// The names, as blkid has them where it has, of what left a mark on `disk`, each once. Bytes that
/// cannot be read hold none.
#[must_use]
pub fn marks(disk: &dyn Disk) -> Vec<&'static str> {
    let heads = Heads::new(disk);
    let named = NAMED.iter().filter(|entry| entry.leaves_mark(disk)).map(|entry| entry.kind);
    let others = MARKS.iter().filter(|(_, place, mark)| {
        place.of(disk.length_bytes()).any(|at_bytes| heads.has(at_bytes, mark))
    });
    let mut found: Vec<&'static str> = Vec::new();
    for kind in named.chain(others.map(|(name, ..)| *name)) {
        if !found.contains(&kind) {
            found.push(kind);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    const LENGTH_BYTES: u64 = 512 << 20;

    #[test]
    fn each_mark_is_found_at_its_place_and_not_a_byte_beside_it() {
        for &(name, place, mark) in MARKS {
            for at in place.of(LENGTH_BYTES) {
                let mut disk = MemoryDisk::with_head(LENGTH_BYTES, b"");
                disk.put(at, mark);
                assert!(marks(&disk).contains(&name), "{name} at {at}");
                let mut disk = MemoryDisk::with_head(LENGTH_BYTES, b"");
                disk.put(at + 1, mark);
                assert!(!marks(&disk).contains(&name), "{name} beside {at}");
            }
        }
    }

    #[test]
    fn whatever_is_known_by_name_leaves_a_mark() {
        for entry in NAMED {
            let mut disk = MemoryDisk::with_head(LENGTH_BYTES, b"");
            disk.put(entry.place.of(LENGTH_BYTES).next().unwrap(), entry.mark);
            assert!(marks(&disk).contains(&entry.kind), "{}", entry.kind);
        }
    }

    #[test]
    fn a_blank_disk_of_any_length_has_no_mark() {
        for length in [0, 1, 511, 512, 4096, 65_536, LENGTH_BYTES + 1] {
            assert!(marks(&MemoryDisk::with_head(length, b"")).is_empty(), "{length}");
        }
    }
}
