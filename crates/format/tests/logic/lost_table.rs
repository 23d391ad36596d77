//! Volumes that no table lists, on disks made of heads that real tools wrote.

use device::{Disk as _, MemoryDisk, disk, pack};
use format::lost_table::{self, LostVolume};

const MIB: u64 = 1 << 20;

/// A disk of 1 GiB.
struct Lost(MemoryDisk);

impl Lost {
    fn new() -> Lost {
        Lost(MemoryDisk::new(1 << 30))
    }

    /// The same with what a tool left on a volume, from `start` on.
    fn with(mut self, head: &str, start: u64) -> Lost {
        let path = format!("{}/tests/heads/{head}.pack", env!("CARGO_MANIFEST_DIR"));
        let packed = std::fs::read(path).expect("a head can be read");
        let volume = pack::unpack(&packed).expect("a head is a packed disk");
        for range in pack::ranges(&packed) {
            let length = range.length_bytes().min(volume.length_bytes() - range.start_bytes());
            let bytes = disk::read_vec(&volume, range.start_bytes(), length).expect("it is held");
            self.0.put(start + range.start_bytes(), &bytes);
        }
        self
    }

    /// The same with `count` zeros from `at` on.
    fn without(mut self, at: u64, count: usize) -> Lost {
        self.0.put(at, &vec![0; count]);
        self
    }

    /// Kinds and starts of what is found.
    fn found(&self) -> Vec<(String, u64)> {
        let found = lost_table::unlisted(&self.0).volumes.into_iter();
        found.map(|one| (one.what, one.start_bytes)).collect()
    }
}

fn check(disk: &Lost, expected: &[(&str, u64)]) {
    let expected: Vec<_> = expected.iter().map(|(kind, at)| ((*kind).to_owned(), *at)).collect();
    assert_eq!(disk.found(), expected);
}

#[test]
fn volumes_are_found_where_partitioners_start_the_first_one() {
    check(&Lost::new(), &[]);
    check(&Lost::new().with("ext4", MIB), &[("ext4", MIB)]);
    check(&Lost::new().with("ntfs", 63 * 512), &[("ntfs", 63 * 512)]);
    check(&Lost::new().with("luks2", 16 * MIB), &[("LUKS2", 16 * MIB)]);
    check(&Lost::new().with("btrfs", 4 * MIB), &[("btrfs", 4 * MIB)]);
}

#[test]
fn volumes_that_follow_a_found_one_are_found() {
    // 2 MiB, 64 MiB and one behind the record of a logical partition.
    let disk = Lost::new().with("fat12", MIB).with("ext4", 3 * MIB).with("xfs", 68 * MIB);
    check(&disk, &[("vfat", MIB), ("ext4", 3 * MIB), ("xfs", 68 * MIB)]);
    let disk = Lost::new().with("fat12", 63 * 512).with("ext4", 63 * 512 + 2 * MIB);
    check(&disk, &[("vfat", 63 * 512), ("ext4", 63 * 512 + 2 * MIB)]);
}

#[test]
fn a_copy_of_a_superblock_tells_where_its_file_system_started() {
    let fat = Lost::new().with("fat32", MIB).without(MIB, 512);
    let found = lost_table::unlisted(&fat.0).volumes;
    let [LostVolume { what, start_bytes, copy: Some(copy), .. }] = &found[..] else {
        panic!("{found:?}")
    };
    let expected = (&"vfat".to_owned(), MIB, MIB + 6 * 512);
    assert_eq!((what, *start_bytes, copy.at_bytes), expected);
    // The copy in block group 1, whose superblock says the group's number.
    let mut ext = Lost::new().with("ext4", MIB);
    let mut block = disk::read_vec(&ext.0, MIB + 1024, 1024).expect("it is held");
    block[0x5a] = 1;
    block[0x18] = 2;
    block[0x20..0x24].copy_from_slice(&32_768_u32.to_le_bytes());
    block[0x14] = 0;
    ext.0.put(129 * MIB, &block);
    let ext = ext.without(0, 4 << 20);
    check(&ext, &[("ext4", MIB)]);
}

#[test]
fn the_copy_in_the_last_sector_of_an_ntfs_tells_where_it_started() {
    let ntfs = Lost::new().with("ntfs", MIB);
    let boot = disk::read_vec(&ntfs.0, MIB, 512).expect("it is held");
    let sectors = u64::from_le_bytes(boot[0x28..0x30].try_into().expect("eight bytes"));
    let start = (1 << 30) - (sectors + 1) * 512;
    let mut copy = Lost::new();
    copy.0.put((1 << 30) - 512, &boot);
    check(&copy, &[("ntfs", start)]);
}

/// Heads of volumes, each with a word of what is found.
const VOLUMES: [(&str, &str); 19] = [
    ("bcache-backing", "bcache"),
    ("btrfs", "btrfs"),
    ("erofs", "erofs"),
    ("exfat", "exfat"),
    ("ext2", "ext2"),
    ("ext4", "ext4"),
    ("f2fs", "f2fs"),
    ("fat12", "vfat"),
    ("fat32", "vfat"),
    ("iso9660", "iso9660"),
    ("jfs", "jfs"),
    ("luks1", "LUKS1"),
    ("luks2", "LUKS2"),
    ("minix", "minix"),
    ("nilfs2", "nilfs2"),
    ("ntfs", "ntfs"),
    ("reiserfs", "reiserfs"),
    ("swap", "swap"),
    ("xfs", "xfs"),
];

