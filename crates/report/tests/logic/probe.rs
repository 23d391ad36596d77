//! A probe as it is printed, and its schema.

use crate::made::probe::platter;
use measure::probe::Unidentified;
use report::probe::{Answers, Probe, probe_json, probe_table};
use report::{Look, Refusal};
use serde_json::Value;
use testkit::schema;

const COMMITTED: &str = include_str!("../../schema/straddle.probe.1.schema.json");

#[test]
fn probes_are_valid_and_wholly_described() {
    let schema: Value = serde_json::from_str(COMMITTED).expect("the schema is JSON");
    let refusal = Refusal {
        message: "cannot".to_owned(),
        hint: Some("do".to_owned()),
        kind: report::RefusalKind::Safety,
    };
    let nothing = Answers::not_tried("nothing was measured");
    let mut refused = Probe { answers: nothing, ..platter() };
    refused.envelope.refusal = Some(refusal);
    for probe in [platter(), refused] {
        let document: Value = serde_json::from_str(&probe_json(&probe)).expect("valid JSON");
        assert_eq!(schema::faults(&schema, &document), Vec::<String>::new());
    }
}

#[test]
fn a_document_of_a_version_that_did_not_look_for_the_depth_is_read() {
    let mut document: Value = serde_json::from_str(&probe_json(&platter())).expect("valid JSON");
    document["answers"].as_object_mut().expect("answers").remove("depth");
    let probe: Probe = serde_json::from_value(document).expect("it is read");
    assert_eq!(probe.answers.depth.why, Some(Unidentified::NotTried));
}

#[test]
fn a_person_reads_what_was_found_what_was_not_and_what_to_type() {
    let shown = probe_table(&platter(), &Look::default());
    for line in [
        "alignment  writes start at multiples of 4 KiB plus 3584 bytes",
        "chunk      cannot tell: it was not tried",
        "depth      32 reads at once: ",
        "type       fio: --iodepth=32",
        "rotation   8.333 ms (8.331 ms to 8.335 ms)",
        "RMW cost   a misaligned write takes 3 rotations (2.97 to 3.02): per-sector",
        "reported   physical_block_size is 512, but another granule was measured",
        "type       zpool create: -o ashift=12",
        "saved      nothing: --no-save",
        "drive      sda, ST\\u{1b}4000, firmware CC\\u{a}52",
        "durable writes and reads within 64 MiB; 90 MiB written, seed 1",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}

#[test]
fn a_dry_run_names_the_share_of_the_drive_that_is_written() {
    let mut probe = Probe { dry_run: true, ..platter() };
    probe.target.capacity_bytes = Some(1 << 40);
    probe.spent.bytes_max = 256 << 20;
    let shown = probe_table(&probe, &Look::default());
    assert!(shown.contains("wear       writes at most"), "{shown}");
    assert!(shown.contains("of the drive's 1 TiB"), "{shown}");
}

#[test]
fn no_line_is_wider_than_asked_and_none_holds_control_characters() {
    for width in [40, 60, 100] {
        let look = Look { width: Some(width), explain: true, ..Look::default() };
        let shown = probe_table(&platter(), &look);
        for line in shown.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
}
