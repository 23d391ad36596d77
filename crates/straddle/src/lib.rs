//! `straddle`: words in, words out. The only place that knows both Linux and everything else.
//!
//! The commands that measure meet the machine through `world` alone, so that tests run them from
//! their words to their exit code in a world of drive models under a simulated clock.
#![expect(clippy::disallowed_methods, reason = "commands start programs and take times")]

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
mod world;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};
use world::World;
use world::this_machine::ThisMachine;

/// Runs the command that `words` type, the first of which is the program's name, on this machine;
/// returns the code that the process ends with.
#[must_use]
pub fn run(words: &[OsString]) -> ExitCode {
    shared::bug::show_panics_as_errors();
    // Without the handler, a write over the limit ends the process without a word.
    let _ = host::Interrupt::fail_writes_over_the_limit();
    let done = shared::bug::caught(|| run_in(words.to_vec(), &ThisMachine));
    ExitCode::from(done.unwrap_or_else(|bug| exit::bug(words, &bug)))
}

/// Runs the command that `words` type; its measurements are made in `world`. Returns its exit
/// code.
fn run_in<W: World>(mut words: Vec<OsString>, world: &W) -> u8 {
    let is_bare = words.len() == 1;
    if is_bare {
        words.push("check".into());
    }
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) => return exit::misuse(&words, &error),
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
        Command::Bench(bench) => bench::run(bench, world),
        Command::Probe(probe) => probe::run(probe, world),
        Command::Compare(compare) => compare::run(compare),
        Command::Fsync(fsync) => fsync::run(fsync, world),
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
    exit::code(&arguments, done, &world.printer())
}
