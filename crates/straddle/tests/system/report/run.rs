//! Running the binary, and results that it wrote.

use std::process::{Command, Stdio};

use testkit::{Scratch, scratch::text};

pub(crate) use testkit::running_program::Ran;

/// The binary, about to run with `arguments`.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    command.args(arguments).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command
}

/// `straddle report` with `arguments`.
pub(crate) fn report(arguments: &[&str]) -> Ran {
    Ran::of(&mut command(&[&["report"], arguments].concat()))
}

/// A result of `straddle check` of an empty image, as its file in `scratch`.
pub(crate) fn checked(scratch: &Scratch) -> String {
    let image = scratch.image("disk.raw", 8 << 20);
    let ran = Ran::of(&mut command(&["check", "--json", text(&image)]));
    text(&scratch.file("check.json", ran.out.as_bytes())).to_owned()
}
