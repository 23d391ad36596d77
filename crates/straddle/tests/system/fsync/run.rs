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
    succeeded(&fsync(&[&["--json"], arguments].concat()))
}

/// The document of a run that must have succeeded.
#[track_caller]
pub(crate) fn succeeded(ran: &Ran) -> Value {
    let document = ran.document();
    // What is not durable is a finding, and memory is not.
    let is_durable = document["honesty"]["grade"] != "not-durable";
    assert_eq!(ran.status, Some(if is_durable { 0 } else { 1 }), "{ran:?}");
    document
}

/// Most seconds of a run on a machine where few hold no round.
const SECONDS_MAX: u64 = 150;

/// The first run that is whole, of runs with these seconds, and four times as many each time: where
/// others keep the machine busy, few seconds hold neither the files nor a round. The last run is
/// returned as it is.
pub(crate) fn in_time(
    mut seconds: u64,
    run: impl Fn(&str) -> Ran,
    is_whole: impl Fn(&Ran) -> bool,
) -> Ran {
    loop {
        let ran = run(&seconds.to_string());
        seconds *= 4;
        if seconds > SECONDS_MAX || is_whole(&ran) {
            return ran;
        }
    }
}

/// Returns whether a run reached each row that it can measure.
pub(crate) fn has_all_rows(ran: &Ran) -> bool {
    !ran.out.contains("not reached within") && !ran.errors.contains("was given up")
}

/// The row called `id`.
#[track_caller]
pub(crate) fn row<'a>(document: &'a Value, id: &str) -> &'a Value {
    let rows = document["rows"].as_array().expect("a list");
    rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no row {id}"))
}
