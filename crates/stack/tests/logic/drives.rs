//! Drives as the kernel reports them, with tables on them: verdicts and severities.

use std::rc::Rc;

use device::{Disk, MemoryDisk, MemoryTree, NoFiles, answer};
use stack::assemble::{Assembled, Start, StartKind, assemble};
use stack::drive::KernelDrive;
use stack::id::LayerId;
use stack::judge::{self, Verdict};
use stack::layer::{Layer, LayerKind};
use stack::mapping::{Below, Mapping};
use stack::rule::{self, RuleInput, Severity};
use units::{Known, Source};

/// A drive whose files say `values`.
fn drive(values: &[(&str, &str)]) -> KernelDrive {
    let tree = values.iter().fold(MemoryTree::new(), |tree, (file, value)| {
        tree.with_file(&format!("/sys/block/sda/{file}"), value)
    });
    KernelDrive::read(&tree, "sda")
}

/// An MBR with Linux partitions at these sectors, 1,000 sectors long each.
fn partitioned(starts: &[u32]) -> MemoryDisk {
    let mut sector = [0_u8; 512];
    for (number, start) in starts.iter().enumerate() {
        let at = 446 + 16 * number;
        sector[at + 4] = 0x83;
        sector[at + 8..at + 12].copy_from_slice(&start.to_le_bytes());
        sector[at + 12..at + 16].copy_from_slice(&1000_u32.to_le_bytes());
    }
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    MemoryDisk::with_head(1 << 30, &sector)
}

fn on(drive: KernelDrive, disk: MemoryDisk) -> Assembled {
    let bytes: Rc<dyn Disk> = Rc::new(disk);
    let kind = StartKind::Drive(Box::new(drive));
    assemble(vec![Start { kind, name: "sda".to_owned(), bytes: Some(Ok(bytes)) }], &NoFiles, None)
}

/// Code, layer and evidence of what is found on `drive` with partitions at these sectors.
fn found(drive: KernelDrive, starts: &[u32]) -> Vec<(&'static str, usize, String)> {
    let assembled = on(drive, partitioned(starts));
    let judgments = judge::judge_all(&assembled.stack);
    let case = RuleInput { stack: &assembled.stack, judgments: &judgments, told: None };
    let findings = rule::findings(&case).into_iter();
    findings
        .map(|finding| (finding.rule.code, finding.layer.0, finding.evidence.join("; ")))
        .collect()
}

