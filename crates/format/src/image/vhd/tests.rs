//! Claims about the reader of `vhd`, on bytes made by hand.

use super::footer::checksum;
use super::*;
use device::MemoryDisk;

fn footer(disk_type: u32, virtual_bytes: u64) -> [u8; 512] {
    let mut bytes = [0; 512];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, b"conectix");
    put(8, &2_u32.to_be_bytes());
    put(12, &0x0001_0000_u32.to_be_bytes());
    put(16, &if disk_type == 2 { u64::MAX } else { 512 }.to_be_bytes());
    put(28, b"win ");
    put(48, &virtual_bytes.to_be_bytes());
    put(60, &disk_type.to_be_bytes());
    let sum = checksum(&bytes, 64);
    bytes[64..68].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// A dynamic or differencing disk of 4 MiB in blocks of 2 MiB, whose second block is at sector 8.
fn dynamic(disk_type: u32) -> MemoryDisk {
    let mut disk = MemoryDisk::new(4096 + 512 + (2 << 20) + 512);
    let footer = footer(disk_type, 4 << 20);
    disk.put(0, &footer);
    disk.put(4096 + 512 + (2 << 20), &footer);
    let mut header = [0; 1024];
    let mut put = |at: usize, value: &[u8]| header[at..at + value.len()].copy_from_slice(value);
    put(0, b"cxsparse");
    put(16, &1536_u64.to_be_bytes());
    put(24, &0x0001_0000_u32.to_be_bytes());
    put(28, &2_u32.to_be_bytes());
    put(32, &(2_u32 << 20).to_be_bytes());
    put(64, &[0, b'p']);
    put(576, b"W2ru");
    put(576 + 8, &10_u32.to_be_bytes());
    put(576 + 16, &2048_u64.to_be_bytes());
    let sum = checksum(&header, 36);
    header[36..40].copy_from_slice(&sum.to_be_bytes());
    disk.put(512, &header);
    disk.put(1536, &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 8]);
    disk.put(2048, b".\0\\\0p\0.\0v\0");
    disk
}

fn place(disk: &MemoryDisk, address: u64) -> Option<(GuestPlace, u64)> {
    let image = super::super::read(disk)?.value;
    let extent = image.locate(disk, address).ok()??;
    Some((extent.place, extent.guest.length_bytes()))
}

#[test]
fn a_fixed_disk_is_known_by_its_footer_of_512_or_511_bytes() {
    for length in [512, 511] {
        let mut file = vec![0; 8192];
        file.extend(&footer(2, 8192)[..length]);
        let parsed = super::super::read(&file).unwrap();
        assert_eq!(parsed.problems, [], "{length}");
        assert_eq!(parsed.value.kind, ImageKind::VhdFixed);
        assert_eq!(parsed.value.layout, ImageLayout::Flat { offset_bytes: 0 });
        assert_eq!(parsed.value.virtual_bytes, 8192);
    }
}

#[test]
fn a_fixed_disk_that_is_larger_than_its_file_says_so_and_ends_with_it() {
    let mut file = vec![0; 8192];
    file.extend(footer(2, 1 << 40));
    let parsed = super::super::read(&file).unwrap();
    assert_eq!(parsed.problems[0].kind, ProblemKind::Outside);
    assert!(parsed.value.locate(&file, 1 << 30).is_err());
}

#[test]
fn a_block_stands_behind_its_bitmap() {
    let disk = dynamic(3);
    assert_eq!(super::super::read(&disk).unwrap().problems, []);
    assert_eq!(place(&disk, 0), Some((GuestPlace::Backing, 2 << 20)));
    assert_eq!(place(&disk, (2 << 20) + 1), Some((GuestPlace::Here(4096 + 513), (2 << 20) - 1)));
}

#[test]
fn sectors_of_a_differencing_disk_are_here_or_in_the_parent_by_their_bits() {
    let mut disk = dynamic(4);
    disk.put(4096, &[0b0111_0000]);
    let image = super::super::read(&disk).unwrap().value;
    assert_eq!(image.references[0].path.raw(), b"./p.v");
    assert_eq!(place(&disk, 2 << 20), Some((GuestPlace::Backing, 512)));
    assert_eq!(
        place(&disk, (2 << 20) + 600),
        Some((GuestPlace::Here(4096 + 512 + 600), 3 * 512 - 88))
    );
    assert_eq!(place(&disk, (2 << 20) + 4 * 512).unwrap().0, GuestPlace::Backing);
}

#[test]
fn the_copy_at_the_start_stands_in_for_a_lost_footer_and_the_other_way_round() {
    let mut disk = dynamic(3);
    let end = disk.length_bytes();
    disk.put(end - 512, &[0; 512]);
    let parsed = super::super::read(&disk).unwrap();
    assert_eq!(parsed.problems[0].kind, ProblemKind::Copies);
    assert!(matches!(parsed.value.layout, ImageLayout::Vhd(_)));

    let mut disk = dynamic(3);
    disk.put(0, &[0; 512]);
    let parsed = super::super::read(&disk).unwrap();
    assert_eq!(parsed.problems[0].kind, ProblemKind::Copies);
    assert!(matches!(parsed.value.layout, ImageLayout::Vhd(_)));

    let mut disk = dynamic(3);
    disk.put(40, &[9]);
    let parsed = super::super::read(&disk).unwrap();
    assert_eq!(parsed.problems.len(), 1, "the sound one is used: {:?}", parsed.problems);
}

#[test]
fn a_wrong_checksum_and_a_block_on_the_footer_are_told() {
    let mut disk = dynamic(3);
    disk.put(512 + 700, &[1]);
    disk.put(1536, &[0; 4]);
    let parsed = super::super::read(&disk).unwrap();
    assert_eq!(parsed.problems[0].kind, ProblemKind::Checksum);
    assert!(parsed.value.locate(&disk, 0).is_err());
}

#[test]
fn new_blocks_drift_by_their_bitmaps_unless_the_writer_keeps_them_at_4_kib() {
    let unit = units::Unit::new(4096).unwrap();
    let range = ByteRange::new(0, 64 << 20).unwrap();
    let shifts = |version: u32| {
        let mut disk = dynamic(3);
        let mut footer = footer(3, 4 << 20);
        footer[32..36].copy_from_slice(&version.to_be_bytes());
        let sum = checksum(&footer, 64);
        footer[64..68].copy_from_slice(&sum.to_be_bytes());
        disk.put(0, &footer);
        let end = disk.length_bytes();
        disk.put(end - 512, &footer);
        let image = super::super::read(&disk).unwrap().value;
        image.new_shifts(end, range, unit).into_keys().collect::<Vec<_>>()
    };
    assert_eq!(shifts(0x0006_0001), [0, 512, 1024, 1536, 2048, 2560, 3072, 3584]);
    assert_eq!(shifts(0x0006_0002), [0]);
    assert_eq!(shifts(0x000a_0000), [0]);
}
