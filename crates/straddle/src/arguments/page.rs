//! Arguments of `straddle report`.

use std::path::PathBuf;

use clap::Args;

use super::common::help;

/// Make one HTML page from result files
///
/// The page holds all it needs: it opens without a network, runs no script, can be printed, and can
/// be read on a phone. If many hosts ran the same measurement, the page names those that stand out
/// among drives of the same model and firmware. Nothing is measured; the same files give the same
/// bytes.
#[derive(Debug, Args)]
#[command(after_help = help("report", "\
Examples:
  straddle report -o page.html bench.json fsync.json
  straddle report results/*.json > fleet.html       many hosts side by side
  straddle check --json | straddle report - > page.html"))]
pub(crate) struct Report {
    /// Files written with --json of check, bench, fsync, probe, compare, trace or drive simulate
    ///
    /// `-` reads standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Write the page to this file, whole or not at all; - is standard output
    ///
    /// An existing file is replaced only if it holds a page.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}
