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
use crate::named::NAMED;
use crate::named::Place::{self, End, Sectors, Start};

const UDF: &str = "udf";

/// What blkid calls it, where its mark stands, and the mark.
const MARKS: &[(&str, Place, &[u8])] = &[
    ("jmicron_raid_member", End(512, 512), b"JM"),
    ("LVM2_member", Start(0x18), b"LVM2 001"),
    ("LVM2_member", Start(0x218), b"LVM2 001"),
    ("LVM2_member", Start(0x418), b"LVM2 001"),
    ("LVM2_member", Start(0x618), b"LVM2 001"),
    ("ocfs2", Start(1 << 10), b"OCFSV2"),
    ("ocfs2", Start(2 << 10), b"OCFSV2"),
    ("ocfs2", Start(4 << 10), b"OCFSV2"),
    ("ocfs2", Start(8 << 10), b"OCFSV2"),
    ("gfs2", Start(64 << 10), &[0x01, 0x16, 0x19, 0x70]),
    ("vxfs", Start(8 << 10), &[0xa5, 0x01, 0xfc, 0xf5]),
    ("reiser4", Start(64 << 10), b"ReIsEr4"),
    ("iso9660", Start(32_769), b"CD001"),
    ("iso9660", Start(32_777), b"CDROM"),
    (UDF, Start(32_769), b"BEA01"),
    (UDF, Start(32_769), b"BOOT2"),
    (UDF, Start(32_769), b"CDW02"),
    (UDF, Start(32_769), b"NSR0"),
    ("sun", Start(508), &[0xda, 0xbe]),
    ("sgi", Start(0), &[0x0b, 0xe5, 0xa9, 0x41]),
    ("bsd", Start(512), &[0x57, 0x45, 0x56, 0x82]),
    ("bsd", Start(64), &[0x57, 0x45, 0x56, 0x82]),
    ("gpt", Start(512), b"EFI PART"),
    ("gpt", Start(4096), b"EFI PART"),
    ("gpt", End(512, 512), b"EFI PART"),
    ("gpt", End(4096, 4096), b"EFI PART"),
    ("dos", Start(510), &[0x55, 0xaa]),
    // The superblock, and its first two copies with blocks of 1, 2 and 4 KiB.
    (EXT, Start(1080), EXT_MARK),
    (EXT, Start((8193 << 10) + 56), EXT_MARK),
    (EXT, Start((24_577 << 10) + 56), EXT_MARK),
    (EXT, Start((16_384 << 11) + 56), EXT_MARK),
    (EXT, Start((49_152 << 11) + 56), EXT_MARK),
    (EXT, Start((32_768 << 12) + 56), EXT_MARK),
    (EXT, Start((98_304 << 12) + 56), EXT_MARK),
    ("jbd", Start(0), JBD_MARK),
    ("jbd", Start(1024), JBD_MARK),
    ("jbd", Start(2048), JBD_MARK),
    ("jbd", Start(4096), JBD_MARK),
    ("xfs", Start(0), b"XFSB"),
    ("xfs_external_log", Sectors(512), &[0xfe, 0xed, 0xba, 0xbe]),
    ("btrfs", Start((64 << 10) + 64), b"_BHRfS_M"),
    ("btrfs", Start((64 << 20) + 64), b"_BHRfS_M"),
    ("f2fs", Start(1024), &[0x10, 0x20, 0xf5, 0xf2]),
    ("f2fs", Start(5120), &[0x10, 0x20, 0xf5, 0xf2]),
    ("nilfs2", Start(1030), &[0x34, 0x34]),
    ("erofs", Start(1024), &[0xe2, 0xe1, 0xf5, 0xe0]),
    ("squashfs", Start(0), b"hsqs"),
    ("squashfs", Start(0), b"sqsh"),
    ("cramfs", Start(0), &[0x45, 0x3d, 0xcd, 0x28]),
    ("cramfs", Start(0), &[0x28, 0xcd, 0x3d, 0x45]),
    ("romfs", Start(0), b"-rom1fs-"),
    ("jfs", Start(32 << 10), b"JFS1"),
    ("reiserfs", Start((8 << 10) + 52), b"ReIsEr"),
    ("reiserfs", Start((64 << 10) + 52), b"ReIsEr"),
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
    (SYSV, Start(0x3f8), SYSV_LITTLE),
    (SYSV, Start(0x3f8), SYSV_BIG),
    (SYSV, Start((9 << 10) + 0x3f8), SYSV_LITTLE),
    (SYSV, Start((9 << 10) + 0x3f8), SYSV_BIG),
    (SYSV, Start((15 << 10) + 0x3f8), SYSV_LITTLE),
    (SYSV, Start((18 << 10) + 0x3f8), SYSV_LITTLE),
    ("xenix", Start(2048), &[0x2b, 0x55, 0x44]),
    ("xenix", Start(2048), &[0x44, 0x55, 0x2b]),
    ("nss", Start(4096), b"SPB5"),
    (UFS, Start(0x55c), UFS_1),
    (UFS, Start((8 << 10) + 0x55c), UFS_1),
    (UFS, Start((8 << 10) + 0x55c), UFS_1_BIG),
    (UFS, Start((8 << 10) + 0x55c), UFS_2),
    (UFS, Start((64 << 10) + 0x55c), UFS_1),
    (UFS, Start((64 << 10) + 0x55c), UFS_2),
    (UFS, Start((64 << 10) + 0x55c), UFS_2_BIG),
    (UFS, Start((256 << 10) + 0x55c), UFS_2),
    ("swap", Start(4086), b"SWAP"),
    ("swap", Start(8182), b"SWAP"),
    ("swap", Start(16_374), b"SWAP"),
    ("swap", Start(65_526), b"SWAP"),
    ("swsuspend", Start(4086), b"S1SUSPEND"),
    ("swsuspend", Start(4086), b"S2SUSPEND"),
    ("swsuspend", Start(4086), b"LINHIB0001"),
    ("crypto_LUKS", Start(0), b"LUKS\xba\xbe"),
    // The second header of LUKS2 stands where the first one ends.
    (LUKS, Start(0x4000), LUKS_SECOND),
    (LUKS, Start(0x8000), LUKS_SECOND),
    (LUKS, Start(0x1_0000), LUKS_SECOND),
    (LUKS, Start(0x2_0000), LUKS_SECOND),
    (LUKS, Start(0x4_0000), LUKS_SECOND),
    (LUKS, Start(0x8_0000), LUKS_SECOND),
    (LUKS, Start(0x10_0000), LUKS_SECOND),
    (LUKS, Start(0x20_0000), LUKS_SECOND),
    (LUKS, Start(0x40_0000), LUKS_SECOND),
    ("linux_raid_member", Start(0), MD_MARK),
    ("linux_raid_member", Start(4096), MD_MARK),
    ("linux_raid_member", End(8192, 4096), MD_MARK),
    ("linux_raid_member", End(64 << 10, 64 << 10), MD_MARK),
    ("DM_integrity", Start(0), b"integrt\0"),
    ("bcache", Start(4120), BCACHE_MARK),
    ("bcache", Start(24), BCACHE_MARK),
];

