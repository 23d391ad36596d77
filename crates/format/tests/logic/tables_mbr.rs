//! Master boot records: each nasty case as made bytes, and parse(encode(x)) == x.

use std::collections::BTreeMap;

use crate::tables_make::mbr::{Entry, Logical, Mbr, entry, record};
use device::MemoryDisk;
use format::table::{Partition, PartitionRole, PartitionTable, TableKind, mbr};
use format::{Parsed, ProblemKind};
use units::SectorSize;

const SECTORS: u64 = 1 << 20;

fn mbr_with(primary: [Option<Entry>; 4], logical: Vec<Logical>) -> Mbr {
    Mbr { sector: 512, sectors: SECTORS, id: 0xdead_beef, primary, logical }
}

fn read(disk: &MemoryDisk) -> Parsed<PartitionTable> {
    mbr::read(disk, SectorSize::B512).expect("there is a table")
}

/// Number, first sector, sectors of each partition.
fn places(table: &PartitionTable) -> Vec<(u32, u64, u64)> {
    let sector = table.sector.bytes();
    let place = |partition: &Partition| {
        let range = partition.range;
        (partition.number, range.start_bytes() / sector, range.length_bytes() / sector)
    };
    table.partitions.iter().map(place).collect()
}

fn kinds(found: &Parsed<PartitionTable>) -> Vec<ProblemKind> {
    found.problems.iter().map(|problem| problem.kind).collect()
}

#[test]
fn a_table_is_read_with_its_id_flags_and_types() {
    let mut first = entry(0x83, 2048, 1000);
    first.is_active = true;
    let found =
        read(&mbr_with([Some(first), None, Some(entry(0xa5, 4096, 8)), None], vec![]).encode());
    assert_eq!(found.problems, []);
    let table = found.value;
    assert_eq!((table.kind, table.id.as_deref()), (TableKind::Mbr, Some("0xdeadbeef")));
    assert_eq!(places(&table), [(1, 2048, 1000), (3, 4096, 8)]);
    let [linux, slice] = &table.partitions[..] else { panic!("two partitions") };
    assert!(linux.bootable && !slice.bootable && !table.boot_code);
    assert_eq!((linux.type_code.as_str(), linux.type_name), ("0x83", Some("Linux")));
    assert_eq!((slice.role, slice.entry_at_bytes), (PartitionRole::BsdSlice, 446 + 32));
}

#[test]
fn logical_starts_count_from_their_record_and_links_from_the_extended_partition() {
    for code in [0x05, 0x0f, 0x85] {
        let logical = vec![
            Logical { record: 10_000, code: 0x83, start: 10_063, length: 100 },
            Logical { record: 20_000, code: 0x82, start: 22_048, length: 200 },
            Logical { record: 15_000, code: 0x8e, start: 15_001, length: 300 },
        ];
        let extended = entry(code, 10_000, 50_000);
        let found = read(&mbr_with([None, Some(extended), None, None], logical).encode());
        assert_eq!(found.problems, []);
        let expected = [(2, 10_000, 50_000), (5, 10_063, 100), (6, 22_048, 200), (7, 15_001, 300)];
        assert_eq!(places(&found.value), expected);
        assert_eq!(found.value.partitions[0].role, PartitionRole::Extended);
    }
}

#[test]
fn a_partition_behind_the_disk_is_listed_with_a_problem() {
    let end = u32::try_from(SECTORS).unwrap();
    let table =
        mbr_with([Some(entry(0x83, 2048, end)), Some(entry(7, end + 5, 1)), None, None], vec![]);
    let found = read(&table.encode());
    assert_eq!(kinds(&found), [ProblemKind::Outside, ProblemKind::Outside, ProblemKind::Overlap]);
    assert_eq!(found.value.partitions.len(), 2);
}

#[test]
fn overlapping_partitions_are_a_problem() {
    let table =
        mbr_with([Some(entry(0x83, 64, 100)), Some(entry(0x83, 100, 100)), None, None], vec![]);
    let found = read(&table.encode());
    assert_eq!(kinds(&found), [ProblemKind::Overlap]);
    assert_eq!(found.problems[0].at_bytes, 446 + 16);
}