/// The verdict on each partition, and code and severity of what is found on it at warning or above.
fn judged(drive: KernelDrive, starts: &[u32]) -> Vec<(Verdict, Option<(&'static str, Severity)>)> {
    let assembled = on(drive, partitioned(starts));
    let judgments = judge::judge_all(&assembled.stack);
    let case = RuleInput { stack: &assembled.stack, judgments: &judgments, told: None };
    let findings = rule::findings(&case);
    (1..assembled.stack.len())
        .map(|layer| {
            let worst = findings
                .iter()
                .find(|finding| finding.layer.0 == layer && finding.severity >= Severity::Warning);
            let found = worst.map(|finding| (finding.rule.code, finding.severity));
            (judgments[layer].verdict, found)
        })
        .collect()
}

#[test]
fn of_several_layers_of_a_path_that_are_off_the_lowest_is_first_bad() {
    let mut stack = on(drive(&PHYSICAL_4096), partitioned(&[63])).stack;
    // On the partition, one layer that is on a granule, and on that another which is not.
    for (below, name) in [(1, "even"), (2, "odd")] {
        let mapping = Mapping::Linear(Below { layer: LayerId(below), offset_bytes: 512 });
        let length = Known::yes(65536, Source::Derived);
        let kind = LayerKind::KernelPartition;
        stack.add(Layer::new(kind, name.to_owned(), length, mapping));
    }
    let judgments = judge::judge_all(&stack);
    let verdicts: Vec<Verdict> = judgments.iter().map(|judgment| judgment.verdict).collect();
    assert_eq!(verdicts[1..], [Verdict::Misaligned, Verdict::Aligned, Verdict::Misaligned]);
    let case = RuleInput { stack: &stack, judgments: &judgments, told: None };
    assert_eq!(rule::first_bad(&case), [LayerId(1)]);
}

#[test]
fn who_is_refused_as_root_is_not_told_to_be_root() {
    let denied = "cannot open /dev/sda for reading: Permission denied";
    for (reason, asks_for_root) in [
        (denied.to_owned(), true),
        (format!("{denied}; even root may not: a container keeps it away"), false),
        ("cannot open /dev/sda for reading: Input/output error".to_owned(), false),
    ] {
        let kind = StartKind::Drive(Box::new(drive(&PHYSICAL_4096)));
        let start = Start { kind, name: "sda".to_owned(), bytes: Some(Err(reason.clone())) };
        let assembled = assemble(vec![start], &NoFiles, None);
        let judgments = judge::judge_all(&assembled.stack);
        let case = RuleInput { stack: &assembled.stack, judgments: &judgments, told: None };
        let findings = rule::findings(&case);
        let finding = findings.iter().find(|finding| finding.rule.code == "ST407").unwrap();
        let fixes: Vec<String> = finding.fixes();
        assert_eq!(fixes.join("; ").contains("root"), asks_for_root, "{reason}: {fixes:?}");
    }
}

const PHYSICAL_4096: [(&str, &str); 2] =
    [("queue/logical_block_size", "512"), ("queue/physical_block_size", "4096")];

#[test]
fn two_extra_rmws_are_an_error_on_rotating_media_and_a_warning_elsewhere() {
    let with = |rotational: &'static str| {
        let mut values = PHYSICAL_4096.to_vec();
        values.push(("queue/rotational", rotational));
        judged(drive(&values), &[34, 2048])
    };
    let aligned = (Verdict::Aligned, None);
    let off = |severity| (Verdict::Misaligned, Some(("ST101", severity)));
    assert_eq!(with("1"), [off(Severity::Error), aligned]);
    assert_eq!(with("0"), [off(Severity::Warning), aligned]);
    assert_eq!(judged(drive(&PHYSICAL_4096), &[34, 2048]), [off(Severity::Warning), aligned]);
}

#[test]
fn a_drive_that_says_512_is_judged_at_4_kib_and_never_an_error() {
    let values = [
        ("queue/logical_block_size", "512"),
        ("queue/physical_block_size", "512"),
        ("queue/rotational", "1"),
    ];
    let found = judged(drive(&values), &[34]);
    assert_eq!(found, [(Verdict::Misaligned, Some(("ST102", Severity::Warning)))]);
}

#[test]
fn where_lba_7_is_the_first_aligned_block_63_is_aligned_and_2048_is_not() {
    let mut values = PHYSICAL_4096.to_vec();
    values.push(("alignment_offset", "3584"));
    let found = judged(drive(&values), &[63, 2048]);
    assert_eq!(found[0], (Verdict::Aligned, None));
    assert_eq!(found[1].0, Verdict::Misaligned);
}

#[test]
fn a_failed_stacking_is_a_verdict_of_its_own() {
    let mut values = PHYSICAL_4096.to_vec();
    values.push(("alignment_offset", "-1"));
    assert_eq!(judged(drive(&values), &[2048])[0].0, Verdict::Undefined);
}

#[test]
fn the_granule_of_nvme_is_the_preferred_one_that_linux_puts_into_minimum_io_size() {
    let tree = [
        ("logical_block_size", "512"),
        ("physical_block_size", "512"),
        ("minimum_io_size", "16384"),
    ];
    let tree = tree.iter().fold(MemoryTree::new(), |tree, (file, value)| {
        tree.with_file(&format!("/sys/block/nvme0n1/queue/{file}"), value)
    });
    let found = judged(KernelDrive::read(&tree, "nvme0n1"), &[2048, 2056]);
    assert_eq!(found[0], (Verdict::Aligned, None));
    assert_eq!(found[1].0, Verdict::Misaligned);
}

