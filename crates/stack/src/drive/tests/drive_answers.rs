//! Drives' answers beside the kernel's report of them.

use device::MemoryTree;
use device::answer::{self, Question};

use super::super::*;
use super::tree;

/// A drive's answer: words, numbers and texts put into zeros.
struct Answer(Vec<u8>);

impl Answer {
    fn of(length: usize) -> Answer {
        Answer(vec![0; length])
    }

    fn put(mut self, at: usize, bytes: &[u8]) -> Answer {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    fn text(&self) -> String {
        answer::to_text(&self.0)
    }
}

/// A namespace with formats of 512 and 4096 bytes, the first in use and called good, the second
/// best; with NPWG and NPWA in blocks.
fn namespace(npwg: u16, npwa: u16) -> Answer {
    Answer::of(4096)
        .put(0, &(1_u64 << 21).to_le_bytes())
        .put(24, &[0x10, 1])
        .put(128, &[0, 0, 9, 2, 0, 0, 12, 0])
        .put(64, &(npwg - 1).to_le_bytes())
        .put(66, &(npwa - 1).to_le_bytes())
}

/// Logical sectors of 512 bytes, as many in a physical one as the exponent says.
fn capacity(exponent: u8, lowest: u8) -> Answer {
    Answer::of(32).put(6, &[1]).put(10, &[2]).put(13, &[exponent, 0, lowest])
}

/// ATA IDENTIFY with words 106 and 209.
fn ata(word106: u16, word209: u16) -> Answer {
    Answer::of(512)
        .put(0, &[0x40])
        .put(2 * 106, &word106.to_le_bytes())
        .put(2 * 209, &word209.to_le_bytes())
}

fn asked(tree: MemoryTree, name: &str, question: Question, said: &Answer) -> MemoryTree {
    tree.with_file(&answer::of_drive(name, question), &said.text())
}

fn nvme(values: &[(&str, &str)]) -> MemoryTree {
    values.iter().fold(MemoryTree::new(), |tree, (file, value)| {
        tree.with_file(&format!("/sys/block/nvme0n1/{file}"), value)
    })
}

fn used(drive: &KernelDrive) -> (u64, u64, Source) {
    let units = drive.units(None);
    let (unit, source) = units.used(UnitKind::Granule).unwrap();
    (unit.length_bytes(), unit.origin_bytes(), source)
}

const NVME_512: [(&str, &str); 3] = [
    ("queue/logical_block_size", "512"),
    ("queue/physical_block_size", "512"),
    ("queue/minimum_io_size", "16384"),
];
const SAYS_512: [(&str, &str); 3] = [
    ("queue/logical_block_size", "512"),
    ("queue/physical_block_size", "512"),
    ("alignment_offset", "0"),
];

#[test]
fn starts_need_npwa_and_lengths_npwg_whatever_linux_makes_of_them() {
    let tree = asked(nvme(&NVME_512), "nvme0n1", Question::NvmeNamespace, &namespace(32, 8));
    let drive = KernelDrive::read(&tree, "nvme0n1");
    assert_eq!(used(&drive), (4096, 0, Source::Identify));
    assert_eq!(drive.disagreements, Vec::<String>::new());
    let units = drive.units(None);
    let lengths = units.facts().iter().find(|fact| fact.reason.starts_with("NPWG")).unwrap();
    assert_eq!((lengths.bytes, lengths.used), (Some(16384), false));
}

#[test]
fn an_npwa_that_was_left_at_one_block_says_nothing_beside_a_longer_npwg() {
    let tree = asked(nvme(&NVME_512), "nvme0n1", Question::NvmeNamespace, &namespace(32, 1));
    assert_eq!(used(&KernelDrive::read(&tree, "nvme0n1")), (16384, 0, Source::Identify));
}

#[test]
fn an_npwa_above_npwg_holds_for_starts() {
    let tree = asked(nvme(&NVME_512), "nvme0n1", Question::NvmeNamespace, &namespace(8, 128));
    assert_eq!(used(&KernelDrive::read(&tree, "nvme0n1")), (65536, 0, Source::Identify));
}

#[test]
fn a_drive_that_prefers_512_confirms_nothing() {
    let mut values = NVME_512;
    values[2].1 = "512";
    let tree = asked(nvme(&values), "nvme0n1", Question::NvmeNamespace, &namespace(1, 1));
    assert_eq!(used(&KernelDrive::read(&tree, "nvme0n1")), (4096, 0, Source::Assumed));
}

#[test]
fn minimum_io_size_above_physical_block_size_is_the_sign_of_a_coarse_unit() {
    let values = [
        ("queue/logical_block_size", "4096"),
        ("queue/physical_block_size", "4096"),
        ("queue/minimum_io_size", "16384"),
    ];
    let drive = KernelDrive::read(&nvme(&values), "nvme0n1");
    assert_eq!(used(&drive), (16384, 0, Source::Sysfs));
    let units = drive.units(None);
    let used = units.facts().iter().find(|fact| fact.used && fact.unit == UnitKind::Granule);
    assert!(used.unwrap().reason.contains("a coarse indirection unit"));
}

#[test]
fn a_drives_own_word_for_discards_counts_where_the_kernel_has_a_block() {
    let discards = |sysfs: &str, features: u8, npdg: u16, npdgl: u32| {
        let values = [NVME_512[0], ("queue/discard_granularity", sysfs)];
        let said = namespace(8, 8).put(24, &[features]).put(68, &npdg.to_le_bytes());
        let hints = Answer::of(4096).put(268, &npdgl.to_le_bytes());
        let tree = asked(nvme(&values), "nvme0n1", Question::NvmeNamespace, &said);
        let tree = asked(tree, "nvme0n1", Question::NvmeNvmNamespace, &hints);
        KernelDrive::read(&tree, "nvme0n1").discard_unit().map(Unit::length_bytes)
    };
    assert_eq!(discards("512", 0x10, 31, 0), Some(16384));
    assert_eq!(discards("512", 0x30, 31, 4096), Some(2 << 20), "NPDGL counts, not NPDG");
    assert_eq!(discards("512", 0x10, 31, 4096), Some(16384), "NPDGL needs its bit");
    assert_eq!(discards("65536", 0x10, 31, 0), Some(65536), "the kernel says more");
    assert_eq!(discards("0", 0x10, 31, 0), None, "no discards at all");
    assert_eq!(discards("512", 0x30, 31, u32::MAX), Some(16384), "absurd values are unknown");
}

#[test]
fn an_old_capture_without_the_hints_is_read_as_before() {
    let tree = asked(nvme(&NVME_512), "nvme0n1", Question::NvmeNamespace, &namespace(32, 8));
    let drive = KernelDrive::read(&tree, "nvme0n1");
    assert!(drive.said.hints.value().is_none());
    assert_eq!(drive.said.problems, Vec::<String>::new());
}

#[test]
fn nows_is_a_hint_and_no_granule() {
    let said = namespace(8, 8).put(72, &u16::MAX.to_le_bytes());
    let tree = asked(nvme(&NVME_512), "nvme0n1", Question::NvmeNamespace, &said);
    let drive = KernelDrive::read(&tree, "nvme0n1");
    assert_eq!(used(&drive), (4096, 0, Source::Identify));
    let units = drive.units(None);
    assert!(units.used(UnitKind::FullStripe).is_none());
    assert!(units.facts().iter().any(|fact| fact.bytes == Some(32 << 20)));
}

#[test]
fn an_old_kernel_that_knows_no_npwg_is_a_disagreement() {
    let mut values = NVME_512;
    values[2].1 = "512";
    let tree = asked(nvme(&values), "nvme0n1", Question::NvmeNamespace, &namespace(32, 32));
    let drive = KernelDrive::read(&tree, "nvme0n1");
    assert_eq!(
        drive.disagreements,
        ["minimum_io_size: sysfs says 512, NVMe Identify 16384 (NPWG); the drive is used"]
    );
}

#[test]
fn an_atomic_write_size_is_no_granule() {
    let values = [("queue/logical_block_size", "512"), ("queue/physical_block_size", "131072")];
    let said = namespace(1, 1).put(24, &[2, 1]).put(36, &255_u16.to_le_bytes());
    let tree = asked(nvme(&values), "nvme0n1", Question::NvmeNamespace, &said);
    let drive = KernelDrive::read(&tree, "nvme0n1");
    assert_eq!(used(&drive), (4096, 0, Source::Assumed));
    let units = drive.units(None);
    assert!(units.facts().iter().any(|fact| fact.reason.contains("AWUPF, what is written whole")));
}

#[test]
fn a_bridge_that_hides_the_drives_sectors_is_told_and_the_larger_is_used() {
    let tree = asked(tree(&SAYS_512), "sda", Question::ScsiCapacity, &capacity(0, 0));
    let tree = asked(tree, "sda", Question::AtaIdentify, &ata(0x6003, 0x4001));
    let drive = KernelDrive::read(&tree, "sda");
    assert_eq!(used(&drive), (4096, 3584, Source::Identify));
    assert_eq!(
        drive.disagreements,
        ["physical_block_size: sysfs says 512, ATA IDENTIFY 4096; the larger is used, since \
             what is aligned to it is aligned to both"]
    );
}

#[test]
fn a_drive_behind_a_bridge_that_translates_sectors_is_told() {
    let values = [("queue/logical_block_size", "4096"), ("queue/physical_block_size", "4096")];
    let tree = asked(tree(&values), "sda", Question::AtaIdentify, &ata(0x4000, 0));
    let drive = KernelDrive::read(&tree, "sda");
    assert_eq!(used(&drive), (4096, 0, Source::Sysfs));
    assert_eq!(drive.disagreements.len(), 1);
    assert!(drive.disagreements[0].contains("Something between translates"));
}

#[test]
fn a_lowest_aligned_block_that_the_kernel_hides_gives_the_origin() {
    let mut values = SAYS_512;
    values[1].1 = "4096";
    let tree = asked(tree(&values), "sda", Question::ScsiCapacity, &capacity(3, 7));
    let drive = KernelDrive::read(&tree, "sda");
    assert_eq!(used(&drive), (4096, 3584, Source::Identify));
    assert_eq!(
        drive.disagreements,
        ["alignment_offset: sysfs says 0, READ CAPACITY (16) 3584; the drive is used"]
    );
}

#[test]
fn sources_that_agree_are_all_facts_and_no_disagreement() {
    let mut values = SAYS_512;
    values[1].1 = "4096";
    let tree = asked(tree(&values), "sda", Question::ScsiCapacity, &capacity(3, 0));
    let tree = asked(tree, "sda", Question::AtaIdentify, &ata(0x6003, 0x4000));
    let drive = KernelDrive::read(&tree, "sda");
    assert_eq!(used(&drive), (4096, 0, Source::Sysfs));
    assert_eq!(drive.disagreements, Vec::<String>::new());
    let units = drive.units(None);
    let granules = units.facts().iter().filter(|fact| fact.unit == UnitKind::Granule);
    assert_eq!(granules.filter(|fact| fact.bytes == Some(4096)).count(), 3);
}

#[test]
fn an_impossible_physical_sector_gives_way_to_the_drives_own() {
    let mut values = SAYS_512;
    values[1].1 = "3";
    let tree = asked(tree(&values), "sda", Question::AtaIdentify, &ata(0x6003, 0));
    let drive = KernelDrive::read(&tree, "sda");
    assert_eq!(used(&drive), (4096, 0, Source::Identify));
    assert!(drive.disagreements[0].ends_with("since the other cannot be right"));
}

#[test]
fn what_turns_is_the_drives_word_since_bridges_say_that_all_do() {
    let mut values = SAYS_512.to_vec();
    values.push(("queue/rotational", "1"));
    let said = ata(0, 0).put(2 * 217, &[1]);
    let tree = asked(tree(&values), "sda", Question::AtaIdentify, &said);
    let drive = KernelDrive::read(&tree, "sda");
    assert_eq!(drive.rotational, Known::yes(false, Source::Identify));
    assert_eq!(drive.kernel_rotational, Known::yes(true, Source::Sysfs));
}

#[test]
fn of_a_virtual_disk_it_is_not_known_whether_it_turns_unless_it_says_so_itself() {
    let mut values = SAYS_512.to_vec();
    values.push(("queue/rotational", "1"));
    let bus = |bus: &str| {
        let bus = format!("/sys/bus/{bus}");
        tree(&values).with_link("/sys/block/sda/device/subsystem", &bus)
    };
    let drive = KernelDrive::read(&bus("virtio"), "sda");
    assert!(drive.is_virtual && drive.rotational.value().is_none(), "{drive:?}");
    assert_eq!(drive.kernel_rotational, Known::yes(true, Source::Sysfs));
    let looped = MemoryTree::new().with_file("/sys/block/loop0/queue/rotational", "1");
    assert_eq!(
        KernelDrive::read(&looped, "loop0").rotational.value(),
        None,
        "its file may be anywhere"
    );
    let real = KernelDrive::read(&bus("scsi"), "sda");
    assert!(!real.is_virtual && real.rotational.value() == Some(&true));
    let said = ata(0, 0).put(2 * 217, &[1]);
    let told = asked(bus("virtio"), "sda", Question::AtaIdentify, &said);
    assert_eq!(KernelDrive::read(&told, "sda").rotational, Known::yes(false, Source::Identify));
}

#[test]
fn a_path_that_asks_for_more_than_its_head_is_a_disagreement() {
    let mut values = NVME_512;
    values[2].1 = "512";
    let tree = nvme(&values).with_file("/sys/block/nvme0c1n1/queue/minimum_io_size", "16384");
    let drive = KernelDrive::read(&tree, "nvme0n1");
    assert_eq!(
        drive.disagreements,
        ["minimum_io_size: the multipath head says 512, its path nvme0c1n1 16384; the head is \
             used"]
    );
}

#[test]
fn known_liars_are_believed_only_where_they_lie() {
    let of = |model: &str, physical: &'static str| {
        let mut values = SAYS_512.to_vec();
        values[1].1 = physical;
        values.push(("device/model", model));
        let drive = KernelDrive::read(&tree(&values), "sda");
        (used(&drive), drive.lies().count())
    };
    assert_eq!(of("WDC WD20EFRX-68E", "512"), ((4096, 0, Source::Derived), 1));
    assert_eq!(of("WDC WD20EFRX-68E", "4096"), ((4096, 0, Source::Sysfs), 0));
    assert_eq!(of("WDC WD10EARS-00Y", "512"), ((4096, 0, Source::Assumed), 1));
    assert_eq!(of("INTEL SSDPFWNV153TZ", "4096"), ((65536, 0, Source::Derived), 1));
    assert_eq!(of("SOLIDIGM SBFPF2BV614T", "16384"), ((16384, 0, Source::Sysfs), 0));
    assert_eq!(of("SOLIDIGM SBFPF2BV614T", "4096"), ((16384, 0, Source::Derived), 1));
    assert_eq!(of("Other", "512"), ((4096, 0, Source::Assumed), 0));
}

