//! Answers that a real kernel handed over, from QEMU's drives and Linux's scsi_debug, against what
//! those were configured to say. How they were made stands in `tests/heads/README.md`.

use device::{Disk as _, disk, pack};
use format::identify::{Rotation, ata, nvme, scsi};

/// The bytes of the answer `name`.
fn answer(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/heads/answer-{name}.pack", env!("CARGO_MANIFEST_DIR"));
    let packed = std::fs::read(path).expect("the answer lies among the heads");
    let answer = pack::unpack(&packed).expect("heads are packed");
    disk::read_vec(&answer, 0, answer.length_bytes()).expect("an answer is short")
}

#[test]
fn qemus_namespace_says_the_sectors_and_discards_that_it_was_given() {
    let found = nvme::namespace(&answer("nvme-namespace")).unwrap();
    assert_eq!(found.problems, []);
    let said = found.value;
    assert_eq!(said.size_bytes, Some(64 << 20));
    assert_eq!(said.format.unwrap().data_bytes, 512);
    assert_eq!(said.formats.len(), 8);
    assert_eq!(said.write_granularity_bytes, Some(512));
    assert_eq!(said.discard_granularity_bytes, Some(16384));
    assert_eq!(said.discard_alignment_bytes, Some(16384));
    assert_eq!(said.atomic, nvme::Atomic::default());
}

#[test]
fn qemus_controller_names_itself() {
    let said = nvme::controller(&answer("nvme-controller")).unwrap().value;
    assert_eq!(said.model.to_string(), "QEMU NVMe Ctrl");
    assert_eq!(said.serial.to_string(), "nv0");
    assert!(said.volatile_cache && said.discards);
    assert_eq!(said.atomic_power_fail_blocks, 1);
}

#[test]
fn qemus_ata_disk_says_both_sectors_and_that_nothing_turns() {
    let found = ata::identity(&answer("ata-identify")).unwrap();
    assert_eq!(found.problems, []);
    let said = found.value;
    assert_eq!(said.model.to_string(), "QEMU HARDDISK");
    assert_eq!((said.logical_bytes, said.physical_bytes), (Some(512), Some(4096)));
    assert_eq!(said.rotation, Some(Rotation::None));
    assert_eq!(said.size_bytes, Some(64 << 20));
    assert!(said.trims);
}

#[test]
fn libata_hands_on_what_turns() {
    let said = scsi::characteristics(&answer("scsi-characteristics")).unwrap().value;
    assert_eq!(said.rotation, Some(Rotation::PerMinute(5400)));
}

#[test]
fn scsi_debug_says_where_its_first_physical_sector_and_unmap_unit_start() {
    let found = scsi::capacity(&answer("scsi-capacity")).unwrap();
    assert_eq!(found.problems, []);
    let said = found.value;
    assert_eq!(said.size_bytes, Some(64 << 20));
    assert_eq!((said.logical_bytes, said.physical_bytes), (Some(512), Some(4096)));
    assert_eq!(said.lowest_aligned_bytes, 7 * 512);
    assert!(said.unmaps);
    let limits = scsi::block_limits(&answer("scsi-block-limits"), 512).unwrap();
    assert_eq!(limits.problems, []);
    assert_eq!(limits.value.unmap_granularity_bytes, Some(64 * 512));
    assert_eq!(limits.value.unmap_alignment_bytes, Some(8 * 512));
    assert!(limits.value.atomic.length_bytes.is_some());
}
