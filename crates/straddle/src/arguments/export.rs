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
  straddle check --json > check.json
  straddle export check.json fsync.json                 print the metrics
  straddle export --textfile /var/lib/node_exporter check.json
                                                        straddle.prom for node_exporter"))]
pub(crate) struct Export {
    /// Result files: of --json of check, bench, fsync and probe, or saved by them
    ///
    /// `-` reads standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) textfile: Textfile,
}
