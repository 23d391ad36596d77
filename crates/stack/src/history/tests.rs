//! Each default is recognized, by arithmetic and on tables of the tools that can still make it.

use super::*;

const DISK: u64 = 100_000_000_000;

fn layout(sectors: &[u64]) -> Option<PartitionerLayout> {
    let starts: Vec<u64> = sectors.iter().map(|sector| sector * 512).collect();
    made_by(&starts, 512, DISK).map(|trace| trace.layout)
}

#[test]
fn each_layout_is_recognized_by_its_starts() {
    for (sectors, expected) in [
        (&[63][..], PartitionerLayout::Cylinders),
        (&[63, 16_065 * 100, 16_065 * 300], PartitionerLayout::Cylinders),
        // An extended partition on a cylinder, its first logical one a track behind.
        (&[63, 16_065 * 100, 16_065 * 100 + 63], PartitionerLayout::Cylinders),
        (&[63, 1008 * 33], PartitionerLayout::Cylinders),
        (&[16_065], PartitionerLayout::SecondCylinder),
        (&[34, 264_192], PartitionerLayout::Reserved128),
        (&[34, 32_768], PartitionerLayout::Reserved16),
        (&[34, 262_178], PartitionerLayout::ReservedPacked),
        (&[34, 1_000_001], PartitionerLayout::FirstFree),
        (&[40, 409_640, 900_000_000], PartitionerLayout::Sector40Efi),
        (&[40, 1_064], PartitionerLayout::EightSectors),
        (&[256, 1_000_192], PartitionerLayout::Sector256),
        (&[16], PartitionerLayout::Label16),
        (&[65_535, 131_070], PartitionerLayout::Bogus65535),
        (&[2048, 206_848], PartitionerLayout::Mebibyte),
        (&[2048, 501_758, 501_760], PartitionerLayout::Mebibyte),
    ] {
        assert_eq!(layout(sectors), Some(expected), "{sectors:?}");
    }
}

#[test]
fn starts_that_no_default_makes_are_left_alone() {
    for sectors in [&[][..], &[1], &[63, 100_000], &[2048, 100_001], &[77, 2048], &[0]] {
        assert_eq!(layout(sectors), None, "{sectors:?}");
    }
    assert_eq!(made_by(&[1000], 512, DISK), None, "no whole sector");
    assert_eq!(made_by(&[1000], 0, DISK), None, "no sector at all");
    assert_eq!(made_by(&[u64::MAX], 1, u64::MAX), None, "no overflow");
}

#[test]
fn a_disk_with_4096_byte_sectors_has_its_own_first_free_sector() {
    let trace = made_by(&[6 * 4096, 1_000_001 * 4096], 4096, DISK).unwrap();
    assert_eq!(trace.layout, PartitionerLayout::FirstFree);
    assert_eq!(made_by(&[256 * 4096], 4096, DISK).unwrap().layout, PartitionerLayout::Mebibyte);
    assert_eq!(made_by(&[63 * 4096], 4096, DISK), None);
}

#[test]
fn gdisk_looked_at_the_size_of_the_disk_before_0_6_6() {
    let made = |disk| made_by(&[40 * 512], 512, disk).unwrap().sentence();
    assert!(!made(100_000_000_000).contains("0.5.3 to 0.6.5"));
    assert!(made(1_000_000_000_000).contains("0.5.3 to 0.6.5"));
}

#[test]
fn small_disks_of_windows_are_told_from_large_ones() {
    assert_eq!(made_by(&[65_536], 512, 1 << 30).unwrap().layout, PartitionerLayout::Small64K);
    assert_eq!(made_by(&[65_536], 512, 8 << 30), None);
}

#[test]
fn the_sentence_names_heads_and_tools() {
    let sentence = made_by(&[63 * 512, 16_065 * 512 * 10], 512, DISK).unwrap().sentence();
    assert!(sentence.contains("255 heads x 63 sectors"), "{sentence}");
    assert!(sentence.contains("fdisk before util-linux 2.18"), "{sentence}");
    assert!(sentence.contains("Windows 2000 to XP"), "{sentence}");
    let alone = made_by(&[63 * 512], 512, DISK).unwrap().sentence();
    assert!(!alone.contains("heads"), "{alone}");
}

#[test]
fn every_layout_has_a_default_and_every_default_a_source() {
    for layout in PartitionerLayout::ALL {
        assert!(defaults().iter().any(|made| made.layout == layout), "{layout:?}");
    }
    assert_eq!(defaults().len(), defaults::blocks().count(), "every default of the file is read");
    for made in defaults() {
        assert!(made.source.starts_with("https://"), "{}", made.tool);
        assert!(!made.disks_bytes.is_empty(), "{}", made.tool);
    }
}
