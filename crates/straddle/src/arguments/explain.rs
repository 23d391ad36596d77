//! Arguments of `straddle explain`.

use clap::Args;

use super::common::help;
use super::completion_values::CODES;

/// Explain a code, a word, a question or a log line; without one, list all pages
///
/// A log line may be pasted whole, with its times and numbers, with or without quotes. For other
/// words, shows the page whose name they hold, if one answers them all; else up to three titles of
/// near pages, and exit code 5.
#[derive(Debug, Args)]
#[command(after_help = help("explain", "\
Examples:
  straddle explain ST101                    # a finding
  straddle explain ashift                   # a storage term
  straddle explain ST101 granule            # several pages at once
  straddle explain which ashift             # a question that holds a page's name
  straddle explain slow fdatasync           # a log line, or a part of it
  journalctl -u etcd | straddle explain -   # explain all known lines, each once
  straddle explain history                  # default starts of each partitioner
  straddle explain drives                   # the pages of one group
  straddle explain                          # list of all pages"))]
pub(crate) struct Explain {
    /// A code, a word, a log line or a group; - reads log lines from standard input
    #[arg(
        value_name = "WORDS",
        allow_hyphen_values = true,
        value_parser = CODES,
        hide_possible_values = true
    )]
    pub(crate) words: Vec<String>,
}