const EXT: &str = "ext";
const EXT_MARK: &[u8] = &[0x53, 0xef];
/// The head of a block of a journal.
const JBD_MARK: &[u8] = &[0xc0, 0x3b, 0x39, 0x98];
const LUKS: &str = "crypto_LUKS";
const LUKS_SECOND: &[u8] = b"SKUL\xba\xbe";
const MD_MARK: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];
const BCACHE_MARK: &[u8] = &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca];
const SYSV: &str = "sysv";
const SYSV_LITTLE: &[u8] = &[0x20, 0x7e, 0x18, 0xfd];
const SYSV_BIG: &[u8] = &[0xfd, 0x18, 0x7e, 0x20];
const UFS: &str = "ufs";
const UFS_1: &[u8] = &[0x54, 0x19, 0x01, 0x00];
const UFS_1_BIG: &[u8] = &[0x00, 0x01, 0x19, 0x54];
const UFS_2: &[u8] = &[0x19, 0x01, 0x54, 0x19];
const UFS_2_BIG: &[u8] = &[0x19, 0x54, 0x01, 0x19];

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
            let at = place.of(LENGTH_BYTES).next().unwrap();
            let mut disk = MemoryDisk::with_head(LENGTH_BYTES, b"");
            disk.put(at, mark);
            assert!(marks(&disk).contains(&name), "{name} at {at}");
            let mut disk = MemoryDisk::with_head(LENGTH_BYTES, b"");
            disk.put(at + 1, mark);
            assert!(!marks(&disk).contains(&name), "{name} beside {at}");
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
