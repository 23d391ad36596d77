//! Options that several commands have: each is defined once.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use crate::exit::table;

/// When to use color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// One document instead of text for people.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Json {
    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// Option that prints exact sizes.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Bytes {
    /// Also print sizes in bytes
    #[arg(long, short, help_heading = "Output")]
    pub(crate) bytes: bool,
}

/// Option for the exit code of a missing verdict.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Unknown {
    /// Exit with 0 instead of 5 if there is no verdict
    ///
    /// For scripts that accept a missing verdict. All other exit codes stay the same.
    #[arg(id = "allow_unknown", long = "allow-unknown", help_heading = "Exit code")]
    pub(crate) is_allowed: bool,
}

/// Option that ignores measured granules.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct IgnoreMeasuredOption {
    /// Ignore measured granules: those saved on this machine, and the drive table
    #[arg(id = "ignore_measured", long = "ignore-measured", help_heading = "Judging")]
    pub(crate) is_ignored: bool,
}

/// The directory of node_exporter's textfile collector.
#[derive(Clone, Debug, Args)]
pub(crate) struct Textfile {
    /// Write metrics for node_exporter to a file in this directory
    ///
    /// `straddle export` writes straddle.prom, `straddle watch` straddle_watch.prom, every 10
    /// seconds. The file is written under another name first, then renamed.
    #[arg(id = "textfile", long = "textfile", value_name = "DIR", help_heading = "Output")]
    pub(crate) directory: Option<PathBuf>,
}

/// A captured machine in place of this one.
#[derive(Clone, Debug, Args)]
pub(crate) struct Sysroot {
    /// Use a captured machine instead of this one: a file of `straddle generate sysroot`, or a
    /// directory
    #[arg(id = "sysroot", long, value_name = "TREE", help_heading = "Judging")]
    pub(crate) tree: Option<PathBuf>,
}

/// Options for the start of a measurement.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Bounds")]
pub(crate) struct Start {
    /// Random seed; chosen at random and printed if omitted
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Show how many bytes would be written, for how long, and the effect on the drive; then stop
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
}

impl Start {
    /// Returns the seed of a run that began at `started`: any number will do that another run is
    /// unlikely to have; it is printed.
    pub(crate) fn seed(&self, started: Timestamp) -> u64 {
        let drawn = u64::try_from(started.as_nanosecond().rem_euclid(1 << 53)).unwrap_or(1);
        self.seed.unwrap_or(drawn)
    }
}

/// Options for the file that keeps a result, and for what is shown while measuring.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ResultOptions {
    /// Also write the whole result, with histograms, to this file; - prints it, like --json
    ///
    /// An existing file is replaced only if it is a result of straddle.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Do not show progress while measuring
    #[arg(
        long,
        env = "STRADDLE_NO_PROGRESS",
        value_parser = clap::builder::FalseyValueParser::new(),
        action = clap::ArgAction::SetTrue
    )]
    pub(crate) no_progress: bool,
}

impl ResultOptions {
    /// Returns whether the result goes to standard output in place of a table.
    pub(crate) fn is_printed(&self) -> bool {
        self.output.as_deref().is_some_and(is_standard_output)
    }
}

/// Options for the format of a result, and for the file that keeps it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Printed {
    /// Output format
    #[arg(long, value_enum, default_value_t = BenchFormat::Table, value_name = "FORMAT")]
    format: BenchFormat,

    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    #[command(flatten)]
    pub(crate) kept: ResultOptions,
}

impl Printed {
    /// Returns the format to print in.
    pub(crate) fn format(&self) -> BenchFormat {
        match self.format {
            _ if self.json => BenchFormat::Json,
            BenchFormat::Table if self.kept.is_printed() => BenchFormat::Json,
            format => format,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchFormat {
    /// For people
    Table,
    /// One JSON document; `straddle generate schema` describes it
    Json,
    /// JSON in fio's form, for programs that read fio's JSON
    FioJson,
    /// Nagios, Icinga and Naemon; exit codes: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN
    Nagios,
}

/// Returns whether what goes to `path` is printed on standard output instead; in every command.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

/// Text after the options in the help of `command`: `examples`, and its exit codes.
pub(super) fn help(command: &str, examples: &str) -> String {
    format!("{examples}\n\n{}", table::help(command))
}
