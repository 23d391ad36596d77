//! Running the binary, and reading what it says.

use std::process::Command;

use serde_json::Value;

pub(crate) use testkit::running_program::{Going, Ran, until};

/// The other tests use the drive too, and that must not hold a run back.
const WHOLE: [&str; 2] = ["--share", "100"];
/// Options of a run that must be met in the middle: each write takes long, and ten times as long is
/// between it and the next. A smaller share makes a rest of minutes of a write that others hold up.
pub(crate) const RESTING: [&str; 4] = ["--share", "10", "--size", "1M"];

/// The binary under test, about to run `bench` with `arguments`.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = testkit::running_program::by_signals(env!("CARGO_BIN_EXE_straddle"));
    let share = if arguments.contains(&"--share") { &[][..] } else { &WHOLE };
    command.args(["bench", "--seed", "1"]).args(share).args(arguments);
    command.env("LC_ALL", "C.UTF-8").env_remove("STRADDLE_NO_PROGRESS");
    command
}

/// `straddle bench` with `arguments`.
pub(crate) fn bench(arguments: &[&str]) -> Ran {
    Ran::of(&mut command(arguments))
}

/// Returns what is said on standard error beside what is going to be written, which comes first.
pub(crate) fn said(ran: &Ran) -> &str {
    let (first, rest) = ran.errors.split_once('\n').unwrap_or_default();
    let announced = ["note: writes at most ", "note: overwrites the first "];
    if announced.iter().any(|words| first.starts_with(words)) { rest } else { &ran.errors }
}

/// `straddle bench` with `arguments`, going on by itself.
pub(crate) fn going(arguments: &[&str]) -> Going {
    Going::with(&mut command(arguments))
}

/// The document of `straddle bench --json` with `arguments`, and the exit status.
pub(crate) fn measured(arguments: &[&str]) -> (Value, i32) {
    let ran = bench(&[&["--json"], arguments].concat());
    (ran.document(), ran.status.unwrap_or_else(|| panic!("it exits: {ran:?}")))
}
