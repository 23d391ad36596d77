//! Running the binary, and results that it wrote.

use std::process::{Command, Output, Stdio};

use testkit::{Scratch, scratch::text};

/// What one run ended with and said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) errors: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
        let (out, errors) = (text(output.stdout), text(output.stderr));
        Ran { status: output.status.code(), out, errors }
    }
}

/// The binary, about to run with `arguments`.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    command.args(arguments).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command
}

/// `straddle report` with `arguments`.
pub(crate) fn report(arguments: &[&str]) -> Ran {
    let arguments = [&["report"], arguments].concat();
    command(&arguments).output().expect("the binary runs").into()
}

/// A result of `straddle check` of an empty image, as its file in `scratch`.
pub(crate) fn checked(scratch: &Scratch) -> String {
    let image = scratch.image("disk.raw", 8 << 20);
    let output = command(&["check", "--json", text(&image)]).output().expect("the binary runs");
    text(&scratch.file("check.json", &output.stdout)).to_owned()
}
