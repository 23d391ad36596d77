//! `-o FILE`: looked at before anything is measured, and written over nothing but a result. `-` is
//! standard output in every command.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::running_program::{Going, Ran, by_signals};
use testkit::{Scratch, need_loops, need_tools, scratch::text, tool};

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

/// Returns whether `result` is a document of `command`, of any version.
fn is_of(result: &serde_json::Value, command: &str) -> bool {
    let schema = result["schema"].as_str().and_then(|schema| schema.split_once('/'));
    schema.is_some_and(|(family, _)| family == format!("straddle.{command}"))
}

/// That `ran` refused before it measured, with `word`.
#[track_caller]
fn is_refused(ran: &Ran, word: &str) {
    let is_kept = word.starts_with("not a ");
    assert_eq!((ran.status, ran.out.as_str()), (Some(if is_kept { 3 } else { 2 }), ""), "{ran:?}");
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
        is_refused(&run(kind, scratch.path(), &mine), "not a result of ");
        for path in [link.as_path(), scratch.path()] {
            is_refused(&run(kind, scratch.path(), path), "not a regular file");
        }
    }
    assert_eq!(fs::read(&mine).unwrap(), before);
}

/// Source: Linux `include/uapi/asm-generic/fcntl.h`.
const O_NONBLOCK: i32 = 0o4000;

/// A FIFO, and its end for reading, which waits for nobody.
fn fifo(scratch: &Scratch) -> (PathBuf, File) {
    let path = scratch.path().join("fifo");
    tool::run("mkfifo", &[text(&path)]);
    let reader = File::options().read(true).custom_flags(O_NONBLOCK).open(&path);
    (path, reader.expect("it opens"))
}

/// True if some program has the pipe open for writing.
fn is_written(mut reader: &File) -> bool {
    reader.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn a_pipe_without_a_reader_is_refused_before_anything_is_measured() {
    need_tools!("mkfifo");
    let scratch = Scratch::new();
    let (path, reader) = fifo(&scratch);
    drop(reader);
    for kind in RUNS {
        let ran = run(kind, scratch.path(), &path);
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.errors.contains("no program reads this pipe\nhint: start the"), "{ran:?}");
    }
}

#[test]
fn a_reader_of_a_pipe_gets_the_result_and_one_that_leaves_is_named_after_the_table() {
    need_tools!("mkfifo");
    for leaves in [false, true] {
        let scratch = Scratch::new();
        let (path, reader) = fifo(&scratch);
        let (command, bounds) = RUNS[1];
        let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"));
        straddle.args([command, text(scratch.path()), "-o", text(&path)]).args(bounds);
        let mut going = Going::with(straddle.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()));
        going.until("it has opened the pipe", || is_written(&reader));
        let mut bytes = Vec::new();
        if !leaves {
            let mut patient = File::open(&path).expect("it opens");
            patient.read_to_end(&mut bytes).expect("it is read");
        }
        drop(reader);
        let ran = going.ended();
        assert!(ran.out.contains("p99"), "{ran:?}");
        let is_named = ran.errors.contains("no program reads this pipe");
        assert_eq!((is_named, ran.status == Some(2)), (leaves, leaves), "{ran:?}");
        if !leaves {
            let result = serde_json::from_slice(&bytes).expect("it is JSON");
            assert!(is_of(&result, command), "{result:#}");
        }
    }
}

#[test]
fn the_first_signal_ends_a_command_whose_pipe_is_full() {
    need_loops!();
    need_tools!("mkfifo");
    let scratch = Scratch::new();
    let (path, _reader) = fifo(&scratch);
    let mut full = File::options().write(true).open(&path).expect("it opens");
    full.write_all(&[b' '; 1 << 16]).expect("a pipe holds 64 KiB");
    let mut straddle = by_signals(env!("CARGO_BIN_EXE_straddle"));
    straddle.args(["fsync", text(scratch.path()), "--rows", "wal", "--seconds", "1", "-o"]);
    let mut going = Going::with(straddle.arg(&path).stdin(Stdio::null()));
    let place = format!("/proc/{}/wchan", going.number());
    going.until("it waits for room", || {
        fs::read_to_string(&place).is_ok_and(|name| name.contains("poll"))
    });
    going.signal("TERM");
    let ran = going.ended();
    assert_eq!(ran.status, Some(143), "{ran:?}");
    assert!(ran.out.contains("p99"), "{ran:?}");
}

#[test]
fn a_contributed_drive_needs_its_license_and_replaces_nothing_but_its_like() {
    let scratch = Scratch::new();
    let mine = scratch.file("mine.toml", b"model = \"mine\"\n");
    let contribute = |more: &[&str]| {
        let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"));
        straddle.args(["probe", text(scratch.path()), "--dry-run"]).args(more);
        Ran::of(straddle.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()))
    };
    is_refused(
        &contribute(&["--contribute", text(&mine), "--license", "CC0-1.0"]),
        "not a measured drive",
    );
    assert_eq!(fs::read(&mine).unwrap(), b"model = \"mine\"\n");
    let fresh = scratch.path().join("fresh.toml");
    for (more, why) in [
        (&["--contribute", text(&fresh)][..], "--license"),
        (&["--contribute", text(&fresh), "--license", "MIT"], "CC0-1.0"),
        (&["--license", "CC0-1.0"], "--contribute"),
        (&["--contribute", "-", "--license", "CC0-1.0"], "cannot contribute to standard output"),
    ] {
        let ran = contribute(more);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.errors.contains(why), "{why}: {ran:?}");
    }
    assert!(!fresh.exists(), "a dry run writes nothing");
}

