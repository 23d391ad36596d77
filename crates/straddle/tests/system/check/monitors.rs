//! Monitors' own protocols: what is printed, and the exit codes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use testkit::Scratch;

use super::run::{straddle, text};

/// The bytes of a disk whose MBR has one partition of `sectors` from `start` on.
fn mbr(start: u32, sectors: u32) -> Vec<u8> {
    let mut bytes = vec![0; 512];
    bytes[446 + 4] = 0x83;
    bytes[446 + 8..446 + 12].copy_from_slice(&start.to_le_bytes());
    bytes[446 + 12..446 + 16].copy_from_slice(&sectors.to_le_bytes());
    bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
    bytes
}

/// An image of 4 MiB in `directory` with one partition of 2 MiB from sector `start` on.
pub(crate) fn image(directory: &Path, name: &OsStr, start: u32) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, mbr(start, 4096)).expect("an image can be written");
    let file = std::fs::OpenOptions::new().write(true).open(&path).expect("it opens");
    file.set_len(4 << 20).expect("it grows");
    path
}

/// The exit code and standard output of a check.
fn run(arguments: &[&str]) -> (i32, String) {
    let arguments: Vec<&str> = ["check"].iter().chain(arguments).copied().collect();
    let output = straddle(&arguments);
    let out = String::from_utf8(output.stdout).expect("it prints UTF-8");
    (output.status.code().expect("it exits"), out)
}

