//! Drives as the kernel reports them, with tables on them: verdicts and severities.

use std::rc::Rc;

use device::{Disk, MemoryDisk, MemoryTree, NoFiles};
use stack::assemble::{Assembled, Start, StartKind, assemble};
use stack::drive::Drive;
use stack::judge::{self, Verdict};
use stack::rule::{self, Case, Severity};

/// A drive whose files say `values`.
fn drive(values: &[(&str, &str)]) -> Drive {
    let tree = values.iter().fold(MemoryTree::new(), |tree, (file, value)| {
        tree.with_file(&format!("/sys/block/sda/{file}"), value)
    });
    Drive::read(&tree, "sda")
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

fn on(drive: Drive, disk: MemoryDisk) -> Assembled {
    let bytes: Rc<dyn Disk> = Rc::new(disk);
    let kind = StartKind::Drive(Box::new(drive));
    assemble(vec![Start { kind, name: "sda".to_owned(), bytes: Ok(bytes) }], &NoFiles, None)
}

/// The verdict on each partition, and code and severity of what is found on it at warning or above.
fn judged(drive: Drive, starts: &[u32]) -> Vec<(Verdict, Option<(&'static str, Severity)>)> {
    let assembled = on(drive, partitioned(starts));
    let judgements = judge::judge_all(&assembled.stack);
    let case = Case { stack: &assembled.stack, judgements: &judgements, told: None };
    let findings = rule::findings(&case);
    (1..assembled.stack.len())
        .map(|layer| {
            let worst = findings
                .iter()
                .find(|finding| finding.layer.0 == layer && finding.severity >= Severity::Warning);
            let found = worst.map(|finding| (finding.rule.code, finding.severity));
            (judgements[layer].verdict, found)
        })
        .collect()
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
    let found = judged(Drive::read(&tree, "nvme0n1"), &[2048, 2056]);
    assert_eq!(found[0], (Verdict::Aligned, None));
    assert_eq!(found[1].0, Verdict::Misaligned);
}
