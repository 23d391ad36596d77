//! What `bench` and `fsync` share: how a result is printed, and where it is kept.

use clap::{Args, ValueEnum};

use super::common::Kept;

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

    #[command(flatten)]
    pub(crate) kept: Kept,
}

impl Printed {
    /// How to print.
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
    /// As fio prints, for programs that read fio's JSON
    FioJson,
}
