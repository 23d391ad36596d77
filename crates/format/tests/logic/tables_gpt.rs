//! GUID partition tables: each nasty case as made bytes, and parse(encode(x)) == x.

use crate::tables_make::gpt::{Gpt, slot};
use crate::tables_make::mbr::{Mbr, entry, record};
use device::{Disk, MemoryDisk, Window, disk};
use format::ProblemKind::{Checksum, Copies, Field, Outside, Overlap};
use format::table::{PartitionRole, PartitionTable, Repair, gpt};
use format::{Parsed, ProblemKind};
use units::{ByteRange, SectorSize};

const SECTORS: u64 = 1 << 20;

fn plain() -> Gpt {
    Gpt::new(512, SECTORS, vec![slot(1, 2048, 4095), slot(3, 4096, 10_000)])
}

fn read(disk: &dyn Disk) -> Parsed<PartitionTable> {
    gpt::read(disk, SectorSize::B512).expect("there is a table")
}

fn kinds(found: &Parsed<PartitionTable>) -> Vec<ProblemKind> {
    found.problems.iter().map(|problem| problem.kind).collect()
}

/// That `disk` lists what [`plain`] lists, with problems of `expected` kinds.
fn check(disk: &dyn Disk, expected: &[ProblemKind]) {
    let found = read(disk);
    assert_eq!(kinds(&found), expected, "{:#?}", found.problems);
    let sound = read(&plain().encode());
    let ranges = |table: &PartitionTable| {
        table
            .partitions
            .iter()
            .map(|partition| (partition.number, partition.range))
            .collect::<Vec<_>>()
    };
    assert_eq!(ranges(&found.value), ranges(&sound.value));
}

#[test]
fn a_sound_table_is_read_with_names_ids_types_and_its_usable_range() {
    let mut made = plain();
    made.slots[1].name = "dätä".to_owned();
    made.slots[1].attributes = 4;
    let found = read(&made.encode());
    assert_eq!(found.problems, []);
    let table = found.value;
    assert_eq!(table.id.as_deref(), Some("04030201-0605-0807-090a-0b0c0d0e0f10"));
    assert_eq!((table.sector, table.boot_code), (SectorSize::B512, false));
    assert_eq!(table.usable, ByteRange::new(34 * 512, (SECTORS - 34 - 33) * 512));
    let [first, second] = &table.partitions[..] else { panic!("two partitions") };
    assert_eq!((first.number, second.number), (1, 3));
    assert_eq!(first.type_code, "0fc63daf-8483-4772-8e79-3d69d8477de4");
    assert_eq!((first.type_name, first.role), (Some("Linux data"), PartitionRole::Ordinary));
    assert_eq!(second.range, ByteRange::new(4096 * 512, (10_001 - 4096) * 512).unwrap());
    assert_eq!((first.bootable, second.bootable), (false, true));
    assert_eq!(second.name.as_ref().unwrap().to_string(), "dätä");
    assert_eq!(second.entry_at_bytes, 1024 + 2 * 128);
}

#[test]
fn a_table_is_found_at_every_sector_size_without_a_problem() {
    for sector in [512, 1024, 2048, 4096] {
        let made = Gpt::new(sector, 10_000, vec![slot(1, 100, 199)]);
        let found = read(&made.encode());
        assert_eq!((found.value.sector.bytes(), &found.problems[..]), (sector, &[][..]));
        let start = found.value.partitions[0].range.start_bytes();
        assert_eq!(start, 100 * sector);
    }
}

#[test]
fn a_damaged_primary_gives_way_to_the_backup() {
    let mut disk = plain().encode();
    disk.put(512 + 40, &[99]);
    check(&disk, &[Checksum, Copies]);
    disk.put(512, &[0; 512]);
    check(&disk, &[Copies]);
    assert!(read(&disk).problems[0].detail.contains("header at sector 1 (byte 512); the backup"));
    let mut disk = plain().encode();
    disk.put(1024 + 32, &[1]);
    check(&disk, &[Checksum, Copies]);
}

#[test]
fn a_damaged_backup_is_a_problem_and_changes_nothing() {
    let mut disk = plain().encode();
    disk.put((SECTORS - 1) * 512 + 57, &[99]);
    check(&disk, &[Checksum, Copies]);
    disk.put((SECTORS - 1) * 512, &[0; 8]);
    check(&disk, &[Copies]);
    let mut disk = plain().encode();
    disk.put((SECTORS - 33) * 512 + 130, &[1]);
    check(&disk, &[Checksum, Copies]);
}

