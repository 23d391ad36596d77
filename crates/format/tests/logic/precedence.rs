//! Several signatures on the same bytes: sector 0 and primary copies come before backups and
//! secondary headers, and where tools disagree the reading says so.

use crate::members::encode::{Bytes, IntegritySb, MdOne, MdZero, json, luks2, segment};
use crate::tables_make::gpt::{self, Gpt};
use crate::tables_make::mbr::{Entry, entry, record};
use device::MemoryDisk;
use format::probe::{self, Hint, ProbedContent, Reading};
use format::table::bsd::Counting;
use units::SectorSize;

const LENGTH_BYTES: u64 = 128 << 20;
const SECTORS: u64 = LENGTH_BYTES / 512;

fn read(disk: &MemoryDisk) -> Reading {
    probe::read(
        disk,
        Hint {
            sector: SectorSize::B512,
            start_bytes: 0,
            counting: Counting::Unknown,
            tables: true,
        },
    )
}

/// The words for what is in force, or "undecided" with both.
fn verdict(disk: &MemoryDisk) -> String {
    let reading = read(disk);
    if let Some(contest) = reading.contest {
        return format!("undecided: {}", contest.detail);
    }
    let in_force = reading.container.as_ref().or(reading.found.first());
    in_force.map_or_else(|| "nothing".to_owned(), |found| found.value.words())
}

fn left_over(disk: &MemoryDisk) -> Vec<String> {
    read(disk).left_over.iter().map(|left| left.content.words()).collect()
}

fn blank() -> MemoryDisk {
    MemoryDisk::new(LENGTH_BYTES)
}

fn dos() -> MemoryDisk {
    let mut disk = blank();
    disk.put(0, &table(Some(entry(0x83, 63, 100_000))));
    disk
}

fn table(first: Option<Entry>) -> [u8; 512] {
    record(&[first, None, None, None])
}

/// A GPT whose entries end before 4 KiB.
fn short_gpt() -> Gpt {
    Gpt { entry_count: 8, ..Gpt::new(512, SECTORS, vec![gpt::slot(1, 2048, 99_999)]) }
}

fn fat() -> MemoryDisk {
    let mut boot = Bytes::zeros(512);
    boot.put(0, &[0xeb, 0x3c, 0x90]).put(3, b"mkfs.fat").le16(11, 512).put(13, &[4]);
    boot.le16(14, 4).put(16, &[2]).le16(17, 512).le32(32, 262_144).put(21, &[0xf8]);
    boot.le16(22, 256).put(38, &[0x29]).put(54, b"FAT16   ").put(510, &[0x55, 0xaa]);
    let mut disk = blank();
    disk.put(0, &boot.0);
    disk
}

/// A label in sector 1, as pvcreate writes it.
fn label() -> Vec<u8> {
    let mut sector = Bytes::zeros(512);
    sector.put(0, b"LABELONE").le64(8, 1).le32(20, 32).put(24, b"LVM2 001").put(32, &[b'a'; 32]);
    sector.le64(64, LENGTH_BYTES).le64(72, 1 << 20);
    let sum = sector.0[20..].iter().fold(0xf597_a6cf_u32, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 }
        })
    });
    sector.le32(16, sum);
    sector.0
}

fn pv() -> MemoryDisk {
    let mut disk = blank();
    disk.put(512, &label());
    disk
}

/// The second header of a LUKS2 with the smallest headers, for 16 KiB.
fn second_header() -> Vec<u8> {
    luks2(0x4000, 0x4000, 3, &json(&segment(16 << 20), ""))
}

fn with(mut disk: MemoryDisk, at_bytes: u64, bytes: &[u8]) -> MemoryDisk {
    disk.put(at_bytes, bytes);
    disk
}

fn md(super_offset: u64) -> Vec<u8> {
    MdOne { super_offset, ..MdOne::raid5() }.bytes()[..512].to_vec()
}

/// The bytes of a superblock 1.1 with those of `disk` from the boot code's end on.
fn md_in_sector_0(disk: MemoryDisk) -> MemoryDisk {
    with(disk, 0, &md(0)[..440])
}

#[test]
fn a_secondary_luks2_header_yields_to_whatever_else_is_recognized() {
    for (below, name) in [
        (dos(), "dos partition table"),
        (short_gpt().encode(), "gpt partition table"),
        (pv(), "LVM physical volume"),
        (fat(), "vfat"),
        (with(blank(), 4096, &md(8)), "md 1.2 RAID member"),
    ] {
        let disk = with(below, 0x4000, &second_header());
        assert_eq!(verdict(&disk), name);
        assert_eq!(left_over(&disk), ["secondary LUKS2 header at 16 KiB"], "{name}");
    }
}

