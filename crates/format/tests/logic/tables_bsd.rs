//! BSD disklabels: ways of counting, places, damage, and parse(encode(x)) == x.

use crate::tables_make::bsd::{Label, Slot, slot};
use device::MemoryDisk;
use format::table::bsd::Counting;
use format::table::{PartitionRole, PartitionTable, TableKind, bsd};
use format::{Parsed, ProblemKind};
use units::SectorSize;

const SECTORS: u64 = 100_000;
const FFS: u8 = 7;

fn label(slots: &[Slot]) -> Label {
    Label { sector: 512, is_openbsd: false, slots: slots.to_vec() }
}

fn disk(at_bytes: u64, label: &Label) -> MemoryDisk {
    let mut disk = MemoryDisk::new(SECTORS * 512);
    disk.put(at_bytes, &label.encode());
    disk
}

fn read(disk: &MemoryDisk, slice_at_bytes: u64) -> Parsed<PartitionTable> {
    bsd::read(disk, SectorSize::B512, (slice_at_bytes, Counting::Unknown))
        .expect("there is a label")
}

fn is_none(disk: &MemoryDisk) -> bool {
    bsd::read(disk, SectorSize::B512, (0, Counting::Unknown)).is_none()
}

/// Number, first sector, sectors.
fn places(found: &Parsed<PartitionTable>) -> Vec<(u32, u64, u64)> {
    let place = |partition: &format::table::Partition| {
        let range = partition.range;
        (partition.number, range.start_bytes() / 512, range.length_bytes() / 512)
    };
    found.value.partitions.iter().map(place).collect()
}

fn kinds(found: &Parsed<PartitionTable>) -> Vec<ProblemKind> {
    found.problems.iter().map(|problem| problem.kind).collect()
}

#[test]
fn a_label_on_a_whole_disk_is_read_in_all_its_places() {
    let made = label(&[slot(16, 1000, FFS), slot(1016, 500, 1), slot(0, SECTORS, 0)]);
    for at in [512, 64, 128] {
        let found = read(&disk(at, &made), 0);
        assert_eq!(found.problems, []);
        assert_eq!(places(&found), [(1, 16, 1000), (2, 1016, 500), (3, 0, SECTORS)]);
        assert_eq!(found.value.kind, TableKind::Bsd);
        let [ffs, swap, whole] = &found.value.partitions[..] else { panic!("three slots") };
        assert_eq!((ffs.type_code.as_str(), ffs.type_name), ("7", Some("4.2BSD FFS")));
        assert_eq!((swap.role, whole.role), (PartitionRole::Ordinary, PartitionRole::Whole));
        assert_eq!(swap.entry_at_bytes, at + 148 + 16);
    }
}

#[test]
fn a_label_for_4096_byte_sectors_stands_in_the_second_of_them() {
    let mut made = label(&[slot(2, 100, FFS), slot(0, 0, 0), slot(0, SECTORS / 8, 0)]);
    made.sector = 4096;
    let found = read(&disk(4096, &made), 0);
    assert_eq!((found.value.sector, found.problems.len()), (SectorSize::B4096, 0));
    assert_eq!(found.value.partitions[0].range.start_bytes(), 8192);
    assert!(is_none(&disk(4096, &label(&[slot(0, 1, 7)]))));
}

#[test]
fn in_a_slice_a_c_at_zero_counts_from_the_slice_and_another_from_the_disk() {
    let slice = 63 * 512;
    let relative = label(&[slot(0, 1000, FFS), slot(1000, 10, 1), slot(0, SECTORS, 0)]);
    let absolute = label(&[slot(63, 1000, FFS), slot(1063, 10, 1), slot(63, SECTORS, 0)]);
    for made in [relative, absolute] {
        let found = read(&disk(512, &made), slice);
        assert_eq!(places(&found), [(1, 0, 1000), (2, 1000, 10), (3, 0, SECTORS)]);
        assert_eq!(found.problems, []);
    }
}

