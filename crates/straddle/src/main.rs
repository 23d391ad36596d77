//! The program: its words go to the library, which ends it.

fn main() -> std::process::ExitCode {
    straddle::run(std::env::args_os().collect())
}