#[test]
fn a_partition_over_the_table_itself_is_a_problem() {
    let found = read(&mbr_with([Some(entry(0x83, 0, 100)), None, None, None], vec![]).encode());
    assert_eq!(kinds(&found), [ProblemKind::Overlap]);
}

#[test]
fn a_primary_partition_in_the_extended_one_is_a_problem() {
    let logical = vec![Logical { record: 100, code: 0x83, start: 101, length: 5 }];
    let primary = [Some(entry(5, 100, 100)), Some(entry(0x83, 150, 10)), None, None];
    assert_eq!(kinds(&read(&mbr_with(primary, logical).encode())), [ProblemKind::Overlap]);
}

#[test]
fn two_active_partitions_are_a_problem() {
    let mut active = entry(0x83, 64, 10);
    active.is_active = true;
    let mut other = entry(0x83, 74, 10);
    other.is_active = true;
    let found = read(&mbr_with([Some(active), Some(other), None, None], vec![]).encode());
    assert_eq!(kinds(&found), [ProblemKind::Field]);
}

#[test]
fn a_chain_that_comes_back_ends_and_is_a_problem() {
    let mut disk = mbr_with([Some(entry(5, 1000, 9000)), None, None, None], vec![]).encode();
    disk.put(1000 * 512, &record(&[Some(entry(0x83, 1, 10)), Some(entry(5, 2000, 100))]));
    disk.put(3000 * 512, &record(&[Some(entry(0x83, 1, 10)), Some(entry(5, 0, 100))]));
    let found = read(&disk);
    assert_eq!(kinds(&found), [ProblemKind::Chain]);
    assert_eq!(places(&found.value), [(1, 1000, 9000), (5, 1001, 10), (6, 3001, 10)]);
}

#[test]
fn a_chain_without_end_is_cut() {
    let mut disk = mbr_with([Some(entry(5, 1, 1_000_000)), None, None, None], vec![]).encode();
    for link in 0..1000 {
        disk.put(
            (1 + u64::from(link) * 8) * 512,
            &record(&[None, Some(entry(5, (link + 1) * 8, 8))]),
        );
    }
    let found = read(&disk);
    assert_eq!(kinds(&found), [ProblemKind::Chain]);
}

#[test]
fn a_chain_that_leaves_the_disk_or_its_signature_ends_with_a_problem() {
    let primary = [Some(entry(5, 1000, 9000)), None, None, None];
    let mut disk = mbr_with(primary, vec![]).encode();
    assert_eq!(kinds(&read(&disk)), [ProblemKind::Field]);
    let far = u32::try_from(SECTORS).unwrap();
    disk.put(1000 * 512, &record(&[Some(entry(0x83, 1, 10)), Some(entry(5, far, 100))]));
    let found = read(&disk);
    assert_eq!(kinds(&found), [ProblemKind::Outside]);
    assert_eq!(found.value.partitions.len(), 2);
}

#[test]
fn rubbish_in_the_third_and_fourth_entry_of_a_record_is_passed_over() {
    let mut disk = mbr_with([Some(entry(5, 1000, 9000)), None, None, None], vec![]).encode();
    let rubbish = entry(0x6f, 0x7274_2064, 0x6b73_6964);
    disk.put(1000 * 512, &record(&[Some(entry(0x83, 1, 10)), None, Some(rubbish), None]));
    let found = read(&disk);
    assert_eq!((kinds(&found), found.value.partitions.len()), (vec![], 2));
    let real = entry(0x83, 20, 10);
    disk.put(1000 * 512, &record(&[Some(entry(0x83, 1, 10)), None, Some(real), None]));
    assert_eq!(places(&read(&disk).value)[2], (6, 1020, 10));
}

#[test]
fn a_logical_partition_out_of_its_extended_one_is_a_problem() {
    let logical = vec![Logical { record: 1000, code: 0x83, start: 1001, length: 500 }];
    let found = read(&mbr_with([Some(entry(5, 1000, 100)), None, None, None], logical).encode());
    assert_eq!(kinds(&found), [ProblemKind::Outside]);
}

#[test]
fn a_protective_entry_has_its_role() {
    let found = read(&mbr_with([Some(entry(0xee, 1, 1000)), None, None, None], vec![]).encode());
    assert_eq!(found.value.partitions[0].role, PartitionRole::Protective);
}

