//! Partition tables that no tool would write.

use device::MemoryDisk;
use format::ProblemKind;

use super::made::{Gpt, boot_record};
use super::watched::{about, told};

/// A disk whose extended partition begins at sector 1, with the boot records `records` from there
/// on, each as entries.
fn chained(length: u64, records: impl Iterator<Item = [u8; 512]>) -> MemoryDisk {
    let mut disk = MemoryDisk::new(length);
    disk.put(0, &boot_record(&[(0, 0x05, 1, u32::MAX)]));
    for (sector, record) in (1..).zip(records) {
        disk.put(sector * 512, &record);
    }
    disk
}

#[test]
fn a_chain_of_logical_partitions_that_comes_back_ends() {
    // Record 0 leads to 1 and that to 0.
    let records = [boot_record(&[(0, 0x83, 10, 1), (1, 0x05, 1, 1)]), boot_record(&[(1, 5, 0, 1)])];
    let answer = about(chained(1 << 30, records.into_iter()));
    assert!(told(&answer, ProblemKind::Chain, "comes back to byte 512"));
}

#[test]
fn a_boot_record_that_leads_to_itself_ends() {
    let answer = about(chained(1 << 30, [boot_record(&[(1, 0x05, 0, 1)])].into_iter()));
    assert!(told(&answer, ProblemKind::Chain, "comes back to byte 512"));
}

#[test]
fn a_hundred_thousand_logical_partitions_are_cut_off() {
    let records = (1..=100_000).map(|next| boot_record(&[(0, 0x83, 1, 9), (1, 0x05, next, 1)]));
    let answer = about(chained(1 << 40, records));
    assert!(told(&answer, ProblemKind::Chain, "the rest is not read"));
}

#[test]
fn a_table_of_2_to_the_32_entries_is_read_in_part() {
    let mut disk = MemoryDisk::new(1 << 50);
    Gpt { partitions: vec![(2048, 4095)], entry_count: u32::MAX, entry_bytes: 4096 }.put(&mut disk);
    let answer = about(disk);
    assert!(told(&answer, ProblemKind::Field, "are read"));
    assert_eq!(answer.assembled.stack.len(), 2);
}

#[test]
fn thousands_of_partitions_that_all_lie_on_each_other_are_told() {
    let mut disk = MemoryDisk::new(1 << 40);
    let partitions = (0..8192_u64).map(|number| (34 + number, 1 << 20)).collect();
    Gpt { partitions, entry_count: 8192, entry_bytes: 128 }.put(&mut disk);
    let answer = about(disk);
    assert!(told(&answer, ProblemKind::Overlap, ", but "));
    assert!(told(&answer, ProblemKind::Unsupported, "the rest is left out"));
}

#[test]
fn partitions_that_end_at_the_last_address_or_behind_it_are_told() {
    for length in [1 << 30, u64::MAX] {
        let mut disk = MemoryDisk::new(length);
        let last = u64::MAX.div_euclid(512);
        let partitions = vec![(1, last - 1), (last, last), (last - 8, u64::MAX), (u64::MAX, 5)];
        Gpt { partitions, entry_count: 4, entry_bytes: 128 }.put(&mut disk);
        let answer = about(disk);
        assert!(told(&answer, ProblemKind::Outside, ""));
        assert!(told(&answer, ProblemKind::Overlap, ""));
    }
}