#[test]
fn a_secondary_luks2_header_alone_is_the_container() {
    let alone = with(blank(), 0x4000, &second_header());
    assert_eq!(verdict(&alone), "secondary LUKS2 header at 16 KiB");
    let mut damaged = luks2(0x4000, 0, 3, &json(&segment(16 << 20), ""));
    damaged[448] ^= 1;
    assert_eq!(verdict(&with(alone, 0, &damaged)), "secondary LUKS2 header at 16 KiB");
}

#[test]
fn a_sound_primary_luks2_header_outranks_what_is_older() {
    let mut disk = with(blank(), 0x4000, &second_header());
    disk.put(0, &luks2(0x4000, 0, 3, &json(&segment(16 << 20), "")));
    disk.put((64 << 10) + 64, b"_BHRfS_M");
    assert_eq!(verdict(&disk), "LUKS2");
}

#[test]
fn a_table_over_a_luks2_primary_header_is_in_force() {
    let mut header = luks2(0x4000, 0, 3, &json(&segment(16 << 20), ""));
    header[440..512].copy_from_slice(&table(Some(entry(0x83, 63, 100_000)))[440..]);
    let disk = with(with(blank(), 0x4000, &second_header()), 0, &header);
    assert_eq!(verdict(&disk), "dos partition table");
}

#[test]
fn a_secondary_luks2_header_and_a_table_without_partitions_are_undecided() {
    let disk = with(with(blank(), 0, &table(None)), 0x4000, &second_header());
    assert!(verdict(&disk).starts_with("undecided: secondary LUKS2 header"), "{}", verdict(&disk));
}

#[test]
fn a_physical_volume_yields_to_a_table_that_lists_partitions_and_to_no_other() {
    let label = label();
    let disk = with(dos(), 512, &label);
    assert_eq!(verdict(&disk), "dos partition table");
    assert_eq!(left_over(&disk), ["LVM physical volume"]);
    let empty = with(with(blank(), 0, &table(None)), 512, &label);
    assert_eq!((verdict(&empty), left_over(&empty)), ("LVM physical volume".into(), vec![]));
    let mut code = [0x90; 512];
    code[440..].copy_from_slice(&table(None)[440..]);
    assert_eq!(verdict(&with(pv(), 0, &code)), "LVM physical volume");
    assert_eq!(verdict(&pv()), "LVM physical volume");
}

#[test]
fn a_bcache_yields_to_a_table_that_lists_partitions() {
    let disk = bcache(dos());
    assert_eq!(verdict(&disk), "dos partition table");
    assert_eq!(left_over(&disk), ["bcache"]);
}

fn bcache(disk: MemoryDisk) -> MemoryDisk {
    with(disk, 4096, include_bytes!("../heads/bcache-backing.bin"))
}

/// Adds the descriptor of an ISO.
fn iso(disk: MemoryDisk) -> MemoryDisk {
    let mut descriptor = Bytes::zeros(2048);
    descriptor.put(0, &[1]).put(1, b"CD001").put(6, &[1]).le32(80, 64).le16(128, 2048);
    with(disk, 32_768, &descriptor.0)
}

fn btrfs(disk: MemoryDisk) -> MemoryDisk {
    let mut sb = Bytes::zeros(4096);
    sb.put(64, b"_BHRfS_M").le64(48, 65_536).le64(112, LENGTH_BYTES).le32(144, 4096);
    with(disk, 65_536, &sb.0)
}

#[test]
fn a_file_system_and_another_or_a_bcache_are_undecided() {
    for (disk, both) in [
        (btrfs(fat()), "vfat and btrfs"),
        (iso(fat()), "iso9660 and vfat"),
        (bcache(fat()), "bcache and vfat"),
        (bcache(pv()), "LVM physical volume and bcache"),
    ] {
        let said = verdict(&disk);
        let has_both = both.split(" and ").all(|one| said.contains(one));
        assert!(said.starts_with("undecided: ") && has_both, "{both}: {said}");
    }
}

#[test]
fn formats_of_discs_share_their_bytes_where_an_iso_is_among_them() {
    let mut hfs = Bytes::zeros(512);
    hfs.put(0, b"H+").put(2, &[0, 4]).be32(40, 4096).be32(44, 1024);
    let both = with(iso(blank()), 1024, &hfs.0);
    let reading = read(&both);
    assert!(reading.contest.is_none(), "{:?}", reading.contest);
    assert_eq!(reading.found.len(), 2);
    assert!(read(&with(fat(), 65_536 + 64, b"_BHRfS_M")).contest.is_none(), "a mark is no btrfs");
}

#[test]
fn partitions_decide_what_a_file_system_beside_them_cannot() {
    let disk = btrfs(iso(dos()));
    assert_eq!(verdict(&disk), "dos partition table");
}

