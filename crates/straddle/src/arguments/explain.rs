//! What may be typed behind `straddle explain`.

use clap::Args;

/// Say what a code, a word or a log line means; without one, list all
///
/// A whole line of a log will do, with its times and numbers, as one argument or as several.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  straddle explain ST101                     a finding
  straddle explain ashift                    a word of the field
  straddle explain slow fdatasync            a log line, or the part of it that stays the same
  journalctl -u etcd | straddle explain -    every line that is known, once each
  straddle explain history                   what each partitioner did by default
  straddle explain drives                    the words of one group
  straddle explain                           all there is

Exit codes:
  0  explained
  2  not known; what comes nearest is named")]
pub(crate) struct Explain {
    /// A code, a word, a log line, a group; `-` reads lines from standard input
    #[arg(value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}
