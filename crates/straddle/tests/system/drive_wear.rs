//! A drive's own word about its wear, as `straddle check --explain` shows it of a capture.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use device::answer::{self, Question};
use format::identify::ocp_health;
use serde_json::Value;
use testkit::Scratch;
use testkit::scratch::text;

/// A captured machine with one drive that answered these questions.
fn captured(name: &str, answers: &[(Question, Vec<u8>)]) -> Scratch {
    let scratch = Scratch::new();
    let root = scratch.path();
    let disk = root.join("sys/devices/pci0/block").join(name);
    for directory in ["queue", "holders", "slaves"] {
        std::fs::create_dir_all(disk.join(directory)).expect("the scratch directory takes it");
    }
    let files = [
        ("size", "2097152"),
        ("dev", "259:0"),
        ("ro", "0"),
        ("queue/logical_block_size", "512"),
        ("queue/physical_block_size", "4096"),
        ("queue/rotational", "0"),
    ];
    for (file, value) in files {
        std::fs::write(disk.join(file), value).expect("the scratch directory takes it");
    }
    for directory in ["sys/block", "sys/class/block"] {
        std::fs::create_dir_all(root.join(directory)).expect("the scratch directory takes it");
        symlink(format!("/sys/devices/pci0/block/{name}"), root.join(directory).join(name))
            .expect("the scratch directory takes it");
    }
    for (question, bytes) in answers {
        let path = answer::of_drive(name, *question);
        let path = root.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().expect("the scratch directory takes it"))
            .expect("the scratch directory takes it");
        std::fs::write(path, answer::to_text(bytes)).expect("the scratch directory takes it");
    }
    scratch
}

fn bytes(length: usize, fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; length];
    for (at, field) in fields {
        bytes[*at..at + field.len()].copy_from_slice(field);
    }
    bytes
}

fn controller() -> (Question, Vec<u8>) {
    (Question::NvmeController, bytes(4096, &[(4, b"S1"), (24, b"Model"), (64, b"1.0")]))
}

fn health(data_units: u64) -> (Question, Vec<u8>) {
    let page = bytes(512, &[(3, &[100]), (5, &[7]), (48, &data_units.to_le_bytes())]);
    (Question::NvmeHealth, page)
}

fn ocp(media: u64, unaligned: u64, endurance: u64, guid: &[u8]) -> (Question, Vec<u8>) {
    let page = bytes(
        512,
        &[
            (0, &media.to_le_bytes()),
            (88, &[30]),
            (92, &[10]),
            (120, &[40]),
            (136, &unaligned.to_le_bytes()),
            (176, &endurance.to_le_bytes()),
            (494, &[3]),
            (496, guid),
        ],
    );
    (Question::NvmeOcpHealth, page)
}