#[test]
fn what_another_command_wrote_is_not_replaced() {
    let scratch = Scratch::new();
    let here = scratch.path();
    let image = scratch.image("disk.raw", 8 << 20);
    let saved = within(here, &["check", "--save", "base.json", "disk.raw"]);
    let base = here.join("base.json");
    assert!(base.exists(), "{saved:?}");
    for kind in RUNS {
        let before = fs::read(&base).unwrap();
        is_refused(&run(kind, here, &base), "not a result of ");
        assert_eq!(fs::read(&base).unwrap(), before);
    }
    let page = within(here, &["report", "base.json", "-o", "base.json"]);
    assert_eq!(page.status, Some(3), "{page:?}");
    for (command, _) in RUNS {
        let other = if command == "bench" { "probe" } else { "bench" };
        let text = format!("{{\n  \"schema\": \"straddle.{other}/1\",\n");
        let theirs = scratch.file("theirs.json", text.as_bytes());
        is_refused(&run(RUNS.into_iter().find(|run| run.0 == command).unwrap(), here, &theirs), {
            "not a result of "
        });
        let save = within(here, &["check", "--save", "theirs.json", "disk.raw"]);
        assert_eq!(save.status, Some(3), "{save:?}");
        assert_eq!(fs::read(&theirs).unwrap(), text.as_bytes());
        fs::remove_file(&theirs).unwrap();
    }
    fs::remove_file(&image).unwrap();
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
            assert!(is_of(&result, command), "{result}");
        }
        let names: Vec<_> = fs::read_dir(scratch.path()).unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "nothing else is left: {names:?}");
    }
}

/// `straddle` with `words`, about to run in `directory`.
fn command(directory: &Path, words: &[&str]) -> Command {
    let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"));
    straddle.args(words).current_dir(directory).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    straddle
}

/// `straddle` with `words`, in `directory`.
fn within(directory: &Path, words: &[&str]) -> Ran {
    Ran::of(&mut command(directory, words))
}

/// The names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is there").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_dash_is_standard_output_which_gets_the_whole_result_and_no_table() {
    let scratch = Scratch::new();
    let here = scratch.path();
    for (command, bounds) in RUNS {
        let ran = within(here, &[&[command, ".", "-o", "-"], bounds].concat());
        assert!(is_of(&ran.document(), command), "{ran:?}");
        let both = within(here, &[&[command, ".", "--json", "-o", "-"], bounds].concat());
        assert!(is_of(&both.document(), command), "{both:?}");
        assert_eq!(names(here), Vec::<String>::new(), "{command}");
    }
    let image = scratch.image("disk.raw", 8 << 20);
    let ran = within(here, &["check", "--json", "disk.raw"]);
    let checked = scratch.file("check.json", ran.out.as_bytes());
    let page = within(here, &["report", "check.json", "-o", "-"]);
    assert_eq!(page.out, within(here, &["report", "check.json"]).out);
    assert!(page.out.starts_with("<!DOCTYPE html>"), "{page:?}");
    assert!(within(here, &["generate", "sysroot", "-o", "-"]).out.starts_with("straddle"));
    [image, checked].iter().for_each(|file| fs::remove_file(file).unwrap());
    assert_eq!(names(here), Vec::<String>::new());
    // A file of that name has another.
    let ran = within(here, &[&["fsync", ".", "-o", "./-"], RUNS[1].1].concat());
    assert_eq!(names(here), ["-"], "{ran:?}");
}

#[test]
fn requests_go_to_standard_output_as_they_would_to_a_file() {
    let scratch = Scratch::new();
    let words = |file| ["generate", "raidtest", "--media", "1M", "--count", "3", file];
    let filed = within(scratch.path(), &words("requests"));
    assert_eq!(filed.status, Some(0), "{filed:?}");
    // Requests are no text.
    let printed = command(scratch.path(), &words("-")).output().unwrap();
    let kept = fs::read(scratch.path().join("requests")).unwrap();
    assert_eq!((printed.stdout, names(scratch.path()).len()), (kept, 1));
}

#[test]
fn two_documents_do_not_go_to_standard_output_and_the_way_out_is_said() {
    let scratch = Scratch::new();
    let image = scratch.image("disk.raw", 8 << 20);
    for (words, said, hint) in [
        (
            &["bench", ".", "--format", "fio-json", "-o", "-"][..],
            "cannot print two",
            "-o result.json",
        ),
        (&["fsync", ".", "--format", "fio-json", "-o", "-"], "cannot print two", "-o result.json"),
        (&["check", text(&image), "--save", "-"], "cannot save", "--json"),
    ] {
        let ran = within(scratch.path(), words);
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.errors.starts_with(&format!("error: {said}")), "{ran:?}");
        assert!(ran.errors.contains("\nhint: ") && ran.errors.contains(hint), "{ran:?}");
        assert_eq!(names(scratch.path()).len(), 1);
    }
}
