//! Several tables on one disk: the one that Linux uses counts, and the others are named.

use crate::tables_make::bsd;
use crate::tables_make::gpt::{self, Gpt};
use crate::tables_make::mbr::{Entry, Mbr, entry, record};
use device::MemoryDisk;
use format::ProblemKind::{Copies, Overlap};
use format::probe::{self, Hint, ProbedContent};
use format::table::bsd::Counting;
use format::table::{self, PartitionTable, TableKind};
use format::{Parsed, ProblemKind};
use units::SectorSize;

const SECTORS: u64 = 1 << 20;

fn read(disk: &MemoryDisk) -> Parsed<PartitionTable> {
    table::read(disk, SectorSize::B512, 0).expect("there is a table")
}

fn kinds(found: &Parsed<PartitionTable>) -> Vec<ProblemKind> {
    found.problems.iter().map(|problem| problem.kind).collect()
}

fn gpt(protective: Option<[Option<Entry>; 4]>) -> MemoryDisk {
    let slots = vec![gpt::slot(1, 2048, 4095)];
    Gpt { protective, ..Gpt::new(512, SECTORS, slots) }.encode()
}

fn label(start: u64) -> Vec<u8> {
    let slots = vec![bsd::slot(start, 1000, 7), bsd::slot(0, 0, 0)];
    bsd::Label { sector: 512, is_openbsd: false, slots }.encode()
}

#[test]
fn a_protected_gpt_counts_also_beside_hybrid_entries() {
    let protective = Some(entry(0xee, 1, 2047));
    let disk = gpt(Some([protective, Some(entry(0x83, 2048, 2048)), None, None]));
    let found = read(&disk);
    assert_eq!((found.value.kind, kinds(&found)), (TableKind::Gpt, vec![]));
    assert_eq!(found.value.hybrid.len(), 1);
}

#[test]
fn an_mbr_with_partitions_outweighs_a_gpt_that_nothing_protects() {
    let found = read(&gpt(Some([Some(entry(0x83, 2048, 2048)), None, None, None])));
    assert_eq!((found.value.kind, kinds(&found)), (TableKind::Mbr, vec![Overlap]));
}

#[test]
fn a_gpt_without_any_mbr_is_still_described() {
    for protective in [None, Some([None; 4])] {
        let found = read(&gpt(protective));
        assert_eq!(found.value.kind, TableKind::Gpt);
        assert!(found.problems[0].detail.contains("no protective MBR"));
    }
}

#[test]
fn a_protective_mbr_alone_says_that_its_gpt_is_gone() {
    let primary = [Some(entry(0xee, 1, 99_999)), None, None, None];
    let made = Mbr { sector: 512, sectors: 100_000, id: 0, primary, logical: Vec::new() };
    let found = read(&made.encode());
    assert_eq!((found.value.kind, kinds(&found)), (TableKind::Mbr, vec![Copies]));
    assert!(found.value.partitions.is_empty(), "what protects a table is no partition");
}

#[test]
fn a_bsd_label_behind_a_boot_block_counts_unless_the_block_lists_partitions() {
    let with = |primary: [Option<Entry>; 4]| {
        let mut disk = MemoryDisk::with_head(SECTORS * 512, &record(&primary));
        disk.put(512, &label(0));
        read(&disk).value.kind
    };
    assert_eq!(with([None; 4]), TableKind::Bsd);
    assert_eq!(with([None, None, None, Some(entry(0xa5, 0, 50_000))]), TableKind::Bsd);
    assert_eq!(with([Some(entry(0xa5, 63, 50_000)), None, None, None]), TableKind::Mbr);
    let mut bare = MemoryDisk::new(SECTORS * 512);
    bare.put(512, &label(0));
    assert_eq!(read(&bare).value.kind, TableKind::Bsd);
}

#[test]
fn a_slice_is_read_with_the_place_it_has_on_the_disk() {
    let mut slice = MemoryDisk::new(10_000 * 512);
    slice.put(512, &label(63));
    let found = table::read(&slice, SectorSize::B512, 63 * 512).unwrap();
    assert_eq!(found.value.partitions[0].range.start_bytes(), 63 * 512, "slot c is not used");
    let hint = Hint {
        sector: SectorSize::B512,
        start_bytes: 63 * 512,
        counting: Counting::Unknown,
        tables: true,
    };
    let [Parsed { value: ProbedContent::Table(probed), .. }] = &probe::read(&slice, hint).found[..]
    else {
        panic!("one table")
    };
    assert_eq!(*probed, found.value);
}
