//! The command line: each argument with its help. Nothing here looks at the machine.

mod apply;
mod atomic;
mod bench;
mod check;
mod common;
mod completion_values;
mod convert;
mod demo;
mod draw;
mod drive;
mod emit;
mod explain;
mod export;
mod fsync;
mod generate;
mod plan;
mod power_cut;
mod probe;
mod raw_device;
mod report;
mod reproduce;
mod serve;
mod subject;
mod torture;
mod trace;
mod values;
mod watch;

use clap::{Parser, Subcommand};

use crate::exit::table;

pub(crate) use apply::Apply;
pub(crate) use atomic::Atomic;
pub(crate) use bench::{Compare, Durable, FileSystem, SuiteSteps, Unit};
pub(crate) use check::{Check, Format, RuleChange};
pub(crate) use common::{BenchFormat, Color, Printed, is_standard_output};
pub(crate) use convert::Convert;
pub(crate) use demo::Demo;
pub(crate) use draw::Draw;
pub(crate) use drive::{Drive, DriveFit, DriveList, DriveShow, DriveWhat, Simulate};
pub(crate) use emit::Emit;
pub(crate) use explain::Explain;
pub(crate) use export::Export;
pub(crate) use fsync::{FSYNC_SECONDS, Fsync, FsyncFailOn, FsyncRows, ROUND_TRIPS_MAX};
pub(crate) use generate::{Generate, GenerateWhat, Man, Raidtest, RaidtestKind, SchemaOf, Sysroot};
pub(crate) use plan::Plan;
pub(crate) use power_cut::{HalfWritten, Lie, Survivors};
pub(crate) use probe::Probe;
pub(crate) use raw_device::RawDevice;
pub(crate) use report::Report;
pub(crate) use reproduce::Reproduce;
pub(crate) use serve::{Detach, DriveGuard, Protocol, Serve};
pub(crate) use torture::{CutImage, CutPolicy, Torture, TortureFs};
pub(crate) use trace::Trace;
pub(crate) use watch::{Watch, WatchFormat};

/// The version of this build and the commit that it was built from; `unknown` outside of git.
pub(crate) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("STRADDLE_COMMIT"), ")");

/// Finds misalignment in every layer of a storage stack.
///
/// No command changes your data by default. bench, probe and fsync write only to a scratch file,
/// which they make and remove.
#[derive(Debug, Parser)]
#[command(
    name = "straddle",
    version = VERSION,
    propagate_version = true,
    max_term_width = 100,
    override_usage = "straddle [OPTIONS] [COMMAND]",
    after_help = "\
Start with:
  straddle                     # every disk of this machine: straddle check
  straddle demo                # the whole story on a small image, without root
  straddle check disk.raw      # a disk image
  straddle draw disk.raw       # its layers as a picture
  straddle explain ST101       # what a code in the output means
  straddle trace /data/db      # where a file's bytes are on the drives
  straddle plan /dev/sda       # how to align its partitions
  straddle convert disk.raw --sector 4096 -n
                               # whether an image can be used on a 4Kn disk
  straddle bench /data         # what misalignment costs there, measured
  straddle fsync /data         # how long a durable write takes there
  straddle watch               # what the running workload does to the drives
  straddle atomic /var/lib/mysql --for mysql
                               # may torn-page protection be switched off
  straddle report -o page.html *.json
                               # one page of all results
  straddle check --help        # all options and exit codes of check
  straddle explain exit codes  # what each exit code means"
)]
pub(crate) struct Arguments {
    /// When to use color; nothing is shown by color alone
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t = Color::Auto,
        value_name = "WHEN",
        help_heading = "Output"
    )]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(Check),
    Draw(Draw),
    Demo(Demo),
    Explain(Explain),
    Trace(Trace),
    Plan(Plan),
    Apply(Apply),
    Convert(Convert),
    Bench(Box<SuiteSteps>),
    Probe(Probe),
    Compare(Compare),
    Fsync(Box<Fsync>),
    Watch(Watch),
    Atomic(Atomic),
    Report(Report),
    Export(Export),
    Emit(Emit),
    Drive(Drive),
    Generate(Generate),
    /// Print the version and the commit
    #[command(after_help = table::help("version"))]
    Version,
}

impl Command {
    /// Returns the format that a monitor asked for; the table's where none did.
    pub(crate) fn monitor_format(&self) -> Format {
        let is_nagios = match self {
            Command::Check(check) => return check.chosen(),
            Command::Bench(bench) => bench.printed.format() == BenchFormat::Nagios,
            Command::Fsync(fsync) => fsync.printed.format() == BenchFormat::Nagios,
            Command::Watch(watch) => watch.format() == WatchFormat::Nagios,
            _ => false,
        };
        if is_nagios { Format::Nagios } else { Format::Table }
    }

    /// True if a missing verdict is to be taken as good.
    pub(crate) fn allows_unknown(&self) -> bool {
        match self {
            Command::Check(check) => check.unknown.is_allowed,
            Command::Trace(trace) => trace.unknown.is_allowed,
            Command::Bench(bench) => bench.unknown.is_allowed,
            Command::Probe(probe) => probe.unknown.is_allowed,
            Command::Compare(compare) => compare.unknown.is_allowed,
            Command::Fsync(fsync) => fsync.unknown.is_allowed,
            Command::Atomic(atomic) => atomic.unknown.is_allowed,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