#[test]
fn an_odd_status_byte_or_an_aix_disk_is_no_table() {
    let mut bytes = record(&[Some(entry(0x83, 64, 10))]);
    assert!(mbr::read(&bytes.to_vec(), SectorSize::B512).is_some());
    bytes[446 + 48] = 1;
    assert!(mbr::read(&bytes.to_vec(), SectorSize::B512).is_none());
    bytes[446 + 48] = 0;
    bytes[..4].copy_from_slice(&[0xc9, 0xc2, 0xd4, 0xc1]);
    assert!(mbr::read(&bytes.to_vec(), SectorSize::B512).is_none());
}

/// A boot sector of FAT16 with the parameters that mkfs.fat writes.
fn fat() -> [u8; 512] {
    let mut bytes = record(&[]);
    bytes[..3].copy_from_slice(&[0xeb, 0x3c, 0x90]);
    bytes[0x0b..0x10].copy_from_slice(&[0, 2, 4, 4, 0]);
    bytes[0x10..0x18].copy_from_slice(&[2, 0, 2, 0, 0x80, 0xf8, 32, 0]);
    bytes
}

#[test]
fn a_boot_sector_of_fat_ntfs_or_exfat_is_no_table() {
    assert!(mbr::read(&fat().to_vec(), SectorSize::B512).is_none());
    let mut ntfs = record(&[]);
    ntfs[3..11].copy_from_slice(b"NTFS    ");
    ntfs[0x0c] = 2;
    assert!(mbr::read(&ntfs.to_vec(), SectorSize::B512).is_none());
    let mut exfat = record(&[]);
    exfat[3..11].copy_from_slice(b"EXFAT   ");
    assert!(mbr::read(&exfat.to_vec(), SectorSize::B512).is_none());
}

#[test]
fn entries_that_make_sense_outweigh_fat_parameters_and_the_doubt_is_a_problem() {
    let both = |start, length| {
        let mut bytes = fat();
        bytes[446..].copy_from_slice(&record(&[Some(entry(0x0c, start, length))])[446..]);
        mbr::read(&MemoryDisk::with_head(SECTORS * 512, &bytes), SectorSize::B512)
    };
    let found = both(2048, 1000).expect("a table");
    assert_eq!(kinds(&found), [ProblemKind::Overlap]);
    assert!(both(0, 32768).is_none(), "mkfs.fat --mbr: the entry holds the boot sector itself");
    assert!(both(2048, u32::MAX).is_none(), "an entry behind the disk is chance");
}

#[test]
fn every_made_table_is_read_as_it_was_made() {
    let mut random = testkit::random(0x7ab1e5);
    for _ in 0..400 {
        let sector = *random.choose(&[512, 4096]);
        let mut at = u32::try_from(1 + random.below(4096)).unwrap();
        let mut take = |most: u64| {
            let start = at + u32::try_from(random.below(500)).unwrap();
            let length = u32::try_from(1 + random.below(most)).unwrap();
            at = start + length;
            (start, length)
        };
        let mut expected = BTreeMap::new();
        let mut primary = [None; 4];
        for slot in [0, 2, 3] {
            let (start, length) = take(10_000);
            primary[slot] = (start % 3 != 0).then(|| entry(0x83, start, length));
            if primary[slot].is_some() {
                expected.insert(u32::try_from(slot).unwrap() + 1, (start, length));
            }
        }
        let (base, many) = take(50);
        let mut logical = Vec::new();
        for (number, place) in (5..).zip(0..many) {
            let record = if place == 0 { base } else { take(20).0 };
            let (start, length) = take(5000);
            logical.push(Logical { record, code: 0x83, start, length });
            expected.insert(number, (start, length));
        }
        let end = logical.last().map_or(base + many, |last| last.start + last.length);
        primary[1] = Some(entry(0x0f, base, end + 5 - base));
        expected.insert(2, (base, end + 5 - base));
        let sectors = u64::from(end) + 100;
        let made = Mbr { sector, sectors, id: 1, primary, logical };
        let found = mbr::read(&made.encode(), SectorSize::new(sector).unwrap()).unwrap();
        let read: Vec<_> = places(&found.value);
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(number, (start, length))| (number, u64::from(start), u64::from(length)))
            .collect();
        assert_eq!((read, found.problems), (expected, vec![]), "{made:?}");
    }
}