#[test]
fn every_state_has_its_exit_code_in_every_protocol() {
    let scratch = Scratch::new();
    let good = image(scratch.path(), "good.raw".as_ref(), 2048);
    let bad = image(scratch.path(), "bad.raw".as_ref(), 63);
    let gone = scratch.path().join("gone.raw");
    let (good, bad, gone) = (text(&good), text(&bad), text(&gone));
    let error = &["--rule", "ST102=error"][..];
    /// Targets, options, the state, and the exit codes of a table, of nagios and of npd.
    type Case<'a> = (&'a [&'a str], &'a [&'a str], &'a str, [i32; 3]);
    let cases: [Case<'_>; 10] = [
        (&[good], &[], "OK", [0, 0, 0]),
        (&[bad], &[], "WARNING", [1, 1, 1]),
        (&[good, bad], error, "CRITICAL", [1, 2, 1]),
        (&[gone], &[], "UNKNOWN", [2, 3, 2]),
        (&[good, gone], &[], "UNKNOWN", [2, 3, 2]),
        (&[bad, gone], &[], "WARNING", [2, 1, 1]),
        (&[bad, gone], error, "CRITICAL", [2, 2, 1]),
        (&[bad], &["--fail-on", "error"], "OK", [0, 0, 0]),
        (&[bad], &["--fail-on", "never"], "OK", [0, 0, 0]),
        (&[bad], &["--rule", "ST102=info", "--fail-on", "info"], "WARNING", [1, 1, 1]),
    ];
    for (targets, options, state, codes) in cases {
        for (format, code) in ["table", "nagios", "npd"].iter().zip(codes) {
            let arguments = [targets, options, &["--format", format]].concat();
            let (status, out) = run(&arguments);
            assert_eq!(status, code, "{arguments:?}\n{out}");
            if *format == "nagios" {
                let begin = format!("STRADDLE {state} - ");
                assert!(out.starts_with(&begin) && out.contains(" | targets="), "{out}");
            }
            if *format == "npd" {
                assert!(out.len() <= 81 && out.lines().count() == 1, "{out}");
            }
        }
    }
}

#[test]
fn misuse_is_unknown_to_a_monitor_and_never_critical() {
    for (arguments, code) in [
        (&["--format", "nagios", "--frobnicate"][..], 3),
        (&["--format=nagios", "--on", "513n", "x"], 3),
        (&["--format", "nagios", "--watch", "/nonexistent", "x"], 3),
        (&["--format", "nagios", "--save", "/nonexistent/dir/base", "x"], 3),
        (&["--format", "npd", "--frobnicate"], 2),
        (&["--format", "npd", "--message-bytes", "15", "x"], 2),
        (&["--format", "npd", "--watch", "/nonexistent", "x"], 2),
        (&["--frobnicate"], 2),
    ] {
        let (status, out) = run(arguments);
        assert_eq!(status, code, "{arguments:?}: {out}");
        let line = out.lines().next().unwrap_or_default();
        match code {
            3 => assert!(line.starts_with("STRADDLE UNKNOWN - "), "{arguments:?}: {out}"),
            _ if arguments[0] == "--format" => assert!(!line.is_empty() && line.len() <= 80),
            _ => assert_eq!(out, ""),
        }
    }
    assert_eq!(run(&["--format", "nagios", "--help"]).0, 0);
}

#[test]
fn a_message_has_the_bytes_that_were_asked_for() {
    let scratch = Scratch::new();
    let bad = image(scratch.path(), "bad.raw".as_ref(), 63);
    for bytes in [16, 80, 4096] {
        let limit = bytes.to_string();
        let (_, out) = run(&["--format", "npd", "--message-bytes", &limit, text(&bad)]);
        assert!(out.trim_end().len() <= bytes, "{out}");
        assert!(out.starts_with("1 warning"), "{out}");
    }
}

#[test]
fn names_with_pipes_newlines_and_bytes_that_are_no_text_stay_in_their_place() {
    let scratch = Scratch::new();
    for name in [&b"a|b='1;2"[..], b"new\nline $(x)", b"raw\xff\xfe`y`", b"\x1b[31mred"] {
        let _ = image(scratch.path(), OsStr::from_bytes(name), 63);
    }
    let (status, out) = run(&["--format", "nagios", text(scratch.path())]);
    assert_eq!((status, out.lines().count()), (1, 5), "{out}");
    assert_eq!(out.matches('|').count(), 1, "{out}");
    assert!(!out.contains(['\u{1b}', '`', '\'', '$']), "{out}");
    assert!(out.contains("raw\\xff\\xfe") && out.contains("a\\u{7c}b"), "{out}");
    let (status, out) = run(&["--format", "npd", text(scratch.path())]);
    assert_eq!((status, out.lines().count()), (1, 1), "{out}");
    // They are the same targets when they are looked at again.
    let kept = Scratch::new();
    let base = kept.path().join("base.json");
    assert_eq!(run(&["--save", text(&base), text(scratch.path())]).0, 1);
    let (status, out) = run(&["--watch", text(&base), text(scratch.path())]);
    assert_eq!(status, 0, "{out}");
}

#[test]
fn ten_thousand_targets_fit_into_one_answer_and_one_comparison() {
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    for number in 0..10_000_u32 {
        let name = format!("{number:05}.raw");
        let _ = image(scratch.path(), name.as_ref(), if number < 9_000 { 63 } else { 2048 });
    }
    let kept = Scratch::new();
    let base = kept.path().join("base.json");
    let save = ["--save", text(&base), "--format", "nagios", text(scratch.path())];
    let (status, out) = run(&save);
    assert_eq!(status, 1);
    assert!(out.len() < 8192, "{} bytes", out.len());
    assert!(out.contains(" targets=10000;;;0 misaligned=9000;"), "{out}");
    let shown = out.lines().filter(|line| line.starts_with("[WARNING]")).count();
    assert!(out.contains(&format!("\n{} more;", 9_000 - shown)), "{out}");

    let _ = image(scratch.path(), "09999.raw".as_ref(), 63);
    let (status, out) = run(&["--watch", text(&base), "--json", text(scratch.path())]);
    assert_eq!(status, 1);
    let changes: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(changes["summary"]["unchanged"], 9_999);
    assert_eq!(changes["targets"].as_array().unwrap().len(), 1);
    assert!(changes["targets"][0]["target"].as_str().unwrap().ends_with("09999.raw"));
}
