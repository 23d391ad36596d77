//! `straddle drive torture` and `drive cut` as a user runs them.

mod databases;
mod endings;
mod recordings;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::running_program::{Ran, by_signals};

/// Writes blocks of 4 KiB on the bare drive, each synced and acknowledged; a word after it changes
/// what it does.
const BLOCKS: &str = r#"
import os, sys
drive = os.open(os.environ["STRADDLE_DEVICE"], os.O_RDWR)
block = lambda number: bytes([number + 1]) * 4096
phase, how = os.environ["STRADDLE_PHASE"], sys.argv[1:]
if phase == "run":
    for number in range(40):
        os.pwrite(drive, block(number), number * 4096)
        if "no-sync" not in how:
            os.fsync(drive)
        if "silent" not in how:
            print(number, flush=True)
    os.fsync(drive)
if phase == "check":
    for line in sys.stdin:
        if os.pread(drive, 4096, int(line) * 4096) != block(int(line)):
            sys.exit(f"block {line.strip()} is lost")
if phase in how:
    sys.exit("as asked")
"#;

/// The words, about to run.
fn drive(words: &[&str]) -> Command {
    let mut command = by_signals(env!("CARGO_BIN_EXE_straddle"));
    command.arg("drive").args(words).env("LC_ALL", "C.UTF-8");
    command
}

/// `drive torture` of a drive that is a file.
fn torture_file(words: &[&str], how: &[&str]) -> Ran {
    let base = ["torture", "--as", "file", "--timing", "off"];
    // Without what Python imports for everyone, which takes most of its time.
    let program = ["--", "python3", "-IS", "-c", BLOCKS];
    Ran::of(drive(&base).args(words).args(program).args(how))
}

/// `drive torture` of a block device under a program of `docs/torture`.
fn torture(words: &[&str], program: &[&str]) -> Ran {
    let path = recipe(program[0]);
    let base = ["torture", "--timing", "off", "--json"];
    Ran::of(drive(&base).args(words).arg("--").arg(path).args(&program[1..]))
}

/// A program of `docs/torture`.
fn recipe(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/torture").join(name)
}

/// `name` of the counts that a run told, which ended with `status`.
#[track_caller]
fn count(ran: &Ran, name: &str, status: i32) -> u64 {
    assert_eq!(ran.status, Some(status), "{ran:?}");
    let count = &ran.document()["counts"][name];
    count.as_u64().unwrap_or_else(|| panic!("{name} in {ran:?}"))
}

/// Reasons that checks told, in a row.
fn reasons(document: &Value) -> String {
    let failures = document["failures"].as_array().expect("a list");
    failures.iter().map(|failure| format!("{}\n", failure["check"])).collect()
}

fn can_mount() -> bool {
    let can = File::options().read(true).write(true).open("/dev/fuse").is_ok();
    if !can {
        testkit::skip("needs FUSE");
    }
    can
}
