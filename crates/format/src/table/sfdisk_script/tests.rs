//! Scripts as sfdisk prints them, and others.

use super::*;
use crate::table::{Partition, PartitionRole};

const DOS: &str = "label: dos\nlabel-id: 0x3718161a\ndevice: /dev/sda\nunit: sectors\n\
    sector-size: 512\n\n\
    /dev/sda1 : start=          63, size=        2048, type=83, bootable\n\
    /dev/sda2 : start=        2112, size=       20416, type=5\n\
    /dev/sda5 : start=        2222, size=        1874, type=83\n";

fn places(text: &str) -> Vec<(u32, u64, u64)> {
    let script = read(text.as_bytes()).unwrap();
    let place = |partition: &Partition| {
        let range = partition.range;
        (partition.number, range.start_bytes(), range.length_bytes())
    };
    script.table.partitions.iter().map(place).collect()
}

#[test]
fn a_dump_gives_numbers_places_and_types() {
    assert!(is_script(DOS.as_bytes()));
    let sectors = [(1, 63, 2048), (2, 2112, 20416), (5, 2222, 1874)];
    let bytes = sectors.map(|(number, start, size)| (number, start * 512, size * 512));
    assert_eq!(places(DOS), bytes);
    let script = read(DOS.as_bytes()).unwrap();
    assert_eq!(script.table.kind, TableKind::Mbr);
    assert!(script.table.partitions[0].bootable);
    assert_eq!(script.table.partitions[1].role, PartitionRole::Extended);
    assert_eq!(script.device.unwrap().to_string(), "/dev/sda");
    assert_eq!(script.disk_bytes, (2112 + 20416) * 512);
}

#[test]
fn a_gpt_s_sectors_may_be_of_4096_bytes_and_names_hold_commas() {
    let text = "# mine\nlabel: gpt\nunit: sectors\nlast-lba: 9000\nsector-size: 4096\n\
        start=256, size=1MiB, name=\"EFI, \\\"x\\\"\", \
        type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B\n";
    assert_eq!(places(text), [(1, 1 << 20, 1 << 20)]);
    let script = read(text.as_bytes()).unwrap();
    assert_eq!(script.table.partitions[0].role, PartitionRole::EfiSystem);
    assert_eq!(script.disk_bytes, (9000 + 34) * 4096);
}

#[test]
fn devices_by_path_hold_colons_of_their_own() {
    let text = "label: gpt\n/dev/disk/by-path/pci-0000:00:1f.2-ata-1-part3 : start=34, size=8\n";
    assert_eq!(places(text), [(3, 34 * 512, 8 * 512)]);
}

#[test]
fn what_is_not_read_is_told_with_its_line() {
    let long = "label: dos\n".repeat(SCRIPT_BYTES_MAX / 8);
    for (text, line, word) in [
        ("label: dos\nhello\n", 2, "`hello`"),
        ("label: sun\n", 1, "label `sun`"),
        ("unit: cylinders\n", 1, "unit `cylinders`"),
        ("label: gpt\nsector-size: 3\n", 2, "sector-size `3`"),
        ("start=x, size=8", 1, "start=x"),
        ("start=1, size=99999999999999999999", 1, "size=99999999999999999999"),
        ("label: dos\nsize=10MiB\n", 2, "no start="),
        ("start=63\n", 1, "no size="),
        ("start=63, size=+\n", 1, "no size="),
        ("start=63, size=0\n", 1, "empty"),
        ("start=18446744073709551615, size=1\n", 1, "past the last address"),
        ("label: dos\n", 1, "no partition"),
        ("", 1, "no partition"),
        (long.as_str(), 1, "more than"),
    ] {
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(word), "{error}: {word}");
        assert!(!error.problem.hint().is_empty());
    }
    assert_eq!(read(b"label: dos\n\xff\n").unwrap_err().line, 2);
}

#[test]
fn disks_and_prose_are_no_scripts() {
    for text in ["", "no disk is here", "a=b\nlabel: gpt", "label gpt", "lable: dos", "\0\0"] {
        assert!(!is_script(text.as_bytes()), "{text:?}");
    }
    assert!(!is_script(b"\xeb\x3c\x90mkfs.fat\0"));
    assert!(is_script(b"\n# made by hand\nstart=2048, size=100"));
}