#[test]
fn when_both_copies_are_damaged_the_primary_is_described() {
    let mut disk = plain().encode();
    disk.put(512 + 56, &[0]);
    disk.put((SECTORS - 1) * 512 + 57, &[0]);
    check(&disk, &[Checksum, Checksum, Copies]);
}

#[test]
fn copies_that_are_sound_but_differ_are_named_field_by_field() {
    let made = plain();
    let disk = made.encode_changed(|is_backup, header| {
        if is_backup {
            header[56] = 0xff;
            header[48..56].copy_from_slice(&(made.last_usable() - 1).to_le_bytes());
        }
    });
    let found = read(&disk);
    assert_eq!(kinds(&found), [Copies, Copies]);
    assert!(found.problems[0].detail.contains("last usable LBAs differ"));
    assert!(found.problems[1].detail.contains("disk GUIDs differ"));
}

#[test]
fn entries_that_differ_though_both_are_sound_are_named_by_slot() {
    let mut disk = plain().encode();
    let mut other = plain();
    other.slots[1].last += 1;
    let copy = other.encode();
    let mut tail = vec![0; 33 * 512];
    copy.read_at((SECTORS - 33) * 512, &mut tail).unwrap();
    disk.put((SECTORS - 33) * 512, &tail);
    check(&disk, &[Copies]);
    assert!(read(&disk).problems[0].detail.ends_with(": 3"));
}

#[test]
fn on_a_grown_disk_the_backup_is_found_where_the_primary_says() {
    let mut disk = MemoryDisk::new((SECTORS + 5000) * 512);
    let mut bytes = vec![0; 40 * 512];
    for at in [0, (SECTORS - 40) * 512] {
        plain().encode().read_at(at, &mut bytes).unwrap();
        disk.put(at, &bytes);
    }
    check(&disk, &[Copies, Copies]);
    let found = read(&disk);
    assert!(found.problems[0].detail.contains("has grown"), "{:?}", found.problems);
    assert!(found.problems[1].detail.contains("protective"), "{:?}", found.problems);
}

#[test]
fn on_a_truncated_image_the_missing_backup_is_a_problem() {
    let disk = plain().encode();
    let short = Window::new(&disk, ByteRange::new(0, 20_000 * 512).unwrap());
    check(&short, &[Copies, Copies]);
    assert!(read(&short).problems[0].detail.contains("cut short"));
}

#[test]
fn a_header_that_is_not_where_it_says_is_not_trusted() {
    let disk = plain().encode_changed(|is_backup, header| {
        if !is_backup {
            header[24] = 2;
        }
    });
    check(&disk, &[Field]);
    assert_eq!(read(&disk).value.partitions[0].entry_at_bytes, (SECTORS - 33) * 512);
}

#[test]
fn an_unknown_revision_or_length_of_the_header_is_a_problem() {
    let disk = plain().encode_changed(|_, header| header[10] = 2);
    check(&disk, &[Field, Field]);
    for length in [91_u32, 513, u32::MAX] {
        let disk = plain().encode_changed(|is_backup, header| {
            if !is_backup {
                header[12..16].copy_from_slice(&length.to_le_bytes());
            }
        });
        check(&disk, &[Field, Copies]);
    }
}