#[test]
fn a_model_that_a_bridge_split_in_two_is_known_too() {
    let mut values = SAYS_512.to_vec();
    values.push(("device/vendor", "WDC WD20"));
    values.push(("device/model", "EARX-00PASB0"));
    assert_eq!(KernelDrive::read(&tree(&values), "sda").lies().count(), 1);
}

#[test]
fn the_optimal_size_of_azure_means_nothing_there_and_may_mean_something_elsewhere() {
    let of = |model: &str| {
        let mut values = NVME_512.to_vec();
        values.push(("queue/optimal_io_size", "33554432"));
        values.push(("device/model", model));
        KernelDrive::read(&nvme(&values), "nvme0n1").absurd_optimal().is_some()
    };
    assert!(of("MSFT NVMe Accelerator v1.0"));
    assert!(!of("Other"));
}

#[test]
fn what_no_nvme_drive_maps_is_a_hint_for_long_writes() {
    for bytes in ["131072", "262144"] {
        let values = [("queue/logical_block_size", "512"), ("queue/physical_block_size", bytes)];
        assert_eq!(used(&KernelDrive::read(&nvme(&values), "nvme0n1")), (4096, 0, Source::Assumed));
    }
    let mut values = NVME_512;
    values[2].1 = "131072";
    assert_eq!(used(&KernelDrive::read(&nvme(&values), "nvme0n1")), (4096, 0, Source::Assumed));
    for blocks in [256, 96] {
        let said = namespace(blocks, blocks);
        let tree = asked(nvme(&values), "nvme0n1", Question::NvmeNamespace, &said);
        let drive = KernelDrive::read(&tree, "nvme0n1");
        assert_eq!(used(&drive), (4096, 0, Source::Assumed));
        let units = drive.units(None);
        assert!(units.facts().iter().any(|fact| fact.reason.starts_with("NPWG: no drive")));
    }
    let tree = asked(nvme(&values), "nvme0n1", Question::NvmeNamespace, &namespace(256, 8));
    assert_eq!(used(&KernelDrive::read(&tree, "nvme0n1")), (4096, 0, Source::Identify));
}

