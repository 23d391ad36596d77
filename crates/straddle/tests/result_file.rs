//! `-o FILE`: looked at before anything is measured, and written over nothing but a result.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::run::Ran;
use testkit::{Scratch, scratch::text};

/// Runs that measure in a moment, each by its command.
const RUNS: [(&str, &[&str]); 3] = [
    ("bench", &["--pairs", "10", "--scratch", "1M", "--share", "100"]),
    ("fsync", &["--rows", "wal", "--seconds", "1"]),
    ("probe", &["--no-save", "--seconds", "1", "--bytes-max", "32M"]),
];

/// `straddle` with `command` in `directory`, its result to `file`.
fn run((command, bounds): (&str, &[&str]), directory: &Path, file: &Path) -> Ran {
    let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"));
    straddle.args([command, text(directory), "-o", text(file)]).args(bounds);
    straddle.env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    Ran::of(&mut straddle)
}

/// That `ran` refused before it measured, with `word`.
#[track_caller]
fn is_refused(ran: &Ran, word: &str) {
    assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.errors.starts_with("error: ") && ran.errors.contains(word), "{ran:?}");
    assert!(ran.errors.contains("hint: name a"), "{ran:?}");
    assert!(!ran.errors.contains("writes at most"), "it began: {ran:?}");
}

#[test]
fn a_file_that_is_no_result_is_neither_replaced_nor_measured_for() {
    let scratch = Scratch::new();
    let mine = scratch.file("mine.json", b"{\n  \"schema\": \"somebody else's\"\n}\n");
    let link = scratch.path().join("link.json");
    std::os::unix::fs::symlink(&mine, &link).unwrap();
    let before = fs::read(&mine).unwrap();
    for kind in RUNS {
        is_refused(&run(kind, scratch.path(), &mine), "it is no result of straddle");
        for path in [link.as_path(), scratch.path(), Path::new("/dev/null")] {
            is_refused(&run(kind, scratch.path(), path), "it is no regular file");
        }
    }
    assert_eq!(fs::read(&mine).unwrap(), before);
}

#[test]
fn a_place_that_takes_no_file_is_refused_before_anything_is_measured() {
    let scratch = Scratch::new();
    let file = scratch.file("file", b"x");
    let places = [
        (scratch.path().join("nowhere/result.json"), "No such file or directory"),
        (file.join("result.json"), "Not a directory"),
    ];
    for kind in RUNS {
        for (path, word) in &places {
            is_refused(&run(kind, scratch.path(), path), word);
        }
    }
}

#[test]
fn a_result_and_an_empty_file_are_replaced_whole() {
    let scratch = Scratch::new();
    for (command, bounds) in RUNS {
        let path = scratch.file("result.json", b"");
        for _ in 0..2 {
            let ran = run((command, bounds), scratch.path(), &path);
            assert!(ran.status.is_some() && !ran.errors.contains("result.json"), "{ran:?}");
            let result: serde_json::Value =
                serde_json::from_slice(&fs::read(&path).unwrap()).expect("a whole document");
            assert_eq!(result["schema"], format!("straddle.{command}/1"));
        }
        let names: Vec<_> = fs::read_dir(scratch.path()).unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "nothing else is left: {names:?}");
    }
}
