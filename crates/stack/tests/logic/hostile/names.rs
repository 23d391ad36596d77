//! Names of megabytes: what is kept and said of them is short.

use device::MemoryDisk;
use format::ProblemKind;
use stack::LayerKind;
use stack::hostile::HostileAnswer;

use super::made::{group, id, put_lvm, volume};
use super::watched::{about, told};

/// A long name; `cargo xtask soak names` takes longer ones.
const LONG_BYTES: usize = 1 << 17;

/// A disk that is the only physical volume of the group that `text` describes.
fn disk(text: &str) -> MemoryDisk {
    let mut disk = MemoryDisk::new(1 << 40);
    put_lvm(&mut disk, 0, &id(1), text);
    disk
}

/// The bytes of everything that is said in words.
fn said_bytes(answer: &HostileAnswer) -> usize {
    let layers = answer.assembled.stack.iter().map(|(_, layer)| {
        let of_kind = match &layer.kind {
            LayerKind::LvmPhysical(volume) => {
                volume.group.as_ref().map_or(0, |group| group.name.to_string().len())
            }
            _ => 0,
        };
        let problems: usize = layer.problems.iter().map(|problem| problem.detail.len()).sum();
        layer.name.len() + of_kind + problems
    });
    let findings = answer.findings.iter().map(|finding| {
        let remedies = finding.fixes();
        finding.evidence.iter().cloned().chain(remedies).map(|line| line.len()).sum::<usize>()
    });
    let reasons = answer.judgments.iter().map(|judgment| judgment.reason.len());
    layers.chain(findings).chain(reasons).sum()
}

#[test]
fn lvm_names_that_lvm_would_not_take_are_refused_and_not_repeated() {
    let long = "n".repeat(LONG_BYTES);
    let linear = "type=\"striped\" stripe_count=1 stripes=[\"pv0\",0]";
    let text = |volumes: &str| group(&id(2), &[id(1)], volumes);
    let hundred: String =
        (0..100).map(|number| volume(&format!("lv{number}"), 1, linear)).collect();
    for text in [
        text(&hundred).replacen("vg{", &format!("{long}{{"), 1),
        text(&volume(&long, 1, linear)),
        text(&volume("lv", 1, linear)).replacen("pv0 {", &format!("{long} {{"), 1),
    ] {
        let answer = about(disk(&text));
        assert!(told(&answer, ProblemKind::Field, "longer than the 127 bytes that LVM allows"));
        assert!(said_bytes(&answer) < 16 << 10, "{}", said_bytes(&answer));
    }
}

#[test]
fn lvm_texts_of_megabytes_are_kept_short_wherever_they_stand() {
    for character in ["n", "\u{1b}", "\u{e9}"] {
        let long = character.repeat(LONG_BYTES / character.len());
        for segment in [
            format!("type=\"{long}\""),
            format!("type=\"raid{long}\""),
            format!("type=\"striped+{long}\""),
            format!("type=\"striped\" stripe_count=1 stripes=[\"{long}\",0]"),
            format!("type=\"thin\" thin_pool=\"{long}\""),
            format!("type=\"thin-pool\" metadata=\"{long}\" pool=\"{long}\" chunk_size=128"),
            format!("type=\"raid1\" device_count=1 raids=[\"{long}\"]"),
        ] {
            let text = group(&id(2), &[id(1)], &volume("lv", 1, &segment));
            let answer =
                about(disk(&text.replacen("seqno", &format!("device=\"{long}\" seqno"), 1)));
            assert!(said_bytes(&answer) < 256 << 10, "{}", said_bytes(&answer));
        }
    }
}

#[test]
fn a_thousand_types_of_the_longest_name_are_told_in_little() {
    let many: String = (0..1000)
        .map(|number| {
            volume(&format!("lv{number}"), 1, &format!("type=\"{}\"", "\u{1b}".repeat(1900)))
        })
        .collect();
    let answer = about(disk(&group(&id(2), &[id(1)], &many)));
    assert!(said_bytes(&answer) < 4 << 20, "{}", said_bytes(&answer));
}
