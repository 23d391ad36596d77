//! Claims about the reader of `vdi`, on bytes made by hand.

use super::*;
use device::MemoryDisk;

/// A disk of 4 blocks of 1 MiB: one at the second place, one free, one discarded, one behind the
/// file.
fn disk(kind: u32, extra: u32) -> MemoryDisk {
    let mut disk = MemoryDisk::new(4 << 20);
    disk.put(0x40, &SIGNATURE.to_le_bytes());
    disk.put(0x44, &VERSION.to_le_bytes());
    disk.put(0x4c, &kind.to_le_bytes());
    disk.put(0x154, &512_u32.to_le_bytes());
    disk.put(0x158, &2048_u32.to_le_bytes());
    disk.put(0x168, &512_u32.to_le_bytes());
    disk.put(0x170, &(4_u64 << 20).to_le_bytes());
    disk.put(0x178, &(1_u32 << 20).to_le_bytes());
    disk.put(0x17c, &extra.to_le_bytes());
    disk.put(0x180, &4_u32.to_le_bytes());
    for (number, entry) in [1, FREE, DISCARDED, 77].iter().enumerate() {
        disk.put(512 + 4 * u64::try_from(number).unwrap(), &entry.to_le_bytes());
    }
    disk
}

fn place(disk: &MemoryDisk, address: u64) -> Option<GuestPlace> {
    let image = super::super::read(disk)?.value;
    Some(image.locate(disk, address).ok()??.place)
}

#[test]
fn blocks_start_at_the_data_offset_each_behind_its_extra_bytes() {
    let plain = disk(1, 0);
    assert_eq!(super::super::read(&plain).unwrap().problems, []);
    assert_eq!(place(&plain, 5), Some(GuestPlace::Here(2048 + (1 << 20) + 5)));
    let extra = disk(1, 512);
    assert_eq!(place(&extra, 5), Some(GuestPlace::Here(2048 + (1 << 20) + 2 * 512 + 5)));
    let unit = units::Unit::new(4096).unwrap();
    let shift = |disk: &MemoryDisk| super::super::read(disk).unwrap().value.constant_shift(unit);
    assert_eq!((shift(&plain), shift(&extra)), (Some(2048), None));
}

#[test]
fn free_discarded_and_lost_blocks_are_told_apart() {
    let disk = disk(1, 0);
    assert_eq!(place(&disk, 1 << 20), Some(GuestPlace::Backing));
    assert_eq!(place(&disk, 2 << 20), Some(GuestPlace::Zero));
    assert_eq!(place(&disk, 3 << 20), None);
}

#[test]
fn a_differencing_image_names_its_parent_by_identifier_only() {
    let mut disk = disk(4, 0);
    disk.put(0x1a8, &[0xab; 16]);
    let image = super::super::read(&disk).unwrap().value;
    assert_eq!(image.references[0].role, ReferenceRole::Backing);
    assert!(image.references[0].path.is_empty());
    assert!(image.details.iter().any(|(term, _)| *term == "parent UUID"));
}

#[test]
fn the_signature_alone_is_no_vdi_and_an_old_version_is_named() {
    let mut disk = disk(1, 0);
    disk.put(0x44, &0xdead_beef_u32.to_le_bytes());
    assert!(super::super::read(&disk).is_none());
    disk.put(0x44, &2_u32.to_le_bytes());
    let image = super::super::read(&disk).unwrap().value;
    assert!(matches!(image.layout, ImageLayout::Unknown(_)));
}
