//! A drive's files, its own answers, and which of them is used.

use super::*;
use device::MemoryTree;

mod drive_answers;

fn tree(values: &[(&str, &str)]) -> MemoryTree {
    values.iter().fold(MemoryTree::new(), |tree, (file, value)| {
        tree.with_file(&format!("/sys/block/sda/{file}"), value)
    })
}

fn granule(values: &[(&str, &str)]) -> (u64, u64, Source) {
    let units = KernelDrive::read(&tree(values), "sda").units(None);
    let (unit, source) = units.used(UnitKind::Granule).unwrap();
    (unit.length_bytes(), unit.origin_bytes(), source)
}

#[test]
fn a_reported_512_is_judged_at_an_assumed_4_kib() {
    let values = [("queue/logical_block_size", "512"), ("queue/physical_block_size", "512")];
    assert_eq!(granule(&values), (4096, 0, Source::Assumed));
}

#[test]
fn the_first_aligned_block_gives_the_origin() {
    let values = [
        ("queue/logical_block_size", "512"),
        ("queue/physical_block_size", "4096"),
        ("alignment_offset", "3584"),
    ];
    assert_eq!(granule(&values), (4096, 3584, Source::Sysfs));
}

#[test]
fn absurd_physical_sectors_are_named_and_not_used() {
    for absurd in ["0", "3", "256", "67108864"] {
        let values = [("queue/logical_block_size", "512"), ("queue/physical_block_size", absurd)];
        assert!(KernelDrive::read(&tree(&values), "sda").absurd_physical().is_some(), "{absurd}");
        assert_eq!(granule(&values).2, Source::Assumed);
    }
}

#[test]
fn the_optimal_size_of_usb_bridges_is_no_stripe() {
    let values = [("queue/logical_block_size", "512"), ("queue/optimal_io_size", "33553920")];
    assert!(KernelDrive::read(&tree(&values), "sda").absurd_optimal().is_some());
}

#[test]
fn ioctls_fill_what_sysfs_lacks_and_disagreements_are_noted() {
    let mut drive = KernelDrive::read(&tree(&[("queue/physical_block_size", "512")]), "sda");
    let unknown = || Known::no("not asked");
    drive.take_answers(Answers {
        logical_bytes: Known::yes(512, Source::Ioctl),
        physical_bytes: Known::yes(4096, Source::Ioctl),
        minimum_io_bytes: unknown(),
        optimal_io_bytes: unknown(),
        alignment_offset_bytes: Known::no("not asked"),
    });
    assert_eq!(drive.logical_bytes, Known::yes(512, Source::Ioctl));
    assert_eq!(
        drive.disagreements,
        ["physical_block_size: sysfs says 512, the ioctl 4096; sysfs is used"]
    );
}

#[test]
fn the_units_of_a_disk_count_from_where_a_loop_begins_in_its_file() {
    let drive = KernelDrive::read(&tree(&[("loop/offset", "512")]), "sda");
    let told: Condition = "512e".parse().unwrap();
    let (unit, source) = drive.units(Some(&told)).used(UnitKind::Granule).unwrap();
    assert_eq!((unit.length_bytes(), unit.origin_bytes(), source), (4096, 3584, Source::Told));
}

#[test]
fn a_missing_tree_is_unknown_with_reasons_and_never_zero() {
    let drive = KernelDrive::read(&MemoryTree::new(), "sda");
    assert!(drive.physical_bytes.reason().is_some());
    assert!(drive.length_bytes.reason().is_some());
    assert_eq!(drive.units(None).used(UnitKind::Granule).unwrap().1, Source::Assumed);
}

#[test]
fn what_was_measured_outranks_what_is_told_and_reported_and_says_when() {
    let values = [("queue/logical_block_size", "512"), ("queue/physical_block_size", "4096")];
    let mut drive = KernelDrive::read(&tree(&values), "sda");
    drive.measured = Some(KeptMeasurement::Granule(MeasuredGranule {
        alignment_bytes: 4096,
        origin_bytes: 3584,
        size_bytes: Some(16384),
        date: "2026-01-02".to_owned(),
        note: "straddle 0.1.0 probe, 2026-01-02".to_owned(),
    }));
    let told: Condition = "granule=8K".parse().unwrap();
    let units = drive.units(Some(&told));
    let (unit, source) = units.used(UnitKind::Granule).unwrap();
    assert_eq!((unit.length_bytes(), unit.origin_bytes(), source), (4096, 3584, Source::Measured));
    let used = units.facts().iter().find(|fact| fact.unit == UnitKind::Granule && fact.used);
    assert!(used.unwrap().reason.contains("2026-01-02"));
    let sizes = units.facts().iter().filter(|fact| fact.bytes == Some(16384));
    assert_eq!(sizes.count(), 1, "the size is shown and not used");
}

#[test]
fn what_was_measured_in_another_state_is_said_and_not_used() {
    let values = [("queue/logical_block_size", "512"), ("queue/physical_block_size", "4096")];
    let mut drive = KernelDrive::read(&tree(&values), "sda");
    drive.measured = Some(KeptMeasurement::NotUsed("its firmware was 1, and is 2 now".to_owned()));
    let units = drive.units(None);
    assert_eq!(units.used(UnitKind::Granule).unwrap().1, Source::Sysfs);
    let mut unknown = units.facts().iter().filter(|fact| fact.bytes.is_none());
    assert!(unknown.any(|fact| fact.reason == "its firmware was 1, and is 2 now"));
}
