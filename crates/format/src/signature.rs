//! Marks of data that no other parser here reads, for whoever is about to write over them.
//!
//! The parsers say what a disk holds, and check what they find. This table only says that something
//! may be there: its marks are looked for alone, without checksums, since a refusal too many costs
//! a question and one too few costs the data. Never used to say what a disk is.
//!
//! Sources: util-linux, `libblkid/src/superblocks` and `libblkid/src/partitions`; SNIA, "Common
//! RAID Disk Data Format"; ECMA-119 and ECMA-167 (volume recognition); Linux, `block/partitions`.

use device::Disk;

/// Where a mark stands.
#[derive(Clone, Copy)]
enum Place {
    /// Bytes from the start.
    Start(u64),
    /// Bytes before the end of the last whole sector of 512 bytes.
    End(u64),
}

use Place::{End, Start};

/// The bytes of the sector in which old formats count.
const SECTOR_BYTES: u64 = 512;

const PROMISE: &[u8] = b"Promise Technology, Inc.";
const DDF: &str = "ddf_raid_member";
const PDC: &str = "promise_fasttrack_raid_member";
const UDF: &str = "udf";

/// What blkid calls it, where its mark stands, and the mark.
const MARKS: &[(&str, Place, &[u8])] = &[
    (DDF, End(512), &[0xde, 0x11, 0xde, 0x11]),
    (DDF, End(512), &[0x11, 0xde, 0x11, 0xde]),
    (DDF, End(257 * 512), &[0xde, 0x11, 0xde, 0x11]),
    (DDF, End(257 * 512), &[0x11, 0xde, 0x11, 0xde]),
    ("adaptec_raid_member", End(512), &[0x37, 0xfc, 0x4d, 0x1e]),
    ("lsi_mega_raid_member", End(512), b"$XIDE$"),
    ("jmicron_raid_member", End(512), b"JM"),
    ("silicon_medley_raid_member", End(512 - 0x60), &[0, 0, 0, 0x2f]),
    ("nvidia_raid_member", End(1024), b"NVIDIA"),
    ("isw_raid_member", End(1024), b"Intel Raid ISM Cfg Sig. "),
    ("hpt45x_raid_member", End(11 * 512), &[0xf3, 0x16, 0x78, 0x5a]),
    ("hpt45x_raid_member", End(11 * 512), &[0xfd, 0x16, 0x78, 0x5a]),
    ("hpt37x_raid_member", Start(4640), &[0xf0, 0x16, 0x78, 0x5a]),
    ("hpt37x_raid_member", Start(4640), &[0xfd, 0x16, 0x78, 0x5a]),
    (PDC, End(16 * 512), PROMISE),
    (PDC, End(63 * 512), PROMISE),
    (PDC, End(255 * 512), PROMISE),
    (PDC, End(256 * 512), PROMISE),
    (PDC, End(399 * 512), PROMISE),
    (PDC, End(591 * 512), PROMISE),
    (PDC, End(675 * 512), PROMISE),
    (PDC, End(735 * 512), PROMISE),
    (PDC, End(911 * 512), PROMISE),
    (PDC, End(951 * 512), PROMISE),
    (PDC, End(974 * 512), PROMISE),
    (PDC, End(991 * 512), PROMISE),
    (PDC, End(3087 * 512), PROMISE),
    ("drbd", End(4096 - 60), &[0x83, 0x74, 0x02, 0x6b]),
    ("drbd", End(4096 - 60), &[0x83, 0x74, 0x02, 0x6c]),
    ("drbd", End(4096 - 60), &[0x83, 0x74, 0x02, 0x6d]),
    ("LVM1_member", Start(0), b"HM\x01\0"),
    ("LVM1_member", Start(0), b"HM\x02\0"),
    ("LVM2_member", Start(0x18), b"LVM2 001"),
    ("LVM2_member", Start(0x218), b"LVM2 001"),
    ("LVM2_member", Start(0x418), b"LVM2 001"),
    ("LVM2_member", Start(0x618), b"LVM2 001"),
    ("DM_snapshot_cow", Start(0), b"SnAp"),
    ("DM_verity_hash", Start(0), b"verity\0\0"),
    ("VMFS", Start(2 << 20), &[0x5e, 0xf1, 0xab, 0x2f]),
    ("VMFS_volume_member", Start(1 << 20), &[0x0d, 0xd0, 0x01, 0xc0]),
    ("ocfs2", Start(1 << 10), b"OCFSV2"),
    ("ocfs2", Start(2 << 10), b"OCFSV2"),
    ("ocfs2", Start(4 << 10), b"OCFSV2"),
    ("ocfs2", Start(8 << 10), b"OCFSV2"),
    ("gfs2", Start(64 << 10), &[0x01, 0x16, 0x19, 0x70]),
    ("vxfs", Start(1 << 10), &[0xf5, 0xfc, 0x01, 0xa5]),
    ("vxfs", Start(8 << 10), &[0xa5, 0x01, 0xfc, 0xf5]),
    ("befs", Start(544), b"1SFB"),
    ("befs", Start(544), b"BFS1"),
    ("hpfs", Start(8 << 10), &[0x49, 0xe8, 0x95, 0xf9]),
    ("reiser4", Start(64 << 10), b"ReIsEr4"),
    ("ubifs", Start(0), &[0x31, 0x18, 0x10, 0x06]),
    ("ubi", Start(0), b"UBI#"),
    ("iso9660", Start(32_769), b"CD001"),
    ("iso9660", Start(32_777), b"CDROM"),
    (UDF, Start(32_769), b"BEA01"),
    (UDF, Start(32_769), b"BOOT2"),
    (UDF, Start(32_769), b"CDW02"),
    (UDF, Start(32_769), b"NSR0"),
    ("sun", Start(508), &[0xda, 0xbe]),
    ("sgi", Start(0), &[0x0b, 0xe5, 0xa9, 0x41]),
    ("mac", Start(512), b"PM\0\0"),
    ("aix", Start(0), &[0xc9, 0xc2, 0xd4, 0xc1]),
];

