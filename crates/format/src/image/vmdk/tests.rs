//! Claims about the reader of `vmdk`, on bytes made by hand.

use super::super::ReferenceRole;
use super::*;
use device::MemoryDisk;

fn parsed(file: &dyn Disk) -> Parsed<Image> {
    super::super::read(file).unwrap()
}

const DESCRIPTOR: &str = r#"# Disk DescriptorFile
version=1
CID=fffffffe
parentCID = 12345678
createType="twoGbMaxExtentFlat"
parentFileNameHint="base of all.vmdk"
RW 2048 FLAT "one = first.vmdk" 63
RW 4096 ZERO
RDONLY 8 SPARSE "two.vmdk"
RW 16 SESPARSE "three.vmdk"
RW 16 FLAT "four.vmdk" nonsense
"#;

#[test]
fn a_descriptor_names_files_offsets_holes_and_the_parent() {
    let file = DESCRIPTOR.as_bytes().to_vec();
    let image = parsed(&file).value;
    assert_eq!(image.kind, ImageKind::VmdkDescriptor);
    assert_eq!(image.virtual_bytes, (2048 + 4096 + 8 + 16 + 16) * 512);
    let names: Vec<_> = image
        .references
        .iter()
        .map(|reference| (reference.role, reference.path.to_string()))
        .collect();
    let expected = [
        (ReferenceRole::Extent, "one = first.vmdk".to_owned()),
        (ReferenceRole::Extent, "two.vmdk".to_owned()),
        (ReferenceRole::Backing, "base of all.vmdk".to_owned()),
    ];
    assert_eq!(names, expected);
    let place = |sector: u64| image.locate(&file, sector * 512).ok()?.map(|extent| extent.place);
    assert_eq!(place(1), Some(GuestPlace::In(0, 64 * 512)));
    assert_eq!(place(2048), Some(GuestPlace::Zero));
    assert_eq!(place(2048 + 4096 + 3), Some(GuestPlace::In(1, 3 * 512)));
    assert_eq!(place(2048 + 4096 + 8), None, "an extent that is not read is unknown");
    assert_eq!(place(2048 + 4096 + 24), None, "an offset that is no number is unknown");
}

#[test]
fn extents_whose_sizes_exceed_64_bits_are_not_read() {
    let line = "RW 30000000000000000 ZERO\n".repeat(3);
    let file = format!("# Disk DescriptorFile\n{line}").into_bytes();
    assert!(matches!(parsed(&file).value.layout, ImageLayout::Unknown(_)));
}

/// A sparse extent of 64 MiB with one grain at sector 129: no multiple of anything.
fn sparse(flags: u32) -> MemoryDisk {
    let mut disk = MemoryDisk::new(1 << 20);
    disk.put(0, MAGIC);
    disk.put(4, &1_u32.to_le_bytes());
    disk.put(8, &flags.to_le_bytes());
    disk.put(12, &0x2_0000_u64.to_le_bytes());
    disk.put(20, &128_u64.to_le_bytes());
    disk.put(44, &512_u32.to_le_bytes());
    disk.put(48, &8_u64.to_le_bytes());
    disk.put(56, &4_u64.to_le_bytes());
    disk.put(73, b"\n \r\n");
    disk.put(4 * 512, &16_u32.to_le_bytes());
    disk.put(8 * 512, &16_u32.to_le_bytes());
    disk.put(16 * 512 + 4, &129_u32.to_le_bytes());
    disk.put(16 * 512 + 8, &1_u32.to_le_bytes());
    disk
}

#[test]
fn a_grain_may_start_at_any_sector() {
    let disk = sparse(1);
    let image = parsed(&disk).value;
    let unit = units::Unit::new(4096).unwrap();
    let all = ByteRange::new(0, u64::MAX).unwrap();
    let shifts = image.shifts(&disk, all, unit);
    assert_eq!(shifts.here.get(&512), Some(&(128 << 10)), "grains at sectors 129 and 1");
    assert_eq!(image.constant_shift(unit), None);
    // Entry 1 is a sector like any other unless the flag says that it means zeros.
    assert_eq!(image.locate(&disk, 128 << 10).unwrap().unwrap().place, GuestPlace::Here(512));
    let disk = sparse(1 | HAS_ZERO_GRAINS);
    let image = parsed(&disk).value;
    assert_eq!(image.locate(&disk, 128 << 10).unwrap().unwrap().place, GuestPlace::Zero);
}

#[test]
fn the_redundant_directory_stands_in_for_one_that_lies_outside() {
    let mut disk = sparse(1 | HAS_REDUNDANT);
    disk.put(56, &(1_u64 << 50).to_le_bytes());
    let parsed = parsed(&disk);
    assert_eq!(parsed.problems[0].kind, ProblemKind::Outside);
    let place = parsed.value.locate(&disk, 64 << 10).unwrap().unwrap().place;
    assert_eq!(place, GuestPlace::Here(129 * 512));
}

#[test]
fn the_header_at_the_end_counts_when_the_first_says_so() {
    let mut disk = sparse(1);
    let head: [u8; 512] = disk::read_array(&disk, 0).unwrap();
    disk.put((1 << 20) - FOOTER_BYTES, &head);
    disk.put(56, &AT_END.to_le_bytes());
    disk.put(12, &1_u64.to_le_bytes());
    assert_eq!(parsed(&disk).value.virtual_bytes, 64 << 20);
    disk.put((1 << 20) - FOOTER_BYTES, &[0; 4]);
    assert_eq!(parsed(&disk).problems[0].kind, ProblemKind::Copies);
}

#[test]
fn a_transfer_as_text_is_noticed() {
    let mut disk = sparse(1);
    disk.put(73, b"\n \n\n");
    assert_eq!(parsed(&disk).problems[0].kind, ProblemKind::Field);
}