#[test]
fn every_kind_of_volume_is_found_at_usual_and_at_other_whole_mebibytes() {
    for (head, what) in VOLUMES {
        for start in [34 * 512, MIB, 129 * MIB] {
            check(&Lost::new().with(head, start), &[(what, start)]);
        }
    }
}

/// A superblock of version 1 that says it is at `at`.
fn md_superblock(at: u64) -> Vec<u8> {
    let head = format!("{}/tests/heads/md-1.2-raid5.bin", env!("CARGO_MANIFEST_DIR"));
    let mut block = std::fs::read(head).expect("a head can be read");
    block[0x90..0x98].copy_from_slice(&(at / 512).to_le_bytes());
    block
}

#[test]
fn members_of_md_arrays_are_found_by_each_place_of_their_superblock() {
    for (at, what) in [(0, "md 1.1 RAID member"), (4096, "md 1.2 RAID member")] {
        for start in [63 * 512, MIB, 32 * MIB] {
            let mut disk = Lost::new();
            disk.0.put(start + at, &md_superblock(at));
            check(&disk, &[(what, start)]);
        }
    }
    // A partition that ends with the disk, and one that a backup GPT follows.
    for end in [1 << 30, (1 << 30) - 33 * 512] {
        let at = (end - MIB - 8192) & !4095;
        let mut disk = Lost::new();
        disk.0.put(MIB + at, &md_superblock(at));
        check(&disk, &[("md 1.0 RAID member", MIB)]);
    }
}

#[test]
fn the_second_header_of_luks2_tells_where_its_volume_starts() {
    for start in [MIB, 3 * MIB] {
        let disk = Lost::new().with("luks2", start).without(start, 4096);
        check(&disk, &[("LUKS2", start)]);
    }
}

#[test]
fn a_copy_is_never_taken_for_a_volume_that_starts_there() {
    // The copy in block group 1 of an ext4 with blocks of 1 KiB is where a volume that starts 8 MiB
    // later would have its own.
    let mut ext = Lost::new().with("ext4", 3 * MIB);
    let mut block = disk::read_vec(&ext.0, 3 * MIB + 1024, 1024).expect("it is held");
    block[0x5a] = 1;
    block[0x18] = 0;
    block[0x20..0x24].copy_from_slice(&8192_u32.to_le_bytes());
    block[0x14] = 1;
    ext.0.put(11 * MIB + 1024, &block);
    check(&ext.without(0, 4 << 20), &[("ext4", 3 * MIB)]);
    // The second allocation group of an XFS has its number in the sector that follows.
    let xfs = Lost::new().with("xfs", MIB);
    let mut block = disk::read_vec(&xfs.0, MIB, 512).expect("it is held");
    let group = u64::from(u32::from_be_bytes(block[84..88].try_into().expect("four bytes")));
    let bytes = group * u64::from(u32::from_be_bytes(block[4..8].try_into().expect("four bytes")));
    let sector = usize::from(u16::from_be_bytes([block[102], block[103]]));
    block.resize(sector, 0);
    block.extend(*b"XAGF\0\0\0\x01\0\0\0\x01");
    let start = 900 * MIB - bytes;
    let mut copy = Lost::new();
    copy.0.put(900 * MIB, &block);
    check(&copy, &[("xfs", start)]);
}

#[test]
fn the_copies_of_btrfs_and_exfat_tell_where_their_volumes_start() {
    let mut btrfs = Lost::new().with("btrfs", MIB);
    let mut block = disk::read_vec(&btrfs.0, MIB + (64 << 10), 4096).expect("it is held");
    block[48..56].copy_from_slice(&(64 * MIB).to_le_bytes());
    btrfs.0.put(65 * MIB, &block);
    check(&btrfs.without(MIB, 1 << 20), &[("btrfs", MIB)]);
    let exfat = Lost::new().with("exfat", 3 * MIB);
    let region = disk::read_vec(&exfat.0, 3 * MIB, 12 * 512).expect("it is held");
    let mut copy = Lost::new();
    copy.0.put(3 * MIB + 12 * 512, &region);
    check(&copy, &[("exfat", 3 * MIB)]);
}

#[test]
fn bytes_that_nothing_recognizes_are_noted_by_the_start_that_they_follow() {
    let data_at = |at: u64| {
        let mut disk = Lost::new();
        disk.0.put(at, b"x");
        lost_table::unlisted(&disk.0).data_at_bytes
    };
    assert_eq!(lost_table::unlisted(&Lost::new().0), lost_table::Unlisted::default());
    let scanned = format!("up to {} MiB", lost_table::SCANNED_MIB);
    assert!(lost_table::READ.contains(&scanned), "{}", lost_table::READ);
    for at in [3 * MIB, 700 * MIB, 1023 * MIB] {
        for within in [0, 1079, 36 * 1024 - 1, 65_600] {
            assert_eq!(data_at(at + within), Some(at), "{at} + {within}");
        }
        assert_eq!(data_at(at + (512 << 10)), None);
    }
}

#[test]
fn a_disk_of_noise_is_data_and_has_no_volume() {
    let mut disk = Lost::new();
    let mut random = units::random::Random::new(7);
    for start in (1..1024_u64).step_by(4) {
        let noise: Vec<u8> = (0..1024).flat_map(|_| random.below(u64::MAX).to_le_bytes()).collect();
        disk.0.put(start * MIB, &noise);
    }
    let found = lost_table::unlisted(&disk.0);
    assert_eq!((found.volumes, found.data_at_bytes), (Vec::new(), Some(MIB)));
}