fn check(root: &Path, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(["check", "--sysroot", text(root)])
        .args(words)
        .env("COLUMNS", "110")
        .output()
        .expect("the binary runs");
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

/// The drive's facts in the document of `check --explain --json`.
fn facts(scratch: &Scratch) -> Vec<Value> {
    let printed = check(scratch.path(), &["--explain", "--json"]);
    let document: Value = serde_json::from_str(&printed).expect("JSON");
    document["targets"][0]["layers"][0]["facts"].as_array().expect("facts").clone()
}

/// The value of a fact, else its reason.
fn fact(facts: &[Value], key: &str) -> Result<String, String> {
    let found = facts.iter().find(|fact| fact["key"] == key);
    let found = found.unwrap_or_else(|| panic!("no {key} in {facts:#?}"));
    match found["value"].as_str() {
        Some(value) => Ok(value.to_owned()),
        None => Err(found["reason"].as_str().expect("a reason").to_owned()),
    }
}

const GB: u64 = 1_000_000_000;

#[test]
fn a_captured_ocp_drive_shows_its_bytes_amplification_and_endurance() {
    let pages =
        [controller(), health(1_000_000), ocp(1280 * GB, 4711, 14_000_000, &ocp_health::GUID)];
    let scratch = captured("nvme0n1", &pages);
    let found = facts(&scratch);
    for (key, value) in [
        ("host-written-bytes", "512000000000"),
        ("media-written-bytes", "1280000000000"),
        ("write-amplification", "2.50"),
        ("unaligned-writes", "4711"),
        ("life-used-percent", "7"),
        ("endurance-bytes", "14000000000000000"),
        ("endurance-left-bytes", "13998720000000000"),
        ("free-blocks-percent", "40"),
        ("erases-min", "10"),
        ("erases-max", "30"),
    ] {
        assert_eq!(fact(&found, key).as_deref(), Ok(value), "{key}");
    }
    let shown = check(scratch.path(), &["--explain"]);
    assert!(shown.contains("media over host bytes since new, to 0.000001"), "{shown}");
    assert!(shown.contains("since power-on, by their start alone"), "{shown}");
    // Nobody is asked where nobody shows it.
    assert!(!check(scratch.path(), &["--json"]).contains("host-written-bytes"));
}

#[test]
fn pages_that_cannot_be_right_give_the_reason_and_never_a_number() {
    let good = ocp(1280 * GB, 1, 14_000_000, &ocp_health::GUID);
    let ones = (Question::NvmeHealth, {
        let mut page = vec![0xff; 512];
        page[3] = 100;
        page
    });
    let page = |media, guid: &[u8]| ocp(media, u64::MAX, u64::MAX, guid);
    let guid = &ocp_health::GUID;
    let cases = [
        (ones, good.clone(), "host bytes: the counter is all ones"),
        (health(0), good.clone(), "host bytes: the counter is 0"),
        (health(u64::MAX - 1), good.clone(), "host bytes: 18446744073709551614 units"),
        (health(1), good, "only 512000 bytes were written, counted in units of 512000"),
        (health(1_000_000), page(0, guid), "media bytes: the counter is 0"),
        (health(1_000_000), page(255 * GB, guid), "media bytes: below half of the host bytes"),
        (health(1_000_000), page(u64::MAX - 1, guid), "media bytes: 18446744073709551614 bytes"),
    ];
    for (health, ocp, expected) in cases {
        let found = facts(&captured("nvme0n1", &[controller(), health, ocp]));
        let reason = fact(&found, "write-amplification").unwrap_err();
        assert!(reason.starts_with(expected), "{reason}\n{expected}");
    }
    let found = facts(&captured("nvme0n1", &[controller(), health(9), page(255, guid)]));
    for key in ["unaligned-writes", "media-written-bytes", "endurance-left-bytes"] {
        assert!(fact(&found, key).is_err(), "{key}");
    }
    let foreign = page(1280 * GB, &[7; 16]);
    let found = facts(&captured("nvme0n1", &[controller(), health(1_000_000), foreign]));
    assert_eq!(
        fact(&found, "media-written-bytes").unwrap_err(),
        "OCP log page C0h was asked for, and a page without its GUID came"
    );
    assert!(!found.iter().any(|fact| fact["key"] == "write-amplification"));
}

#[test]
fn a_capture_from_before_the_pages_were_kept_says_so() {
    let found = facts(&captured("nvme0n1", &[controller()]));
    let reason = |key| fact(&found, key).unwrap_err();
    assert_eq!(reason("host-written-bytes"), "the capture has no answer nvme-health");
    assert_eq!(reason("media-written-bytes"), "the capture has no answer nvme-ocp-health");
    // A capture without any answer has nothing to say of wear.
    let printed = check(captured("nvme0n1", &[]).path(), &["--explain"]);
    assert!(!printed.contains("written-bytes"), "{printed}");
}

#[test]
fn an_ata_drive_shows_sectors_written_and_life_used() {
    let identity = bytes(512, &[(0, &[0x40]), (120, &[0, 8]), (434, &[1])]);
    let word = |value: u64| (3 << 62 | value).to_le_bytes();
    let statistics = bytes(1024, &[(2, &[1]), (24, &word(1 << 30)), (514, &[7]), (520, &word(12))]);
    let answers =
        [(Question::AtaIdentify, identity.clone()), (Question::AtaStatistics, statistics)];
    let found = facts(&captured("sda", &answers));
    assert_eq!(fact(&found, "host-written-bytes").as_deref(), Ok("549755813888"));
    assert_eq!(fact(&found, "life-used-percent").as_deref(), Ok("12"));
    assert!(fact(&found, "media-written-bytes").unwrap_err().starts_with("ATA has no"));
    let mut turning = identity;
    turning[434..436].copy_from_slice(&7200_u16.to_le_bytes());
    let found = facts(&captured("sda", &[(Question::AtaIdentify, turning)]));
    assert!(!found.iter().any(|fact| fact["key"] == "host-written-bytes"));
}
