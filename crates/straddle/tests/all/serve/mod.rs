//! `straddle drive serve` as a user runs it.

mod nbd;

use std::process::Command;

use testkit::running_program::{Going, Ran, by_signals};

/// The words, about to run.
fn straddle(words: &[&str]) -> Command {
    let mut command = by_signals(env!("CARGO_BIN_EXE_straddle"));
    command.args(["drive"]).args(words).env("LC_ALL", "C.UTF-8");
    command
}

/// A drive that is served with these words.
fn served(words: &[&str]) -> Going {
    Going::with(straddle(&["serve"]).args(words))
}

/// Ends it as Ctrl-C does.
#[track_caller]
fn interrupted(mut going: Going) -> Ran {
    going.signal("INT");
    let ran = going.ended();
    assert_eq!(ran.status, Some(0), "{ran:?}");
    ran
}
