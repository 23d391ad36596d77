//! dm-integrity superblocks, and where their data lies; a bcache superblock that a kernel wrote.

use device::MemoryDisk;
use format::ProblemKind;
use format::member::{bcache, integrity};

use super::encode::IntegritySb;

/// Bytes that `integritysetup format` makes by default on a device of 1 GiB: crc32c over 512 bytes.
const COMMON: IntegritySb = IntegritySb {
    version: 5,
    log_interleave: 15,
    tag: 4,
    journal: 7,
    provided: 2_000_000,
    flags: 0x18,
    log_block: 0,
};

fn read(sb: IntegritySb) -> format::Parsed<integrity::Integrity> {
    let disk = MemoryDisk::with_head(1 << 30, &sb.bytes());
    integrity::read(&disk).expect("a superblock")
}

#[test]
fn data_starts_behind_superblock_journal_and_the_first_run_of_tags() {
    let found = read(COMMON);
    assert_eq!(found.problems, []);
    let value = found.value;
    assert_eq!((value.tag_bytes, value.sector_bytes), (4, Some(512)));
    assert_eq!(value.interleave_bytes, Some(16 << 20));
    // 32768 tags of 4 bytes.
    assert_eq!(value.tag_run_bytes, Some(128 << 10));
    // An entry takes 24 bytes, so 21 fit into 504: a section is 8 + 168 sectors.
    let journal = 7 * (8 + 168) * 512;
    assert_eq!(value.data_offset_bytes, Some(4096 + journal + (128 << 10)));
}

#[test]
fn later_runs_are_shifted_by_the_tags_before_them() {
    let value = read(COMMON).value;
    let start = value.data_offset_bytes.unwrap();
    assert_eq!(value.place_bytes(0), Some(start));
    assert_eq!(value.place_bytes((16 << 20) - 1), Some(start + (16 << 20) - 1));
    assert_eq!(value.place_bytes(16 << 20), Some(start + (16 << 20) + (128 << 10)));
    assert_eq!(value.place_bytes(2_000_000 * 512), None);
}

#[test]
fn runs_of_tags_were_padded_to_128_kib_by_older_versions() {
    let small = IntegritySb { log_interleave: 10, ..COMMON };
    assert_eq!(read(small).value.tag_run_bytes, Some(4096));
    let old = IntegritySb { version: 1, flags: 0, ..small };
    assert_eq!(read(old).value.tag_run_bytes, Some(128 << 10));
}

#[test]
fn tags_elsewhere_leave_the_place_of_data_unknown() {
    let value = read(IntegritySb { log_interleave: 0, ..COMMON }).value;
    assert_eq!((value.interleave_bytes, value.data_offset_bytes), (None, None));
    assert_eq!(value.place_bytes(0), None);
}

#[test]
fn tags_in_the_drive_leave_data_in_one_run() {
    let sb = IntegritySb { version: 6, flags: 0x38, log_interleave: 0, journal: 0, ..COMMON };
    let found = read(sb);
    assert_eq!(found.problems, []);
    assert_eq!(found.value.place_bytes(512), Some(4608));
}

#[test]
fn fields_that_make_no_sense_are_problems_and_nothing_is_computed_from_them() {
    let check = |sb, kind| {
        let found = read(sb);
        assert!(found.problems.iter().any(|problem| problem.kind == kind), "{sb:?}");
        found.value
    };
    check(IntegritySb { version: 9, ..COMMON }, ProblemKind::Unsupported);
    check(IntegritySb { flags: 0x118, ..COMMON }, ProblemKind::Unsupported);
    check(IntegritySb { tag: 0, ..COMMON }, ProblemKind::Field);
    check(IntegritySb { journal: 0, ..COMMON }, ProblemKind::Field);
    check(IntegritySb { provided: 1 << 40, ..COMMON }, ProblemKind::Outside);
    let value = check(IntegritySb { log_block: 9, ..COMMON }, ProblemKind::Field);
    assert_eq!((value.sector_bytes, value.data_offset_bytes), (None, None));
    let value = check(IntegritySb { log_interleave: 63, ..COMMON }, ProblemKind::Field);
    assert_eq!((value.interleave_bytes, value.data_offset_bytes), (None, None));
}

#[test]
fn a_bcache_superblock_that_a_real_tool_wrote_has_data_at_8_kib() {
    let mut disk = MemoryDisk::new(64 << 20);
    disk.put(4096, include_bytes!("../../heads/bcache-backing.bin"));
    let found = bcache::read(&disk).unwrap();
    assert_eq!(found.problems, []);
    assert_eq!(found.value.id, "7468d246-c16f-4cd8-9f1e-e6475d3c3182");
    assert_eq!(found.value.set_id, "04990329-6169-4e2a-ad47-e60197436e00");
    assert_eq!((found.value.version, found.value.block_bytes), (1, 512));
    assert_eq!(found.value.role, bcache::BcacheRole::Backing { data_offset_bytes: 8192 });
    disk.put(4096 + 192, &[8]);
    let found = bcache::read(&disk).unwrap();
    assert_eq!(found.problems[0].kind, ProblemKind::Checksum);
    assert_eq!(found.value.block_bytes, 4096);
}