#[test]
fn a_start_within_a_discard_unit_is_told_unless_something_worse_is() {
    let mut values = PHYSICAL_4096.to_vec();
    values.push(("queue/discard_granularity", "2097152"));
    values.push(("discard_alignment", "0"));
    let evidence =
        "sda1 starts at 1 MiB (sector 2048), 1 MiB after the start of a discard unit of 2 MiB"
            .to_owned();
    assert_eq!(found(drive(&values), &[2048, 4096]), [("ST608", 1, evidence)]);
    values[3].1 = "1048576";
    let codes: Vec<_> = found(drive(&values), &[2048]).into_iter().map(|(code, ..)| code).collect();
    assert!(codes.is_empty(), "{codes:?}");
    let codes: Vec<_> = found(drive(&values), &[34]).into_iter().map(|(code, ..)| code).collect();
    assert!(codes.contains(&"ST101") && !codes.contains(&"ST608"), "{codes:?}");
}

#[test]
fn a_discard_unit_of_a_granule_says_nothing_more() {
    let mut values = PHYSICAL_4096.to_vec();
    values.push(("queue/discard_granularity", "4096"));
    assert_eq!(found(drive(&values), &[2048]), []);
}

/// An NVMe drive whose second format, of 4096 bytes with `metadata`, has the speed `performance`;
/// the first, of 512, is good.
fn nvme(metadata: u8, performance: u8) -> KernelDrive {
    let mut said = vec![0_u8; 4096];
    said[0] = 1;
    said[25] = 1;
    said[128..136].copy_from_slice(&[0, 0, 9, 2, metadata, 0, 12, performance]);
    let path = answer::of_drive("nvme0n1", answer::Question::NvmeNamespace);
    let tree = MemoryTree::new()
        .with_file("/sys/block/nvme0n1/queue/logical_block_size", "512")
        .with_file("/sys/block/nvme0n1/queue/physical_block_size", "512")
        .with_file(&path, &answer::to_text(&said));
    KernelDrive::read(&tree, "nvme0n1")
}

#[test]
fn a_format_that_the_drive_calls_faster_is_a_hint() {
    let evidence = "format 1 has blocks of 4 KiB and is called best; the one in use has 512 B and \
                    is called good";
    assert_eq!(found(nvme(0, 0), &[2048]), [("ST609", 0, evidence.to_owned())]);
}

#[test]
fn formats_with_metadata_or_no_faster_are_no_hint() {
    assert_eq!(found(nvme(8, 0), &[2048]), []);
    assert_eq!(found(nvme(0, 2), &[2048]), []);
}

#[test]
fn a_known_liar_is_told_with_its_source_and_judged_by_what_is_believed() {
    let values = [
        ("queue/logical_block_size", "512"),
        ("queue/physical_block_size", "4096"),
        ("device/model", "INTEL SSDPFWNV153TZ"),
    ];
    let told = found(drive(&values), &[2048]);
    let told: Vec<_> = told.iter().filter(|(code, ..)| *code == "ST607").collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].2.contains("https://"), "{}", told[0].2);
    let judged = judged(drive(&values), &[2048, 2056]);
    assert_eq!(judged[0].0, Verdict::Aligned);
    assert_eq!(judged[1], (Verdict::Misaligned, Some(("ST101", Severity::Warning))));
}

#[test]
fn an_answer_that_contradicts_itself_is_told() {
    let mut said = vec![0_u8; 32];
    said[10] = 2;
    said[15] = 9;
    let path = answer::of_drive("sda", answer::Question::ScsiCapacity);
    let tree = MemoryTree::new()
        .with_file("/sys/block/sda/queue/logical_block_size", "512")
        .with_file("/sys/block/sda/queue/physical_block_size", "512")
        .with_file(&path, &answer::to_text(&said));
    let told = found(KernelDrive::read(&tree, "sda"), &[2048]);
    let evidence = "scsi-capacity: the lowest aligned block is 9, and a physical block holds 1";
    assert_eq!(told, [("ST610", 0, evidence.to_owned())]);
}