#[test]
fn a_physical_sector_of_256_kib_is_known_to_be_an_atomic_size() {
    let values = [("queue/logical_block_size", "512"), ("queue/physical_block_size", "262144")];
    assert_eq!(KernelDrive::read(&nvme(&values), "nvme0n1").lies().count(), 1);
    assert_eq!(KernelDrive::read(&tree(&values), "sda").lies().count(), 0);
}

/// A tree with one file that is no text.
struct WithPage(MemoryTree, Vec<u8>);

impl KernelTree for WithPage {
    fn read(&self, path: &str) -> Result<String, device::TreeError> {
        self.0.read(path)
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, device::TreeError> {
        match path {
            "/sys/block/sda/device/vpd_pgb1" => Ok(self.1.clone()),
            _ => self.0.bytes(path),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<String>, device::TreeError> {
        self.0.list(path)
    }

    fn link(&self, path: &str) -> Result<String, device::TreeError> {
        self.0.link(path)
    }
}

#[test]
fn pages_that_the_kernel_keeps_are_answers_too() {
    let page = Answer::of(64).put(1, &[0xb1, 0, 60, 0, 1]);
    let drive = KernelDrive::read(&WithPage(tree(&SAYS_512), page.0), "sda");
    assert_eq!(drive.rotational, Known::yes(false, Source::Identify));
}

#[test]
fn cards_queues_and_names_are_read() {
    let mut values = SAYS_512.to_vec();
    values.extend([
        ("device/type", "SD"),
        ("device/name", "SU64G"),
        ("device/erase_size", "512"),
        ("device/preferred_erase_size", "4194304"),
        ("device/serial", "0x1234"),
        ("queue/write_cache", "write back"),
        ("queue/read_ahead_kb", "128"),
    ]);
    let drive = KernelDrive::read(&tree(&values), "sda");
    let card = drive.card.as_ref().unwrap();
    assert_eq!(card.preferred_erase_bytes.value(), Some(&(4 << 20)));
    assert_eq!(drive.queue.read_ahead_bytes.value(), Some(&131_072));
    assert_eq!(drive.identity.serial.value().map(String::as_str), Some("0x1234"));
    assert!(drive.units(None).used(UnitKind::Discard).is_none());
}

#[test]
fn the_first_discard_unit_is_where_the_drive_says_since_the_kernel_shows_another_offset() {
    let mut values = SAYS_512.to_vec();
    values[2].1 = "3584";
    values.extend([("queue/discard_granularity", "32768"), ("discard_alignment", "3584")]);
    assert_eq!(KernelDrive::read(&tree(&values), "sda").discard_unit(), None);
    let page = Answer::of(64).put(1, &[0xb0, 0, 60]).put(31, &[64]).put(32, &[0x80, 0, 0, 8]);
    let tree = asked(tree(&values), "sda", Question::ScsiBlockLimits, &page);
    let unit = KernelDrive::read(&tree, "sda").discard_unit();
    assert_eq!(unit, Unit::with_origin(32768, 4096));
}