#[test]
fn openbsd_counts_from_the_disk_though_its_c_is_at_zero() {
    let slice = 64 * 512;
    let slots =
        [slot(64, 1000, FFS), slot(1064, 10, 1), slot(0, SECTORS + 64, 0), slot(2064, 10, FFS)];
    for is_openbsd in [true, false] {
        let made = Label { is_openbsd, ..label(&slots) };
        let found = read(&disk(512, &made), slice);
        assert_eq!(places(&found), [(1, 0, 1000), (2, 1000, 10), (4, 2000, 10)]);
        assert_eq!(found.problems, []);
    }
}

#[test]
fn entries_of_other_systems_say_nothing_of_those_in_the_slice() {
    let slice = 411_652;
    let slots = [
        slot(slice, 1000, FFS),
        slot(slice + 1000, 10, 1),
        slot(0, 4_194_304, 0),
        slot(2048, 400_000, FFS),
        slot(slice + SECTORS, 500, FFS),
    ];
    let of = |code: &str, slots: &[Slot]| {
        let counting = Counting::of_slice(code);
        let disk = disk(512, &label(slots));
        let found = bsd::read(&disk, SectorSize::B512, (slice * 512, counting)).unwrap();
        (places(&found), kinds(&found))
    };
    for code in ["0xa6", "0xa9", "824cc7a0-36a8-11e3-890a-952519ad3f61"] {
        assert_eq!(of(code, &slots), (vec![(1, 0, 1000), (2, 1000, 10)], vec![]), "{code}");
    }
    let across = [slot(slice, 1000, FFS), slot(slice + 1000, SECTORS, FFS)];
    assert_eq!(of("0xa6", &across).1, [ProblemKind::Outside], "it begins in the slice");
}

#[test]
fn a_freebsd_slice_counts_from_itself_where_c_is_at_zero_and_else_from_the_disk() {
    let slice = 2048;
    let of = |slots: &[Slot]| {
        let disk = disk(512, &label(slots));
        let counting = Counting::of_slice("0xa5");
        let found = bsd::read(&disk, SectorSize::B512, (slice * 512, counting)).unwrap();
        (places(&found), kinds(&found))
    };
    let (c, long) = (slot(0, SECTORS, 0), slot(0, 9 * SECTORS, 0));
    let part = |start| slot(start, 1000, FFS);
    assert_eq!(of(&[part(16), Slot::default(), c]).0, [(1, 16, 1000), (3, 0, SECTORS)]);
    assert_eq!(of(&[part(2048), Slot::default(), long]), (vec![(1, 2048, 1000)], vec![]));
    assert_eq!(of(&[part(2064)]).0, [(1, 2064, 1000)], "without c, as with one at 0");
    let absolute = of(&[part(2064), Slot::default(), slot(2048, SECTORS, 0)]);
    assert_eq!(absolute, (vec![(1, 16, 1000), (3, 0, SECTORS)], vec![]));
    let other_c = of(&[part(16), Slot::default(), slot(63, SECTORS, 0)]);
    assert_eq!(other_c, (vec![], vec![ProblemKind::Outside]), "it begins before the slice");
}

#[test]
fn openbsd_addresses_have_48_bits() {
    let start = (1 << 32) + 64;
    let made = Label { is_openbsd: true, ..label(&[slot(start, 1 << 33, FFS)]) };
    let mut large = MemoryDisk::new(1 << 44);
    large.put(512, &made.encode());
    assert_eq!(places(&read(&large, 0)), [(1, start, 1 << 33)]);
    let other = Label { is_openbsd: false, ..made };
    let mut large = MemoryDisk::new(1 << 44);
    large.put(512, &other.encode());
    assert_eq!(places(&read(&large, 0)), []);
}

#[test]
fn netbsd_has_its_slice_in_c_and_the_disk_in_d() {
    let slots =
        [slot(63, 1000, FFS), slot(1063, 10, 1), slot(63, SECTORS, 0), slot(0, SECTORS + 63, 0)];
    let found = read(&disk(512, &label(&slots)), 63 * 512);
    assert_eq!((places(&found).len(), found.problems.len()), (3, 0));
    let whole = slot(0, SECTORS, 0);
    let found = read(&disk(512, &label(&[slots[0], slots[1], whole, whole])), 0);
    let roles: Vec<_> = found.value.partitions.iter().map(|found| found.role).collect();
    assert_eq!(roles[2..], [PartitionRole::Whole, PartitionRole::Whole]);
}