#[test]
fn an_impossible_number_or_length_of_entries_is_bounded() {
    for (at, value) in [(80, 4097_u32), (80, u32::MAX), (80, 0), (84, 0), (84, 100), (84, 8192)] {
        let disk = plain().encode_changed(|is_backup, header| {
            if !is_backup {
                header[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
        });
        let found = read(&disk);
        let kinds = kinds(&found);
        assert!(kinds.contains(&Field) && kinds.contains(&Copies), "{at} {value} {kinds:?}");
        assert_eq!(found.value.partitions.len(), 2, "the backup is read");
    }
}

#[test]
fn entries_of_every_allowed_length_are_read() {
    for entry_bytes in [128, 256, 512, 1024, 4096] {
        let mut made = plain();
        made.entry_bytes = entry_bytes;
        let found = read(&made.encode());
        assert_eq!((found.problems.len(), found.value.partitions.len()), (0, 2), "{entry_bytes}");
    }
}

#[test]
fn entries_far_from_the_header_are_found_and_behind_the_disk_are_a_problem() {
    let made = plain();
    let moved = |lba: u64| {
        made.encode_changed(|is_backup, header| {
            if !is_backup {
                header[72..80].copy_from_slice(&lba.to_le_bytes());
            }
        })
    };
    let mut far = moved(500_000);
    let mut entries = vec![0; 128 * 128];
    made.encode().read_at(1024, &mut entries).unwrap();
    far.put(500_000 * 512, &entries);
    assert_eq!(read(&far).value.partitions[0].entry_at_bytes, 500_000 * 512);
    for lba in [SECTORS - 1, u64::MAX] {
        check(&moved(lba), &[Outside]);
    }
}

#[test]
fn partitions_out_of_the_usable_range_or_the_disk_are_a_problem() {
    let with = |first, last| read(&Gpt::new(512, SECTORS, vec![slot(1, first, last)]).encode());
    assert_eq!(kinds(&with(34, 40)), []);
    assert_eq!(kinds(&with(33, 40)), [Outside, Overlap]);
    assert_eq!(kinds(&with(2048, SECTORS - 34)), []);
    assert_eq!(kinds(&with(2048, SECTORS - 33)), [Outside]);
    assert_eq!(kinds(&with(2048, SECTORS)), [Outside]);
    assert_eq!(kinds(&with(SECTORS + 5, SECTORS + 6)), [Outside]);
}

#[test]
fn addresses_beyond_64_bits_never_wrap() {
    let with = |first, last| read(&Gpt::new(512, SECTORS, vec![slot(1, first, last)]).encode());
    let found = with(2048, u64::MAX);
    assert_eq!(kinds(&found), [Outside]);
    assert_eq!(found.value.partitions[0].range.end_bytes(), u64::MAX);
    let found = with(u64::MAX, u64::MAX);
    assert_eq!((kinds(&found), found.value.partitions.len()), (vec![Outside], 0));
    assert_eq!(kinds(&with(0, u64::MAX)), [Outside, Overlap, Overlap]);
}

#[test]
fn a_partition_that_ends_before_it_starts_has_no_length_and_is_a_problem() {
    let found = read(&Gpt::new(512, SECTORS, vec![slot(1, 4096, 4094)]).encode());
    assert_eq!(kinds(&found), [Field]);
    assert_eq!(found.value.partitions[0].range.length_bytes(), 0);
}

#[test]
fn overlapping_partitions_and_equal_ids_are_problems() {
    let mut made = plain();
    made.slots[1].first = 4095;
    check_kinds(&made, &[Overlap]);
    let mut made = plain();
    made.slots[1].id = made.slots[0].id;
    check_kinds(&made, &[Field]);
}

fn check_kinds(made: &Gpt, expected: &[ProblemKind]) {
    assert_eq!(kinds(&read(&made.encode())), expected);
}

#[test]
fn a_missing_or_wrong_protective_mbr_is_a_problem() {
    let mut made = plain();
    let last = u32::try_from(SECTORS - 1).unwrap();
    made.protective = None;
    check(&made.encode(), &[Field]);
    for (start, length, expected) in [
        (1, last, &[][..]),
        (1, u32::MAX, &[]),
        (0, last, &[Field]),
        (1, 5, &[Copies]),
        (2, 5, &[Field, Copies]),
    ] {
        made.protective = Some([None, Some(entry(0xee, start, length)), None, None]);
        check(&made.encode(), expected);
    }
}

#[test]
fn a_hybrid_mbr_is_listed_and_must_match_the_gpt() {
    let mut made = plain();
    let matching = entry(0x0c, 2048, 2048);
    made.protective = Some([Some(matching), Some(entry(0xee, 1, 2047)), None, None]);
    let found = read(&made.encode());
    assert_eq!(found.problems, []);
    let [hybrid] = &found.value.hybrid[..] else { panic!("one hybrid entry") };
    assert_eq!(hybrid.range, found.value.partitions[0].range);
    assert_eq!((hybrid.number, hybrid.type_code.as_str()), (1, "0x0c"));
    let shifted = entry(0x0c, 2047, 2048);
    made.protective = Some([Some(entry(0xee, 1, 2046)), Some(shifted), None, None]);
    check(&made.encode(), &[Copies]);
}

#[test]
fn an_older_table_for_another_sector_size_does_not_hide_the_one_in_use() {
    let mut disk = Gpt::new(4096, SECTORS / 8, vec![slot(1, 256, 511)]).encode();
    let mut stale = vec![0; 512];
    plain().encode().read_at(512, &mut stale).unwrap();
    disk.put(512, &stale);
    let found = read(&disk);
    assert_eq!((found.value.sector, kinds(&found)), (SectorSize::B4096, vec![]));
}

#[test]
fn two_sound_tables_at_two_sector_sizes_are_a_problem_and_the_expected_one_counts() {
    // The larger sectors' primary and the smaller ones' backup.
    let mut disk = Gpt::new(4096, SECTORS / 8, vec![slot(1, 256, 511)]).encode();
    let mut tail = vec![0; 33 * 512];
    plain().encode().read_at((SECTORS - 33) * 512, &mut tail).unwrap();
    disk.put((SECTORS - 33) * 512, &tail);
    for (expected, other) in [(SectorSize::B512, "4096"), (SectorSize::B4096, "512")] {
        let found = gpt::read(&disk, expected).unwrap();
        assert_eq!(found.value.sector, expected);
        let is_named = |problem: &format::Problem| {
            problem.kind == Overlap && problem.detail.contains(&format!("sectors of {other} bytes"))
        };
        assert!(found.problems.iter().any(is_named), "{found:#?}");
    }
}

#[test]
fn no_gpt_is_found_on_an_mbr_disk_or_on_nothing() {
    let primary = [Some(entry(0x83, 2048, 100)), None, None, None];
    let mbr = Mbr { sector: 512, sectors: SECTORS, id: 1, primary, logical: Vec::new() };
    assert!(gpt::read(&mbr.encode(), SectorSize::B512).is_none());
    assert!(gpt::read(&record(&[]).to_vec(), SectorSize::B512).is_none());
    for length in [0, 1, 511, 512, 1023, 1024, 4096, 1 << 60] {
        assert!(gpt::read(&MemoryDisk::new(length), SectorSize::B512).is_none(), "{length}");
    }
}

#[test]
fn every_made_table_is_read_as_it_was_made() {
    let mut random = testkit::random(0x6b7);
    for round in 0..400 {
        let sector = *random.choose(&[512, 1024, 2048, 4096]);
        let count = 1 + random.below(40);
        let entry_count = u32::try_from(random.choose(&[128, 128, 4, 200, 256]) + count).unwrap();
        let mut made = Gpt::new(sector, 1 << 20, Vec::new());
        made.entry_count = entry_count;
        made.entry_bytes = *random.choose(&[128, 128, 256]);
        let mut at = made.first_usable();
        for step in 0..count {
            let first = at + random.below(100);
            let last = first + random.below(20_000);
            at = last + 1;
            let number = u32::try_from(step * 2 + 1).unwrap().min(entry_count);
            if made.slots.iter().all(|slot| slot.number != number) {
                let mut slot = slot(number, first, last);
                slot.attributes = random.below(8);
                made.slots.push(slot);
            }
        }
        let found = gpt::read(&made.encode(), SectorSize::B512).unwrap();
        assert_eq!(found.problems, [], "round {round}");
        assert_eq!(found.value.sector.bytes(), sector);
        assert_eq!(found.value.partitions.len(), made.slots.len());
        for (partition, slot) in found.value.partitions.iter().zip(&made.slots) {
            let length = (slot.last - slot.first + 1) * sector;
            let range = ByteRange::new(slot.first * sector, length).unwrap();
            assert_eq!((partition.number, partition.range), (slot.number, range));
            assert_eq!(partition.bootable, slot.attributes & 4 != 0);
            assert_eq!(partition.name.as_ref().unwrap().raw(), slot.name.as_bytes());
        }
    }
}

/// The repair of the copies of `made`, with `damage`.
fn repair(made: &Gpt, damage: impl Fn(&mut MemoryDisk)) -> Option<Repair> {
    let mut disk = made.encode();
    damage(&mut disk);
    read(&disk).value.repair
}

#[test]
fn copies_are_written_again_only_where_nothing_else_is() {
    let writes = |made: &Gpt, damage: &dyn Fn(&mut MemoryDisk)| match repair(made, damage) {
        Some(Repair::Rewrite(_)) => Ok(()),
        Some(Repair::Unsafe(why)) => Err(why),
        other => panic!("{other:?}"),
    };
    let end = (SECTORS - 1) * 512;
    let no_header = |disk: &mut MemoryDisk| disk.put(512, &[0; 512]);
    assert_eq!(writes(&plain(), &|_| {}), Ok(()));
    // What is left of the table itself, whole or damaged, is no obstacle.
    assert_eq!(writes(&plain(), &no_header), Ok(()));
    assert_eq!(writes(&plain(), &|disk| disk.put(1024, b"damage")), Ok(()));
    assert_eq!(writes(&plain(), &|disk| disk.put(end, b"damage")), Ok(()));
    let blank = |disk: &mut MemoryDisk| disk.put(512, &[0; 33 * 512]);
    assert_eq!(writes(&plain(), &blank), Ok(()));
    // A boot loader, where the entries may never have been.
    let loader = |disk: &mut MemoryDisk| {
        no_header(disk);
        disk.put(16 * 512, b"U-Boot");
    };
    assert!(writes(&plain(), &loader).is_err_and(|why| why.contains("first copy")));
    // What replaced a header, or the entries of the backup.
    let label = |disk: &mut MemoryDisk| {
        disk.put(512, &[0; 512]);
        disk.put(512, b"LABELONE");
        disk.put(0x218, b"LVM2 001");
    };
    let scribble = |disk: &mut MemoryDisk| disk.put(512, &[0xa5; 512]);
    assert_eq!(writes(&plain(), &scribble), Ok(()));
    assert!(writes(&plain(), &label).is_err_and(|why| why.contains("first copy")));
    for (at, byte) in [(end, b'G'), (end - 20 * 512, 1)] {
        let mirror = |disk: &mut MemoryDisk| disk.put(at, &[byte; 512]);
        assert!(writes(&plain(), &mirror).is_err_and(|why| why.contains("at the end")));
    }
    let odd = Gpt { entry_bytes: 256, ..plain() };
    assert!(writes(&odd, &|_| {}).is_err_and(|why| why.contains("128 bytes")));
}

#[test]
fn a_table_gets_fewer_entries_where_a_boot_loader_follows_its_used_ones() {
    let loader = |disk: &mut MemoryDisk| disk.put(16 * 512 + 3, b"eGON.BT0");
    assert_eq!(repair(&plain(), loader), Some(Repair::FewerEntries(56)));
    let both = |disk: &mut MemoryDisk| {
        disk.put(1024 + 56, b"damage");
        disk.put(20 * 512, b"idbloader");
    };
    assert_eq!(repair(&plain(), both), Some(Repair::FewerEntries(72)));
    // An entry that is used follows, or the mark of the protective MBR would go.
    let full = Gpt::new(512, SECTORS, vec![slot(1, 2048, 4095), slot(100, 4096, 10_000)]);
    assert!(matches!(repair(&full, loader), Some(Repair::Unsafe(_))));
    let active = |disk: &mut MemoryDisk| {
        loader(disk);
        disk.put(446, &[0x80]);
    };
    assert!(matches!(repair(&plain(), active), Some(Repair::Unsafe(_))));
    let at_once = |disk: &mut MemoryDisk| disk.put(2 * 512 + 256, &[7; 128]);
    assert!(matches!(repair(&plain(), at_once), Some(Repair::Unsafe(_))));
}

#[test]
fn a_backup_is_moved_to_the_end_of_a_longer_disk_only_over_zeros() {
    let longer = |at: u64, bytes: &[u8]| {
        let mut disk = MemoryDisk::new((SECTORS + 100) * 512);
        for start in [0, SECTORS - 64] {
            let copy = disk::read_vec(&plain().encode(), start * 512, 64 * 512).unwrap();
            disk.put(start * 512, &copy);
        }
        disk.put(at, bytes);
        read(&disk).value.repair
    };
    let end = (SECTORS + 100) * 512;
    assert!(matches!(longer(end - 512, &[0]), Some(Repair::Rewrite(_))));
    for (at, bytes) in [(end - 512, &b"GEOM::MIRROR"[..]), (end - 33 * 512, &[1])] {
        let found = longer(at, bytes);
        assert!(matches!(found, Some(Repair::Unsafe(why)) if why.contains("at the end")));
    }
}
