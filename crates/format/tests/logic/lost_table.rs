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
        let found = lost_table::volumes(&self.0).into_iter();
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
    let found = lost_table::volumes(&fat.0);
    let [LostVolume { what, start_bytes, copy_at_bytes, .. }] = &found[..] else {
        panic!("{found:?}")
    };
    let expected = (&"vfat".to_owned(), MIB, Some(MIB + 6 * 512));
    assert_eq!((what, *start_bytes, *copy_at_bytes), expected);
    // The copy in block group 1, whose superblock says the group's number.
    let mut ext = Lost::new().with("ext4", MIB);
    let mut block = disk::read_vec(&ext.0, MIB + 1024, 1024).expect("it is held");
    block[0x5a] = 1;
    block[0x18] = 2;
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
