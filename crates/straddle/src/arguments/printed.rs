//! Options that `bench` and `fsync` share: the format of a result, and the file that keeps it.

use clap::{Args, ValueEnum};

use super::common::Kept;

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
    pub(crate) kept: Kept,
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
    /// One document; straddle generate schema describes it
    Json,
    /// JSON as fio prints it, for programs that read fio's JSON
    FioJson,
}
