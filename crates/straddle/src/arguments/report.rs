//! Arguments of `straddle report`.

use std::path::PathBuf;

use clap::Args;

use super::common::help;

/// Make one HTML page from result files
///
/// The page is one file: it works offline and without scripts, on paper and on a phone. If many
/// hosts ran the same measurement, the page compares those with the same drive model and firmware,
/// and names each that differs. Nothing is measured; the same files always give the same page.
#[derive(Debug, Args)]
#[command(after_help = help("report", "\
Examples:
  straddle report -o page.html bench.json fsync.json
  straddle report results/*.json > fleet.html       # many hosts side by side
  straddle check --json | straddle report - > page.html"))]
pub(crate) struct Report {
    /// Result files: of --json of check, bench, fsync, probe, compare, trace and drive simulate
    ///
    /// Also those that bench, fsync and probe save with -o. `-` reads standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Write the page to this file; - is standard output
    ///
    /// Without it the page goes to standard output, unless that is a terminal. The file is written
    /// whole or not at all. An existing file is replaced only if it is a page
    /// of straddle.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}
