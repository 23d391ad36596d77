//! Arguments of `straddle explain`.

use clap::Args;

use super::common::help;
use super::completion_values::CODES;

/// Explain a code, a word, a question or a log line; without one, list all pages
///
/// Log lines may be pasted whole, with their times and numbers, quoted or not. For other words,
/// shows the page that fits best, and names the next best pages.
#[derive(Debug, Args)]
#[command(after_help = help("explain", "\
Examples:
  straddle explain ST101                     a finding
  straddle explain ashift                    a word of the field
  straddle explain ST101 granule             several at once
  straddle explain which ashift              a question: the closest page
  straddle explain slow fdatasync            a log line, or a part of it
  journalctl -u etcd | straddle explain -    every line that is known, once each
  straddle explain history                   defaults of each partitioner
  straddle explain drives                    the words of one group
  straddle explain                           all there is"))]
pub(crate) struct Explain {
    /// A code, a word, a log line, a group; `-` reads lines from standard input
    #[arg(
        value_name = "WORDS",
        allow_hyphen_values = true,
        value_parser = CODES,
        hide_possible_values = true
    )]
    pub(crate) words: Vec<String>,
}
