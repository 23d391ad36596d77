//! Running the binary, and reading what it says.

use std::process::Command;

use serde_json::Value;

pub(crate) use testkit::running_program::{Going, Ran, signal, until};

/// An engine of a test's own, of which too few writes are wanted for a p99 to have an upper end.
pub(crate) const PROFILE: &str = r#"
name = "a"
title = "a test's own"
quantile = "p99"
pass = "fine"
next = "nothing"

[pattern]
write = "4 KiB"
placement = "append"
space = "written"
file = "16 MiB"
sync = "fdatasync"
samples = 100
time = "3600 s"

[warn]
above = "60 s"
source = "ours"
reason = "a test"
sentence = "slow"

[fail]
above = "60 s"
source = "ours"
reason = "a test"
sentence = "too slow"
"#;

/// The binary under test, about to run `fsync` with `arguments`.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = testkit::running_program::by_signals(env!("CARGO_BIN_EXE_straddle"));
    command.args(["fsync", "--seed", "1"]).args(arguments);
    command.env("LC_ALL", "C.UTF-8").env("COLUMNS", "120");
    command
}

/// `straddle fsync` with `arguments`.
pub(crate) fn fsync(arguments: &[&str]) -> Ran {
    Ran::of(&mut command(arguments))
}

/// `straddle fsync` with `arguments`, going on by itself.
pub(crate) fn going(arguments: &[&str]) -> Going {
    Going::with(&mut command(arguments))
}

/// The document of a run that must succeed.
#[track_caller]
pub(crate) fn measured(arguments: &[&str]) -> Value {
    let ran = fsync(&[&["--json"], arguments].concat());
    let document = ran.document();
    // What is not durable is a finding, and memory is not.
    let is_durable = document["honesty"]["grade"] != "not-durable";
    assert_eq!(ran.status, Some(if is_durable { 0 } else { 1 }), "{ran:?}");
    document
}

/// The row called `id`.
#[track_caller]
pub(crate) fn row<'a>(document: &'a Value, id: &str) -> &'a Value {
    let rows = document["rows"].as_array().expect("a list");
    rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no row {id}"))
}
