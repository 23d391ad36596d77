//! What `bench` and `fsync` share: how a result is printed, and where it is kept.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

/// How a result is printed, and where it is kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Printed {
    /// How to print
    #[arg(long, value_enum, default_value_t = BenchFormat::Table, value_name = "FORMAT")]
    format: BenchFormat,

    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Also write the whole result, with its histograms, to this file; - prints it, as --json
    ///
    /// It replaces a result, and nothing else.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Show no progress while it measures
    #[arg(
        long,
        env = "STRADDLE_NO_PROGRESS",
        value_parser = clap::builder::FalseyValueParser::new(),
        action = clap::ArgAction::SetTrue
    )]
    pub(crate) no_progress: bool,
}

impl Printed {
    /// How to print.
    pub(crate) fn format(&self) -> BenchFormat {
        let prints_result = self.output.as_deref().is_some_and(is_standard_output);
        match self.format {
            _ if self.json => BenchFormat::Json,
            BenchFormat::Table if prints_result => BenchFormat::Json,
            format => format,
        }
    }
}

/// Whether what goes to `path` is printed on standard output instead; in every command.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchFormat {
    /// For people
    Table,
    /// One document: straddle generate schema bench or fsync
    Json,
    /// As fio prints, for programs that read that
    FioJson,
}
