//! Arguments of `straddle export`.

use std::path::PathBuf;

use clap::Args;

use super::common::{Textfile, help};

/// Turn kept results into metrics for Prometheus
///
/// Reads results of check, fsync, bench and probe, and prints what they hold as metrics. Of several
/// results of the same thing, the newest is used. Nothing is measured.
#[derive(Debug, Args)]
#[command(after_help = help("export", "\
Examples:
  straddle check --keep                               # keep a result
  straddle export                                     # print its metrics
  straddle export check.json fsync.json               # those of result files
  straddle export --textfile /var/lib/node_exporter check.json
                                                      # straddle.prom for node_exporter"))]
pub(crate) struct Export {
    /// Result files: of --json of check, bench, fsync and probe, or saved by them
    ///
    /// `-` reads standard input. Without a file: last-check.json that check --keep wrote, and
    /// last-fsync.json, last-bench.json and last-probe.json beside it.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) textfile: Textfile,
}
