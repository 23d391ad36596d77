//! `straddle`: words in, words out. The only place that knows both Linux and everything else.

mod apply;
mod arguments;
mod atomic;
mod bench;
mod check;
mod compare;
mod convert;
mod demo;
mod draw;
mod drives;
mod emit;
mod exit;
mod explain;
mod export;
mod fsync;
mod generate;
mod lexicon;
mod plan;
mod probe;
mod report_page;
mod shared;
mod trace;
mod watch;

use clap::Parser as _;

use arguments::{Arguments, Command};

fn main() -> std::process::ExitCode {
    shared::bug::show_panics_as_errors();
    let mut typed: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let is_bare = typed.len() == 1;
    if is_bare {
        typed.push("check".into());
    }
    let done = shared::bug::caught(|| run(&typed, is_bare));
    done.unwrap_or_else(|bug| exit::bug(&typed, &bug))
}

/// Runs the command that was `typed`, and returns the code of the process.
fn run(typed: &[std::ffi::OsString], is_bare: bool) -> std::process::ExitCode {
    let arguments = match Arguments::try_parse_from(typed) {
        Ok(arguments) => arguments,
        Err(error) => return exit::misuse(typed, &error),
    };
    shared::printer::use_color(arguments.color);
    let done = match &arguments.command {
        Command::Check(check) => check::run(check),
        Command::Draw(draw) => draw::run(draw),
        Command::Demo(demo) => demo::run(demo),
        Command::Explain(explain) => explain::run(explain),
        Command::Trace(trace) => trace::run(trace),
        Command::Plan(plan) => plan::run(plan),
        Command::Apply(apply) => apply::run(apply),
        Command::Convert(convert) => convert::run(convert),
        Command::Bench(bench) => bench::run(bench),
        Command::Probe(probe) => probe::run(probe),
        Command::Compare(compare) => compare::run(compare),
        Command::Fsync(fsync) => fsync::run(fsync),
        Command::Watch(watch) => watch::run(watch),
        Command::Atomic(atomic) => atomic::run(atomic),
        Command::Report(report) => report_page::run(report),
        Command::Export(export) => export::run(export),
        Command::Emit(emit) => emit::run(emit),
        Command::Drive(drive) => drives::run(drive),
        Command::Generate(generate) => generate::run(&generate.what),
        Command::Version => shared::printer::print(&format!("straddle {}\n", arguments::VERSION))
            .map(|_| exit::CommandOutcome::Done)
            .map_err(anyhow::Error::from),
    };
    if is_bare {
        shared::printer::note("straddle alone runs straddle check; all commands: straddle --help");
    }
    exit::code(&arguments, done)
}
