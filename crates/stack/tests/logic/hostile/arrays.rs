//! Arrays that no tool would make.

use std::rc::Rc;

use device::MemoryDisk;
use format::ProblemKind;

use super::made::{Gpt, Member, boot_record};
use super::watched::{Bytes, about, answer, soak, told};

/// A member of a RAID 0 of two with chunks of 64 KiB.
const PLAIN: Member = Member {
    array: 1,
    level: 0,
    layout: 0,
    chunk_sectors: 128,
    raid_disks: 2,
    role: 0,
    data_sectors: 1 << 20,
    data_at_sector: 2048,
};

fn disk(member: &Member) -> MemoryDisk {
    let mut disk = MemoryDisk::new(1 << 40);
    disk.put(4096, &member.superblock());
    disk
}

#[test]
fn an_array_of_2_to_the_32_members_is_answered_at_every_level() {
    for level in [-4, -1, 0, 1, 4, 5, 6, 10, i32::MAX, i32::MIN] {
        for layout in [0, 0x102, 0x201, 0x1_0201, 0xffff, u32::MAX] {
            let disk = disk(&Member { level, layout, raid_disks: u32::MAX, ..PLAIN });
            let answer = about(disk);
            assert!(told(&answer, ProblemKind::Field, "4294967295 members"), "{level} {layout:#x}");
        }
    }
}

#[test]
fn chunks_and_offsets_at_the_end_of_all_addresses_are_answered() {
    let ends = [0, 1, 7, (1 << 32) - 1, 1 << 54, (1 << 55) - 1, u64::MAX];
    for level in [-1, 0, 1, 5, 6, 10] {
        for raid_disks in [0, 1, 2, 1920] {
            for chunk_sectors in [0, 1, 127, 1 << 31, u32::MAX] {
                for data_sectors in ends {
                    for data_at_sector in ends {
                        let layout = if level == 10 { 0x102 } else { 2 };
                        let member = Member {
                            level,
                            layout,
                            chunk_sectors,
                            raid_disks,
                            data_sectors,
                            data_at_sector,
                            ..PLAIN
                        };
                        let mut disk = MemoryDisk::new(u64::MAX);
                        disk.put(4096, &member.superblock());
                        about(disk);
                    }
                }
            }
        }
    }
}

#[test]
fn an_array_whose_only_member_is_itself_is_looked_into_as_deep_as_layers_go() {
    // The data begins at byte 0, so that the array shows its own superblock again.
    let one = Member { level: 1, raid_disks: 1, data_at_sector: 0, ..PLAIN };
    let answer = about(disk(&one));
    assert!(answer.assembled.stack.len() < 10, "{} layers", answer.assembled.stack.len());
    assert!(told(&answer, ProblemKind::Chain, "lies within itself"));
}

#[test]
fn a_thousand_members_that_claim_one_place_are_told() {
    let members: Vec<Bytes> = (0..1000).map(|_| Rc::new(disk(&PLAIN)) as Bytes).collect();
    let answer = answer(&members, || "clones".to_owned());
    assert!(told(&answer, ProblemKind::Copies, "claim the same place"));
}

#[test]
fn a_thousand_arrays_in_a_thousand_partitions_are_answered() {
    let mut disk = MemoryDisk::new(1 << 40);
    let sectors = 1 << 13;
    let partition = |number: u64| (4096 + number * sectors, 4095 + (number + 1) * sectors);
    let partitions: Vec<(u64, u64)> = (0..1000).map(partition).collect();
    for (number, (first, _)) in (0_u16..).zip(&partitions) {
        let member = Member {
            array: number % 200,
            raid_disks: 5,
            role: number / 200,
            data_at_sector: 32,
            ..PLAIN
        };
        disk.put(first * 512 + 4096, &member.superblock());
        disk.put(first * 512 + 16384, &boot_record(&[(0, 0x83, 3, 4095)]));
    }
    Gpt { partitions, entry_count: 1000, entry_bytes: 128 }.put(&mut disk);
    let answer = about(disk);
    assert!(answer.assembled.stack.len() > 2000, "{} layers", answer.assembled.stack.len());
}

#[test]
fn an_array_of_a_thousand_partitions_of_one_disk_under_a_thousand_partitions_is_answered() {
    for level in [0, 1, 6, 10, -1] {
        // Everyday runs have time for one of a thousand.
        let count: u16 = if level == 0 || soak() { 1000 } else { 300 };
        let mut disk = MemoryDisk::new(1 << 40);
        let sectors = 1 << 13;
        let partition = |number: u64| (4096 + number * sectors, 4095 + (number + 1) * sectors);
        let partitions: Vec<(u64, u64)> = (0..u64::from(count)).map(partition).collect();
        for (role, (first, _)) in (0_u16..).zip(&partitions) {
            let layout = if level == 10 { 0x102 } else { 2 };
            let member = Member {
                level,
                layout,
                raid_disks: count.into(),
                role,
                data_at_sector: 1025,
                data_sectors: 4096,
                chunk_sectors: 1024,
                ..PLAIN
            };
            disk.put(first * 512 + 4096, &member.superblock());
        }
        // In the array's first chunk: a table of its own.
        let mut inner = MemoryDisk::new(1 << 20);
        let odd =
            (0..u64::from(count)).map(|number| (1001 + number * 3, 1003 + number * 3)).collect();
        Gpt { partitions: odd, entry_count: 1000, entry_bytes: 128 }.put(&mut inner);
        let inner = device::disk::read_vec(&inner, 0, 256 << 10).unwrap();
        disk.put((4096 + 1025) * 512, &inner);
        Gpt { partitions, entry_count: 1000, entry_bytes: 128 }.put(&mut disk);
        let answer = about(disk);
        // With parity, the first chunk is on another member.
        let layers = answer.assembled.stack.len();
        assert!(layers > 3 * usize::from(count) || !matches!(level, 0 | 1), "{layers} layers");
    }
}

#[test]
fn thousands_of_arrays_of_thousands_of_members_are_answered() {
    let mut disk = MemoryDisk::new(1 << 40);
    let sectors = 1 << 13;
    let partition = |number: u64| (4096 + number * sectors, 4095 + (number + 1) * sectors);
    let partitions: Vec<(u64, u64)> = (0..2000).map(partition).collect();
    for (array, (first, _)) in (0_u16..).zip(&partitions) {
        let member = Member { array, raid_disks: 1920, data_at_sector: 32, ..PLAIN };
        disk.put(first * 512 + 4096, &member.superblock());
    }
    Gpt { partitions, entry_count: 2000, entry_bytes: 128 }.put(&mut disk);
    let answer = about(disk);
    assert!(told(&answer, ProblemKind::Unsupported, "what is inside was not looked at"));
}
