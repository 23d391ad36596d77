//! Disk images, and what is in them, that no tool would write.

use std::path::Path;
use std::rc::Rc;

use device::{MemoryDisk, disk, pack};
use format::ProblemKind;

use super::made::{Gpt, boot_record, put_vhd, qcow2};
use super::watched::{Bytes, Filled, about, answer, one_by_turns, told};

#[test]
fn a_qcow2_image_of_2_to_the_64_bytes_is_answered() {
    let mut turn = 0;
    for bits in [9, 16, 21] {
        for entries in [0, 1, u32::MAX] {
            for length in [1 << 20, 1 << 50, u64::MAX] {
                let mut file = MemoryDisk::new(length);
                file.put(0, &qcow2(u64::MAX, bits, entries, 1 << 21));
                for with in one_by_turns(&[0, 0x40, 0x80, 0xff], &mut turn) {
                    let file: Bytes = Rc::new(Filled { head: file.clone(), head_bytes: 104, with });
                    answer(&[file], || format!("{bits} bits, {entries} entries, {with:#x}"));
                }
            }
        }
    }
}

#[test]
fn a_qcow2_image_whose_tables_are_all_one_table_is_answered() {
    // Every L1 entry leads to the same L2 table, each of whose entries leads to the same cluster.
    let mut file = MemoryDisk::new(1 << 30);
    file.put(0, &qcow2(1 << 50, 9, 1 << 20, 1 << 20));
    file.put(1 << 20, &(1_u64 << 63 | 512).to_be_bytes().repeat(1 << 20));
    file.put(512, &(1_u64 << 63 | 1024).to_be_bytes().repeat(64));
    file.put(1024, &boot_record(&[(0, 0x83, 1, u32::MAX), (1, 0x83, 2, u32::MAX)]));
    about(file);
}

#[test]
fn a_vhd_with_a_table_of_2_to_the_32_blocks_is_answered() {
    let mut turn = 0;
    for block_bytes in [512, 1 << 21, 1 << 31] {
        for guest_bytes in [0, 1 << 40, 2 << 40, u64::MAX] {
            let mut head = MemoryDisk::new(1 << 44);
            put_vhd(&mut head, guest_bytes, block_bytes, u32::MAX);
            for with in one_by_turns(&[0, 1, 0xff], &mut turn) {
                let file: Bytes = Rc::new(Filled { head: head.clone(), head_bytes: 1536, with });
                answer(&[file], || format!("{guest_bytes} in {block_bytes} filled with {with}"));
            }
        }
    }
}

#[test]
fn a_vhd_whose_blocks_all_lie_elsewhere_under_a_thousand_partitions_is_answered() {
    let mut file = MemoryDisk::new(1 << 44);
    put_vhd(&mut file, 1 << 40, 512, u32::MAX);
    // Blocks of one sector behind a bitmap of one: the first megabytes in any order.
    let entries: Vec<u8> = (0..1_u32 << 20)
        .flat_map(|block| (block * 7 % (1 << 24) + (1 << 16)).to_be_bytes())
        .collect();
    file.put(1536, &entries);
    let guest =
        |number: u64| (u64::from(u32::try_from(number * 7).unwrap()) + (1 << 16)) * 512 + 512;
    let mut inner = MemoryDisk::new(1 << 20);
    let partitions = (0..1000).map(|number| (1001 + number, 1 << 31)).collect();
    Gpt { partitions, entry_count: 1000, entry_bytes: 128 }.put(&mut inner);
    for sector in 0..300 {
        let bytes = disk::read_vec(&inner, sector * 512, 512).unwrap();
        file.put(guest(sector), &bytes);
        file.put(guest(sector) - 512, &[0xff; 512]);
    }
    let answer = about(file);
    assert!(answer.assembled.stack.len() > 1000, "{} layers", answer.assembled.stack.len());
}

/// Place where a file system's size stands: the head, the field's first byte and its length.
const SIZES: [(&str, u64, usize); 11] = [
    ("ext4", 1024 + 4, 4),
    ("ext4", 1024 + 24, 4),
    ("ext4", 1024 + 0x150, 4),
    ("xfs", 8, 8),
    ("btrfs", 65536 + 0x70, 8),
    ("ntfs", 0x28, 8),
    ("fat16", 19, 2),
    ("fat32", 32, 4),
    ("exfat", 72, 8),
    ("f2fs", 1024 + 36, 8),
    ("swap", 1028, 4),
];

#[test]
fn file_systems_whose_sizes_are_as_large_as_fields_go_are_answered() {
    for (name, at_bytes, length) in SIZES {
        for disk_bytes in [1 << 24, 1 << 50, u64::MAX] {
            let mut disk = head(name, disk_bytes);
            disk.put(at_bytes, &vec![0xff; length]);
            let answer = about(disk);
            let layers = answer.assembled.stack.iter();
            let problems: usize = layers.map(|(_, layer)| layer.problems.len()).sum();
            let told = problems > 0 || disk_bytes > 1 << 24;
            assert!(told, "{name} at {at_bytes}: {:#?}", answer.assembled.stack);
        }
    }
}

/// The head `name` of a real volume, on a disk of another length.
fn head(name: &str, length_bytes: u64) -> MemoryDisk {
    let heads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../format/tests/heads");
    let packed = std::fs::read(heads.join(format!("{name}.pack"))).expect("a head can be read");
    let whole = pack::unpack(&packed).expect("a head is a packed disk");
    let mut disk = MemoryDisk::new(length_bytes);
    for range in pack::ranges(&packed).iter().filter(|range| range.end_bytes() <= length_bytes) {
        let bytes = disk::read_vec(&whole, range.start_bytes(), range.length_bytes());
        disk.put(range.start_bytes(), &bytes.expect("a head holds it"));
    }
    disk
}

#[test]
fn a_disk_of_all_addresses_is_answered_whatever_its_bytes_are() {
    let mut random = testkit::random(64);
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..1024).flat_map(|_| random.next_u64().to_le_bytes()).collect();
        let mut disk = MemoryDisk::with_head(u64::MAX, &bytes);
        disk.put(u64::MAX - 8192, &bytes);
        disk.put(510, &[0x55, 0xaa]);
        about(disk);
    }
    assert!(!told(&about(MemoryDisk::new(u64::MAX)), ProblemKind::Field, ""));
}
