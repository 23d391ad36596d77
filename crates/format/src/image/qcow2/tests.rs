//! Claims about the reader of `qcow2`, on bytes made by hand.

use std::ops::ControlFlow;

use device::MemoryDisk;

use super::super::{GuestExtent, GuestPlace};
use super::*;

/// A header of version 3 with clusters of 64 KiB and an L1 table of `entries` at the second
/// cluster.
fn header(virtual_bytes: u64, entries: u32) -> Vec<u8> {
    let mut bytes = vec![0; 112];
    bytes[..4].copy_from_slice(MAGIC);
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(4, &3_u32.to_be_bytes());
    put(20, &16_u32.to_be_bytes());
    put(24, &virtual_bytes.to_be_bytes());
    put(36, &entries.to_be_bytes());
    put(40, &0x1_0000_u64.to_be_bytes());
    put(96, &4_u32.to_be_bytes());
    put(100, &112_u32.to_be_bytes());
    bytes
}

/// A disk of 1 MiB with one L2 table at the third cluster, whose first entries are `entries`.
fn disk(entries: &[u64]) -> MemoryDisk {
    let mut disk = MemoryDisk::with_head(1 << 20, &header(1 << 20, 1));
    disk.put(0x1_0000, &(0x2_0000 | COPIED_BIT).to_be_bytes());
    for (number, entry) in entries.iter().enumerate() {
        disk.put(0x2_0000 + 8 * u64::try_from(number).unwrap(), &entry.to_be_bytes());
    }
    disk
}

const COPIED_BIT: u64 = 1 << 63;

fn image(disk: &dyn Disk) -> Parsed<Image> {
    super::super::read(disk).unwrap()
}

fn place(disk: &dyn Disk, address: u64) -> Result<GuestPlace, device::ReadError> {
    Ok(image(disk).value.locate(disk, address)?.unwrap().place)
}

#[test]
fn a_byte_keeps_its_place_within_its_cluster() {
    let disk = disk(&[0x5_0000 | COPIED_BIT, 0, 1, 0x6_0000]);
    assert_eq!(image(&disk).problems, []);
    assert_eq!(place(&disk, 0x1234), Ok(GuestPlace::Here(0x5_1234)));
    assert_eq!(place(&disk, 0x1_0000), Ok(GuestPlace::Backing));
    assert_eq!(place(&disk, 0x2_0000), Ok(GuestPlace::Zero));
    assert_eq!(place(&disk, 0x3_ffff), Ok(GuestPlace::Here(0x6_ffff)));
}

#[test]
fn entries_that_point_off_a_cluster_or_behind_the_file_are_errors() {
    let disk = disk(&[0x5_0200, 0x200_0000, COMPRESSED_BIT | 0x200_0000]);
    for cluster in 0..3 {
        assert!(place(&disk, cluster << 16).is_err(), "{cluster}");
    }
    assert_eq!(place(&disk, 3 << 16), Ok(GuestPlace::Backing));
}

const COMPRESSED_BIT: u64 = 1 << 62;

#[test]
fn clusters_of_a_size_that_is_not_allowed_are_told_of_their_own_field() {
    let mut bytes = header(1 << 20, 1);
    bytes[20..24].copy_from_slice(&5_u32.to_be_bytes());
    let parsed = image(&MemoryDisk::with_head(1 << 20, &bytes));
    assert_eq!(parsed.problems[0].at_bytes, 20, "{:?}", parsed.problems);
    // A fault of the file, and nothing that a later version would read.
    assert_eq!(parsed.problems[0].kind, ProblemKind::Field);
}

#[test]
fn a_feature_that_is_not_known_is_named_and_leaves_the_layout_unknown() {
    let mut bytes = header(1 << 20, 1);
    bytes[72..80].copy_from_slice(&(1_u64 << 7).to_be_bytes());
    bytes.extend(0x6803_f857_u32.to_be_bytes());
    bytes.extend(48_u32.to_be_bytes());
    bytes.extend([0, 7]);
    bytes.extend(b"time travel");
    bytes.resize(112 + 8 + 48, 0);
    let parsed = image(&MemoryDisk::with_head(1 << 20, &bytes));
    assert_eq!(parsed.problems[0].kind, ProblemKind::Unsupported);
    let ImageLayout::Unknown(reason) = parsed.value.layout else { panic!("it is not read") };
    assert!(reason.contains("bit 7 (time travel)"), "{reason}");
    assert_eq!(parsed.value.virtual_bytes, 1 << 20);
}

#[test]
fn clusters_of_4_mib_are_not_read() {
    let mut bytes = header(1 << 20, 1);
    for bits in [0, 8, 22, 64, u32::MAX] {
        bytes[20..24].copy_from_slice(&bits.to_be_bytes());
        let parsed = image(&MemoryDisk::with_head(1 << 20, &bytes));
        assert!(matches!(parsed.value.layout, ImageLayout::Unknown(_)), "{bits}");
    }
}

