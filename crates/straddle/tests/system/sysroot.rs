//! `straddle generate sysroot` as a user runs it, and what `straddle check` makes of a capture.

use std::path::Path;
use std::process::{Command, Output};

use testkit::Scratch;
use testkit::scratch::text;

fn straddle(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_straddle")).args(arguments).output();
    output.expect("straddle can be started")
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A captured machine that tests keep.
fn kept(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stack/tests/sysroots");
    text(&directory.join(name)).to_owned()
}

#[test]
fn this_machine_is_captured_in_a_text_that_check_reads() {
    let scratch = Scratch::new();
    let path = scratch.path().join("here.sysroot");
    let made = straddle(&["generate", "sysroot", "-o", text(&path)]);
    assert!(made.status.success(), "{}", said(&made.stderr));
    assert!(made.stdout.is_empty());
    let capture = std::fs::read_to_string(&path).unwrap();
    assert!(capture.starts_with("straddle.sysroot/1\n"));
    assert!(capture.len() < 4 << 20, "{} bytes", capture.len());
    let printed = straddle(&["generate", "sysroot"]);
    assert!(printed.stdout.starts_with(b"straddle.sysroot/1\n"));
    let checked = straddle(&["check", "--json", "--sysroot", text(&path)]);
    let document: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert!(document["targets"].as_array().is_some_and(|targets| !targets.is_empty()));
}

#[test]
fn a_file_that_exists_is_replaced_only_by_force() {
    let scratch = Scratch::new();
    let path = scratch.file("mine", b"mine");
    let refused = straddle(&["generate", "sysroot", "-o", text(&path)]);
    assert_eq!(refused.status.code(), Some(2));
    let expected = format!("error: cannot write {}: it exists\n", text(&path));
    assert_eq!(said(&refused.stderr), expected + "hint: --force replaces it\n");
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    let forced = straddle(&["generate", "sysroot", "-o", text(&path), "--force"]);
    assert!(forced.status.success(), "{}", said(&forced.stderr));
    assert!(std::fs::read(&path).unwrap().starts_with(b"straddle.sysroot/1\n"));
}

#[test]
fn a_captured_machine_is_judged_without_its_bytes() {
    let checked = straddle(&["check", "--json", "--sysroot", &kept("qemu-all.k6.12.sysroot")]);
    let document = said(&checked.stdout);
    for name in ["nvme0n1", "mmcblk0", "vdj"] {
        assert!(document.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
fn what_is_no_captured_tree_is_refused() {
    let refused = straddle(&["check", "--sysroot", &kept("qemu-all.k6.12.lsblk")]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused.stderr).contains("does not start with the line `straddle.sysroot/1`"));
}
