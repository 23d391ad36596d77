//! The program: its words go to the library, which ends it.

use std::ffi::OsString;

fn main() -> std::process::ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    straddle::run(&words)
}
