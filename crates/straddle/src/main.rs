//! `straddle`: words in, words out. The only place that knows both Linux and everything else.

mod arguments;
mod check;
mod convert;
mod exit;
mod explain;
mod machine;
mod printer;
mod show;
mod target;
mod title;

use clap::Parser as _;

use arguments::{Arguments, Command};

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Check(check) => check::run(check),
        Command::Explain(explain) => explain::run(explain),
    };
    exit::code(done)
}
