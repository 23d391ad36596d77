//! Documents made by hand: the smallest ones that show each thing.

use format::{Problem, ProblemKind};
use report::{
    Document, Envelope, Fact, Finding, LayerReport, Refusal, Run, Summary, Target,
    check_document::SCHEMA,
};
use stack::{Cost, LayerType, Misalignment, Severity, UnitFact, UnitKind, Verdict};
use units::Source;

pub(crate) const KIB: u64 = 1024;
pub(crate) const MIB: u64 = 1024 * KIB;
pub(crate) const TIB: u64 = 1024 * 1024 * MIB;

/// The text of a view without its colors.
pub(crate) fn plain(painted: &str) -> String {
    anstream::adapter::strip_str(painted).to_string()
}

/// Compares texts line by line, and shows both whole where they differ.
#[track_caller]
pub(crate) fn same(found: &str, expected: &str) {
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

/// A document of these targets, all counted, that took 3 ms.
pub(crate) fn document(targets: Vec<Target>) -> Document {
    let mut summary = Summary { elapsed_ns: 3_141_592, ..Summary::default() };
    targets.iter().for_each(|target| summary.add(target));
    let run = Run {
        command: vec!["straddle".to_owned(), "check".to_owned()],
        started: "2026-03-01T12:00:00Z".to_owned(),
        kernel: Some("6.12.0".to_owned()),
        host: Some("web-3".to_owned()),
        machine: None,
    };
    Document { envelope: envelope(SCHEMA, run), targets, summary }
}

/// The envelope of a document that straddle 0.1.0 wrote.
pub(crate) fn envelope(schema: &str, run: Run) -> Envelope {
    Envelope { version: "0.1.0".to_owned(), ..Envelope::new(schema, run) }
}

/// A note of a document.
pub(crate) fn notes() -> Vec<String> {
    vec!["a note".to_owned()]
}

pub(crate) fn target(name: &str, verdict: Verdict, layers: Vec<LayerReport>) -> Target {
    Target {
        target: name.to_owned(),
        joined: Vec::new(),
        refusal: None,
        verdict,
        layers,
        findings: Vec::new(),
    }
}

/// An aligned layer that starts where the one below starts.
pub(crate) fn layer(
    id: u32,
    below: &[u32],
    kind: LayerType,
    name: &str,
    title: &str,
) -> LayerReport {
    LayerReport {
        id,
        below: below.to_vec(),
        kind,
        device: None,
        mount_points: Vec::new(),
        name: name.to_owned(),
        title: title.to_owned(),
        start_bytes: (below.len() == 1).then_some(0),
        length_bytes: None,
        verdict: Verdict::Aligned,
        reason: String::new(),
        not_judged: false,
        assumed: false,
        first_bad: false,
        inherited: false,
        misalignment: None,
        units: Vec::new(),
        facts: Vec::new(),
        problems: Vec::new(),
    }
}

/// A drive with 512-byte logical sectors and 4 KiB granules.
pub(crate) fn drive(id: u32, name: &str, title: &str, length_bytes: u64) -> LayerReport {
    LayerReport {
        length_bytes: Some(length_bytes),
        units: vec![
            unit(UnitKind::LogicalSector, 512, Source::Sysfs, true),
            unit(UnitKind::Granule, 4096, Source::Sysfs, true),
            unit(UnitKind::Granule, 4096, Source::Identify, false),
        ],
        ..layer(id, &[], LayerType::Drive, name, title)
    }
}

pub(crate) fn unit(unit: UnitKind, bytes: u64, source: Source, used: bool) -> UnitFact {
    UnitFact {
        unit,
        bytes: Some(bytes),
        origin_bytes: 0,
        source: Some(source),
        used,
        reason: String::new(),
    }
}

/// Behind the last granule by `offset_bytes`, everywhere.
pub(crate) fn off_granule(offset_bytes: u64) -> Misalignment {
    Misalignment {
        unit: UnitKind::Granule,
        unit_bytes: 4096,
        offset_bytes: Some(offset_bytes),
        share_percent: 100.0,
    }
}

pub(crate) fn finding(code: &str, severity: Severity, layer: u32, title: &str) -> Finding {
    Finding {
        code: code.to_owned().into(),
        severity,
        title: title.to_owned().into(),
        layer,
        evidence: Vec::new(),
        cost: None,
        remedies: Vec::new(),
    }
}

/// A 6 TB drive whose only partition starts 1.5 KiB behind a granule and holds ext4.
pub(crate) fn shifted_disk() -> Target {
    let length = 3_000_591_450_112;
    let bad = |layer: LayerReport| LayerReport {
        length_bytes: Some(length),
        verdict: Verdict::Misaligned,
        misalignment: Some(off_granule(1536)),
        ..layer
    };
    let partition = LayerReport {
        start_bytes: Some(125 * MIB + 1536),
        first_bad: true,
        ..bad(layer(1, &[0], LayerType::Partition, "sda1", "gpt \"data\""))
    };
    let ext4 = LayerReport {
        inherited: true,
        facts: vec![
            Fact {
                key: "block-size-bytes".into(),
                value: Some("4096".to_owned()),
                source: Some(Source::OnDisk),
                reason: None,
            },
            Fact {
                key: "stride-bytes".into(),
                value: None,
                source: None,
                reason: Some("the superblock does not say".to_owned()),
            },
        ],
        problems: vec![Problem {
            kind: ProblemKind::Checksum,
            at_bytes: KIB,
            detail: "superblock says 0x11223344, computed 0x55667788".to_owned(),
        }],
        ..bad(layer(2, &[1], LayerType::FileSystem, "ext4", "4 KiB blocks, /data"))
    };
    let sda = drive(0, "sda", "WDC WD60EFRX, hard disk 7200 rpm", 6_001_175_126_016);
    let cost = Cost {
        write_bytes: 4096,
        reads: 2,
        writes: 2,
        rmws: 2,
        parity_updates: 0,
        aligned_reads: 0,
        aligned_writes: 1,
        sentence: "a 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about 3 turns \
                   instead of 1"
            .to_owned(),
    };
    let st101 = Finding {
        evidence: vec![
            "sda1 starts at 131073536 B".to_owned(),
            "131073536 mod 4096 = 1536".to_owned(),
        ],
        cost: Some(cost),
        remedies: vec![
            "straddle plan /dev/sda".to_owned(),
            "empty disk: parted -a none /dev/sda mkpart data 126MiB 50%".to_owned(),
        ],
        ..finding("ST101", Severity::Error, 1, "partition start is not on a physical sector")
    };
    Target {
        findings: vec![st101],
        ..target("/dev/sda", Verdict::Misaligned, vec![sda, partition, ext4])
    }
}

/// Four drives with a partition each in a RAID 5, on it a file system on chunks but not on full
/// stripes; the third partition is shifted.
pub(crate) fn array() -> Target {
    let mut layers = Vec::new();
    let mut findings = Vec::new();
    for (id, letter) in (0..8).step_by(2).zip(["a", "b", "c", "d"]) {
        layers.push(drive(id, &format!("sd{letter}"), "ST4000VN008", 4 * TIB));
        let shifted = letter == "c";
        layers.push(LayerReport {
            start_bytes: Some(MIB + if shifted { 512 } else { 0 }),
            length_bytes: Some(4 * TIB - 2 * MIB),
            verdict: if shifted { Verdict::Misaligned } else { Verdict::Aligned },
            first_bad: shifted,
            misalignment: shifted.then(|| off_granule(512)),
            ..layer(id + 1, &[id], LayerType::Partition, &format!("sd{letter}1"), "gpt, Linux RAID")
        });
        if shifted {
            findings.push(Finding {
                remedies: vec!["mdadm /dev/md127 --fail /dev/sdc1 --remove /dev/sdc1".to_owned()],
                ..finding("ST101", Severity::Error, id + 1, "partition start is not on a sector")
            });
        }
    }
    let share = Misalignment { share_percent: 25.0, ..off_granule(512) };
    layers.push(LayerReport {
        start_bytes: None,
        length_bytes: Some(12 * TIB),
        verdict: Verdict::Misaligned,
        inherited: true,
        misalignment: Some(share),
        ..layer(8, &[1, 3, 5, 7], LayerType::MdArray, "md127", "raid5, 4 members, 512 KiB chunk")
    });
    layers.push(LayerReport {
        length_bytes: Some(12 * TIB),
        verdict: Verdict::Misaligned,
        misalignment: Some(Misalignment {
            unit: UnitKind::FullStripe,
            unit_bytes: 3 * 512 * KIB,
            offset_bytes: Some(MIB),
            share_percent: 100.0,
        }),
        start_bytes: Some(MIB),
        ..layer(9, &[8], LayerType::FileSystem, "xfs", "4 KiB blocks, su 512 KiB, sw 3, /srv")
    });
    findings.push(finding(
        "ST301",
        Severity::Warning,
        9,
        "data does not start on a full stripe of the array",
    ));
    findings.push(finding("ST302", Severity::Info, 9, "the log is not on a chunk"));
    Target { findings, ..target("/dev/md127", Verdict::Misaligned, layers) }
}

/// A target that could not be opened.
pub(crate) fn broken() -> Target {
    Target {
        refusal: Some(Refusal {
            message: "cannot open `/dev/sdz`: Permission denied (os error 13)".to_owned(),
            hint: Some("run it as root, or let straddle read a captured sysroot".to_owned()),
            ..Refusal::default()
        }),
        ..target("/dev/sdz", Verdict::Unknown, Vec::new())
    }
}

/// An image that is aligned as far as an assumed granule tells.
pub(crate) fn image(name: &str) -> Target {
    let mut file = layer(0, &[], LayerType::ImageFile, name, "raw image");
    file.length_bytes = Some(20 * 1024 * MIB);
    file.assumed = true;
    file.units = vec![
        unit(UnitKind::LogicalSector, 512, Source::Assumed, true),
        unit(UnitKind::Granule, 4096, Source::Assumed, true),
    ];
    let partition = LayerReport {
        start_bytes: Some(MIB),
        length_bytes: Some(20 * 1024 * MIB - 2 * MIB),
        assumed: true,
        ..layer(1, &[0], LayerType::Partition, &format!("{name}#1"), "gpt \"root\"")
    };
    target(name, Verdict::Aligned, vec![file, partition])
}

/// An image with a partition at LBA 63.
pub(crate) fn old_image(name: &str) -> Target {
    let mut target = image(name);
    target.verdict = Verdict::Misaligned;
    target.layers[1] = LayerReport {
        start_bytes: Some(63 * 512),
        verdict: Verdict::Misaligned,
        first_bad: true,
        misalignment: Some(off_granule(3584)),
        ..target.layers[1].clone()
    };
    target.findings =
        vec![finding("ST101", Severity::Warning, 1, "partition start is not on a physical sector")];
    target
}

/// A drive of which little is known, with something unreadable and something without fixed offsets.
pub(crate) fn unknowns() -> Target {
    let mut sdb = layer(0, &[], LayerType::Drive, "sdb", "USB bridge");
    sdb.verdict = Verdict::Unknown;
    sdb.reason = "neither sysfs nor identify says a sector size".to_owned();
    let partition = LayerReport {
        start_bytes: Some(MIB),
        verdict: Verdict::Unknown,
        reason: sdb.reason.clone(),
        ..layer(1, &[0], LayerType::Partition, "sdb1", "mbr, type 0x83")
    };
    let integrity = LayerReport {
        start_bytes: None,
        verdict: Verdict::NotExpressible,
        reason: "dm-integrity interleaves tags with data, so no fixed offset leads to the drive"
            .to_owned(),
        ..layer(2, &[1], LayerType::DmIntegrity, "secure", "dm-integrity")
    };
    let snapshot = LayerReport {
        verdict: Verdict::Undefined,
        reason: "the kernel says alignment_offset -1".to_owned(),
        ..layer(3, &[1], LayerType::LvmLv, "vg0/snapshot", "")
    };
    target("/dev/sdb", Verdict::Undefined, vec![sdb, partition, integrity, snapshot])
}

/// Names and labels that try to leave their place.
pub(crate) fn hostile() -> Target {
    let text = "evil\u{1b}[31m\u{202e}\u{0}\n</failure>]]>&\"'\u{fffe}\u{7}日本語\\xff";
    let mut target = shifted_disk();
    target.target = format!("/mnt/{text}");
    target.layers[1].name = text.to_owned();
    target.layers[1].title = format!("gpt \"{text}\"");
    target.findings[0].title = text.to_owned().into();
    target.findings[0].evidence = vec![text.to_owned()];
    target.findings[0].remedies = vec![text.to_owned()];
    target
}
