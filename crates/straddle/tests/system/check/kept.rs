//! The last kept result: kept by one run, judged by another that opens no device.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::Scratch;
use testkit::running_program::Ran;

use super::monitors::image;
use super::run::text;

/// Runs `straddle check`, with results kept below `scratch`.
fn check(scratch: &Scratch, arguments: &[&str]) -> Ran {
    straddle(scratch, &[&["check"], arguments].concat())
}

fn straddle(scratch: &Scratch, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    let state = scratch.path().join("state");
    command.args(arguments).env("LC_ALL", "C.UTF-8").env("STATE_DIRECTORY", state);
    Ran::of(&mut command)
}

fn kept(scratch: &Scratch) -> PathBuf {
    scratch.path().join("state/last-check.json")
}

/// Keeps the result of an image whose partition is at this sector, and removes the image.
fn keep(scratch: &Scratch, sector: u32) {
    let image = image(scratch.path(), "disk.raw".as_ref(), sector);
    let ran = check(scratch, &["--keep", text(&image)]);
    assert!(ran.errors.is_empty(), "{ran:?}");
    std::fs::remove_file(image).expect("it is there");
}

fn edit(path: &Path, from: &str, to: &str) {
    let document = std::fs::read_to_string(path).expect("it is kept");
    assert!(document.contains(from), "{from}: {document}");
    std::fs::write(path, document.replace(from, to)).expect("it can be written");
}

#[test]
fn a_kept_result_is_judged_in_every_format_without_its_device() {
    let scratch = Scratch::new();
    for (sector, codes) in [(2048, [0, 0, 0]), (63, [1, 1, 1])] {
        keep(&scratch, sector);
        let mode = std::fs::metadata(kept(&scratch)).expect("it is kept").permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "everybody may read it, its owner alone may write");
        for (format, code) in ["table", "nagios", "npd"].into_iter().zip(codes) {
            let ran = check(&scratch, &["--cached", "--format", format]);
            assert_eq!(ran.status, Some(code), "{format}: {ran:?}");
            assert!(ran.errors.starts_with("note: judged by the result of "), "{ran:?}");
        }
        for format in super::FORMATS {
            let ran = check(&scratch, &["--cached", "--format", format]);
            let says = ran.out.contains("disk.raw") || sector == 2048;
            assert!(says && !ran.errors.contains("error"), "{format}: {ran:?}");
        }
        let json = check(&scratch, &["--cached", "--json"]).document();
        assert_eq!(json["schema"], "straddle.check/1");
        assert_eq!(json["targets"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn no_verdict_comes_of_a_result_that_is_missing_old_foreign_or_damaged() {
    let scratch = Scratch::new();
    let unfit = |why: &str| {
        for (format, code) in [("table", 5), ("json", 5), ("nagios", 3), ("npd", 2)] {
            let ran = check(&scratch, &["--cached", "--format", format]);
            assert_eq!(ran.status, Some(code), "{format}: {ran:?}");
            let error = "error: cannot judge the last kept result: ";
            assert!(ran.errors.starts_with(error) && ran.errors.contains(why), "{why}: {ran:?}");
            assert!(format != "nagios" || ran.out.starts_with("STRADDLE UNKNOWN - "), "{ran:?}");
        }
        let allowed = check(&scratch, &["--cached", "--allow-unknown"]);
        assert_eq!(allowed.status, Some(0), "{allowed:?}");
    };
    keep(&scratch, 2048);
    let path = kept(&scratch);
    let sound = std::fs::read(&path).expect("it is kept");
    let document: serde_json::Value = serde_json::from_slice(&sound).expect("it is JSON");
    let started = document["started"].as_str().expect("it is dated").to_owned();
    edit(&path, &started, "2026-01-01T00:00:00Z");
    unfit("too old: ");
    let old = check(&scratch, &["--cached", "--max-age", "365d"]);
    assert_ne!(old.status, Some(2), "{old:?}");
    edit(&path, "2026-01-01T00:00:00Z", "2199-01-01T00:00:00Z");
    unfit("is of the future");
    std::fs::write(&path, &sound).expect("it can be written");
    let host = document["host"].as_str().expect("it has its machine");
    edit(&path, &format!("\"host\": \"{host}\""), "\"host\": \"another-machine\"");
    unfit("is of another machine: another-machine");
    std::fs::write(&path, &sound[..sound.len() / 2]).expect("it can be written");
    unfit("damaged: ");
    std::fs::write(&path, "{}").expect("it can be written");
    unfit("not a straddle result file");
    std::fs::write(&path, &sound).expect("it can be written");
    std::fs::set_permissions(&path, Permissions::from_mode(0o666)).expect("it is mine");
    unfit("others may write it");
    std::fs::remove_file(&path).expect("it is there");
    if !Path::new("/var/lib/straddle/last-check.json").exists() {
        unfit("no last-check.json in ");
    }
}

#[test]
fn metrics_are_exported_of_what_is_kept_where_no_file_is_named() {
    let scratch = Scratch::new();
    keep(&scratch, 63);
    let ran = straddle(&scratch, &["export", "--textfile", text(scratch.path())]);
    assert!(ran.status == Some(0) && ran.out.is_empty(), "{ran:?}");
    let metrics = std::fs::read_to_string(scratch.path().join("straddle.prom"));
    let metrics = metrics.expect("it is written");
    assert!(metrics.contains("straddle_check_status{check=\"check\""), "{metrics}");
    let names = std::fs::read_dir(scratch.path()).expect("it can be listed");
    assert_eq!(names.count(), 2, "the state, and the metrics under their own name alone");
}

#[test]
fn what_a_kept_result_cannot_be_asked_is_misuse() {
    let scratch = Scratch::new();
    for options in [
        &["--cached", "/dev/sda"][..],
        &["--cached", "--on", "4Kn"],
        &["--cached", "--rule", "ST101=off"],
        &["--cached", "--keep"],
        &["--keep", "--save", "base.json"],
        &["--max-age", "8d"],
        &["--cached", "--max-age", "2y"],
    ] {
        let ran = check(&scratch, options);
        assert_eq!(ran.status, Some(2), "{options:?}: {ran:?}");
    }
}