/// The longest mark.
const MARK_MAX: usize = 24;

/// The names, as blkid has them, of what left a mark on `disk`, each once. Bytes that cannot be
/// read hold none.
#[must_use]
pub fn marks(disk: &dyn Disk) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    for &(name, place, mark) in MARKS {
        if !found.contains(&name) && stands(disk, place, mark) {
            found.push(name);
        }
    }
    found
}

fn stands(disk: &dyn Disk, place: Place, mark: &[u8]) -> bool {
    let length_bytes = disk.length_bytes();
    let end_bytes = length_bytes - length_bytes % SECTOR_BYTES;
    let at = match place {
        Start(bytes) => Some(bytes),
        End(bytes) => end_bytes.checked_sub(bytes),
    };
    let mut bytes = [0; MARK_MAX];
    let Some((at, part)) = at.zip(bytes.get_mut(..mark.len())) else { return false };
    disk.read_at(at, part).is_ok() && part == mark
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    const LENGTH_BYTES: u64 = 4 << 20;

    #[test]
    fn each_mark_is_found_at_its_place_and_not_a_byte_beside_it() {
        for &(name, place, mark) in MARKS {
            let at = match place {
                Start(bytes) => bytes,
                End(bytes) => LENGTH_BYTES - bytes,
            };
            let mut disk = MemoryDisk::with_head(LENGTH_BYTES, b"");
            disk.put(at, mark);
            assert!(marks(&disk).contains(&name), "{name} at {at}");
            let mut disk = MemoryDisk::with_head(LENGTH_BYTES, b"");
            let beside = at + 1;
            let fits = beside + u64::try_from(mark.len()).unwrap() <= LENGTH_BYTES;
            if fits {
                disk.put(beside, mark);
                assert!(!marks(&disk).contains(&name), "{name} beside {at}");
            }
        }
    }

    #[test]
    fn a_blank_disk_of_any_length_has_no_mark() {
        for length in [0, 1, 511, 512, 4096, 65_536, LENGTH_BYTES + 1] {
            assert!(marks(&MemoryDisk::with_head(length, b"")).is_empty(), "{length}");
        }
    }

    #[test]
    fn no_mark_is_longer_than_what_is_read() {
        assert!(MARKS.iter().all(|(_, _, mark)| (2..=MARK_MAX).contains(&mark.len())));
    }
}