#[test]
fn a_slice_that_was_moved_is_read_by_its_own_c_with_a_problem() {
    let made = label(&[slot(63, 1000, FFS), slot(0, 0, 0), slot(63, SECTORS, 0)]);
    for slice in [0, 2048 * 512] {
        let found = read(&disk(512, &made), slice);
        assert_eq!(kinds(&found), [ProblemKind::Field]);
        assert_eq!(places(&found)[0], (1, 0, 1000));
    }
}

#[test]
fn without_slot_c_what_fits_decides_with_a_problem() {
    let slice = 63 * 512;
    let relative = read(&disk(512, &label(&[slot(0, SECTORS, FFS)])), slice);
    assert_eq!(
        (places(&relative), kinds(&relative)),
        (vec![(1, 0, SECTORS)], vec![ProblemKind::Field])
    );
    let absolute = read(&disk(512, &label(&[slot(63, SECTORS, FFS)])), slice);
    assert_eq!(places(&absolute), [(1, 0, SECTORS)]);
    assert_eq!(read(&disk(512, &label(&[slot(0, 10, FFS)])), 0).problems, []);
}

#[test]
fn overlaps_and_ends_behind_the_slice_are_problems() {
    let whole = slot(0, SECTORS, 0);
    let found = read(&disk(512, &label(&[slot(0, 100, FFS), slot(99, 10, 1), whole])), 0);
    assert_eq!(kinds(&found), [ProblemKind::Overlap]);
    let found = read(&disk(512, &label(&[slot(10, SECTORS, FFS), slot(0, 0, 0), whole])), 0);
    assert_eq!(kinds(&found), [ProblemKind::Outside]);
}

#[test]
fn a_wrong_checksum_or_magic_is_a_problem_and_both_are_no_label() {
    let made = disk(512, &label(&[slot(0, 100, FFS)]));
    let mut damaged = made.clone();
    damaged.put(512 + 4, &[1]);
    assert_eq!(kinds(&read(&damaged, 0)), [ProblemKind::Checksum]);
    damaged.put(512 + 132, &[0]);
    assert!(is_none(&damaged));
    let mut bare = made.clone();
    bare.put(512, &[0; 4]);
    assert!(is_none(&bare));
}

#[test]
fn a_hostile_number_of_slots_or_sector_size_is_bounded() {
    let mut damaged = disk(512, &label(&[slot(0, 100, FFS)]));
    damaged.put(512 + 138, &[0xff, 0xff]);
    damaged.put(512 + 40, &[3, 0, 0, 0]);
    let found = read(&damaged, 0);
    assert!(
        found.problems.iter().filter(|problem| problem.kind == ProblemKind::Field).count() == 2
    );
    assert_eq!((found.value.sector, places(&found)[0]), (SectorSize::B512, (1, 0, 100)));
}

#[test]
fn every_made_label_is_read_as_it_was_made() {
    let mut random = testkit::random(0xb5d);
    for _ in 0..400 {
        let is_openbsd = random.below(2) == 1;
        let slice = random.below(2) * 63;
        let base = if is_openbsd || random.below(2) == 1 { slice } else { 0 };
        let whole = if is_openbsd { slot(0, SECTORS + slice, 0) } else { slot(base, SECTORS, 0) };
        let mut slots = vec![Slot::default(), Slot::default(), whole];
        let mut expected = Vec::new();
        let mut at = 0;
        for place in (0..4 + random.below(18)).filter(|&place| place != 2) {
            let start = at + random.below(100);
            let made = slot(base + start, 1 + random.below(3000), FFS);
            at = start + made.length;
            let place = usize::try_from(place).unwrap();
            slots.resize(slots.len().max(place + 1), Slot::default());
            slots[place] = made;
            expected.push((u32::try_from(place).unwrap() + 1, start, made.length));
        }
        let made = Label { sector: 512, is_openbsd, slots };
        let found = read(&disk(512, &made), slice * 512);
        let listed: Vec<_> = places(&found).into_iter().filter(|place| place.0 != 3).collect();
        assert_eq!((listed, found.problems), (expected, vec![]), "{made:?}");
    }
}