#[test]
fn a_backing_name_outside_of_the_header_still_means_a_backing_file() {
    for (offset, length) in [(200_u64, 0_u32), (200, 1024), (u64::MAX, 8), (70_000, 8)] {
        let mut bytes = header(1 << 20, 1);
        bytes[8..16].copy_from_slice(&offset.to_be_bytes());
        bytes[16..20].copy_from_slice(&length.to_be_bytes());
        let parsed = image(&MemoryDisk::with_head(1 << 20, &bytes));
        assert_eq!(parsed.problems[0].kind, ProblemKind::Field);
        assert_eq!(parsed.value.references[0].role, ReferenceRole::Backing);
        assert!(parsed.value.references[0].path.is_empty());
    }
}

#[test]
fn version_2_has_no_zero_clusters() {
    let mut disk = disk(&[1]);
    disk.put(4, &2_u32.to_be_bytes());
    assert_eq!(image(&disk).value.version, "v2");
    assert!(place(&disk, 0).is_err());
}

#[test]
fn subclusters_are_here_zero_or_elsewhere_each_by_its_bits() {
    let mut disk = MemoryDisk::with_head(1 << 20, &header(1 << 20, 1));
    disk.put(72, &(1_u64 << 4).to_be_bytes());
    disk.put(0x1_0000, &0x2_0000_u64.to_be_bytes());
    disk.put(0x2_0000, &0x5_0000_u64.to_be_bytes());
    // The first two are allocated, the third is zero, the last says both.
    let bitmap = 0b11_u64 | (1 << 34) | (1 << 31) | (1 << 63);
    disk.put(0x2_0008, &bitmap.to_be_bytes());
    let image = image(&disk).value;
    assert_eq!(image.subblock_bytes, Some(2048));
    let run = |address| image.locate(&disk, address).map(|extent| extent.unwrap());
    let extent = |start, length, place| {
        Ok(GuestExtent { guest: ByteRange::new(start, length).unwrap(), place })
    };
    assert_eq!(run(100), extent(100, 3996, GuestPlace::Here(0x5_0064)));
    assert_eq!(run(4096), extent(4096, 2048, GuestPlace::Zero));
    assert_eq!(run(6144), extent(6144, 28 * 2048, GuestPlace::Backing));
    assert!(run(31 * 2048).is_err());
}

#[test]
fn a_table_that_is_too_short_leaves_the_rest_unknown_at_once() {
    let disk = MemoryDisk::with_head(1 << 20, &header(u64::MAX, 2));
    let parsed = image(&disk);
    assert_eq!(parsed.problems[0].kind, ProblemKind::Field);
    let all = ByteRange::new(0, u64::MAX).unwrap();
    let shifts = parsed.value.shifts(&disk, all, units::Unit::new(4096).unwrap());
    assert!(shifts.walked.complete);
    assert_eq!(shifts.backing_bytes, 1 << 30);
    assert_eq!(shifts.unknown_bytes, u64::MAX - (1 << 30));
}

#[test]
fn a_walk_goes_on_where_the_last_one_was_broken_off() {
    let disk = disk(&[0x5_0000, 0x6_0000, 0, 0x8_0000]);
    let image = image(&disk).value;
    let (mut from, mut seen) = (0, Vec::new());
    while from < image.virtual_bytes {
        let range = ByteRange::new(from, u64::MAX - from).unwrap();
        let mut visit = |extent: GuestExtent| {
            seen.push((extent.guest.start_bytes() >> 16, extent.guest.length_bytes() >> 16));
            ControlFlow::Break(())
        };
        from = image.extents(&disk, range, &mut visit).unwrap().end_bytes;
    }
    assert_eq!(seen, [(0, 2), (2, 1), (3, 1), (4, 12)]);
}

#[test]
fn a_million_entries_that_name_the_same_table_end_at_the_bound() {
    let entries = 1_u32 << 20;
    let mut disk = MemoryDisk::with_head(32 << 20, &header(512 << 40, entries));
    disk.put(0x1_0000, &0x100_0000_u64.to_be_bytes().repeat(1 << 20));
    let clusters: Vec<u8> = [0x110_0000_u64, 0x112_0000]
        .iter()
        .flat_map(|entry| entry.to_be_bytes())
        .cycle()
        .take(0x1_0000)
        .collect();
    disk.put(0x100_0000, &clusters);
    let image = image(&disk).value;
    let all = ByteRange::new(0, u64::MAX).unwrap();
    let shifts = image.shifts(&disk, all, units::Unit::new(4096).unwrap());
    assert!(!shifts.walked.complete);
}