#[test]
fn an_md_superblock_at_the_start_and_a_table_with_partitions_are_undecided() {
    for (disk, version) in [
        (with(dos(), 4096, &md(8)), "1.2"),
        (with(short_gpt().encode(), 4096, &md(8)), "1.2"),
        (md_in_sector_0(dos()), "1.1"),
        (md_in_sector_0(short_gpt().encode()), "1.1"),
    ] {
        let said = verdict(&disk);
        assert!(said.starts_with(&format!("undecided: md {version} RAID member")), "{said}");
        let reading = read(&disk);
        assert!(matches!(reading.found[0].value, ProbedContent::Table(_)), "{version}");
        assert_eq!(left_over(&disk), [format!("md {version} RAID member")]);
    }
}

#[test]
fn an_md_superblock_with_a_wrong_checksum_yields_to_a_table() {
    let mut damaged = md(8);
    damaged[216] ^= 1;
    assert_eq!(verdict(&with(dos(), 4096, &damaged)), "dos partition table");
}

#[test]
fn an_integrity_superblock_and_a_table_are_undecided() {
    let sb = IntegritySb {
        version: 1,
        log_interleave: 15,
        tag: 4,
        journal: 88,
        provided: 100_000,
        flags: 0,
        log_block: 3,
    };
    let sb = sb.bytes();
    let said = verdict(&with(dos(), 0, &sb[..440]));
    assert!(said.starts_with("undecided: dm-integrity"), "{said}");
}

#[test]
fn an_md_member_without_another_table_is_a_member() {
    assert_eq!(verdict(&with(blank(), 4096, &md(8))), "md 1.2 RAID member");
    assert_eq!(verdict(&with(blank(), 0, &md(0))), "md 1.1 RAID member");
    let empty = with(with(blank(), 0, &table(None)), 4096, &md(8));
    assert_eq!(verdict(&empty), "md 1.2 RAID member");
}

/// RAID 1 with its superblock at the end shows the array's table in sector 0.
#[test]
fn a_table_before_a_superblock_at_the_end_is_the_arrays() {
    let last = SECTORS - 16;
    let one = MdOne { super_offset: last, data_offset: 0, level: 1, ..MdOne::raid5() };
    let zero = MdZero { level: 1, ..MdZero::raid5() };
    for (disk, name) in [
        (with(dos(), last * 512, &one.bytes()), "md 1.0 RAID member"),
        (with(dos(), LENGTH_BYTES - 0x1_0000, &zero.bytes()), "md 0.90 RAID member"),
    ] {
        assert_eq!((verdict(&disk), left_over(&disk)), (name.to_owned(), vec![]));
    }
    // The first member of a RAID 0 begins with the table of an array that is longer.
    let long = with(blank(), 0, &table(Some(entry(0x83, 63, 500_000))));
    let disk = with(long, last * 512, &MdOne { level: 0, ..one }.bytes());
    assert_eq!(verdict(&disk), "md 1.0 RAID member");
}

#[test]
fn a_superblock_0_90_belongs_to_the_partition_that_covers_it() {
    let length = u32::try_from(SECTORS - 2048).unwrap();
    let disk = with(blank(), 0, &table(Some(entry(0xfd, 2048, length))));
    let disk = with(disk, LENGTH_BYTES - 0x1_0000, &MdZero::raid5().bytes());
    assert_eq!(verdict(&disk), "dos partition table");
    assert_eq!(read(&disk).left_over[0].why, "it belongs to partition 1, which covers it");
}

#[test]
fn a_superblock_at_the_end_and_a_gpt_that_ends_after_it_are_undecided() {
    let sb = MdZero { level: 1, ..MdZero::raid5() }.bytes();
    let said = verdict(&with(short_gpt().encode(), LENGTH_BYTES - 0x1_0000, &sb));
    assert!(said.starts_with("undecided: md 0.90 RAID member"), "{said}");
}

#[test]
fn a_backup_gpt_after_a_member_or_file_system_is_left_over() {
    for (mut disk, name) in [(pv(), "LVM physical volume"), (fat(), "vfat")] {
        let table = Gpt { protective: None, ..short_gpt() }.encode();
        let tail = LENGTH_BYTES - (3 << 9);
        disk.put(tail, &device::disk::read_vec(&table, tail, 3 << 9).unwrap());
        assert_eq!(verdict(&disk), name);
        assert_eq!(left_over(&disk), ["backup GPT at the end"], "{name}");
    }
}

#[test]
fn a_protected_gpt_whose_primary_copy_is_gone_and_a_member_are_undecided() {
    let disk = with(short_gpt().encode(), 512, &label());
    let said = verdict(&disk);
    assert!(said.starts_with("undecided: LVM physical volume and backup GPT"), "{said}");
}
