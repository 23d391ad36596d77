//! What may be typed. Help stands beside each word; nothing here looks at the machine.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use report::Severity;
use stack::Condition;

/// Finds every I/O boundary that a storage stack gets wrong.
///
/// Reading is the default: nothing here writes to a disk.
#[derive(Debug, Parser)]
#[command(
    name = "straddle",
    version,
    propagate_version = true,
    max_term_width = 100,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "\
Start with:
  straddle check              every disk of this machine
  straddle check disk.raw     an image
  straddle explain ST101      what a code in the output means
  straddle check --help       all options"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(Check),
    Explain(Explain),
}

/// Show the layers of disks and images: verdicts, costs and fixes
///
/// Without a target, every disk of this machine. Nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  straddle check                          every disk of this machine
  straddle check /dev/sda disk.qcow2      a disk and an image
  straddle check --on 4Kn disk.raw        will this image work on a 4Kn disk?
  straddle check --only-bad images/       a directory of images, the bad ones only
  straddle check /dev/sd[a-d]1            members of one array, judged together
  straddle check /data                    the device under a mount point
  straddle check --json disk.raw          for programs; the schema is in crates/report/schema

Exit codes:
  0  nothing at or above --fail-on
  1  something found
  2  misuse, or a target that could not be judged (its verdict is unknown)

`straddle explain CODE` says more of a finding, such as ST101.")]
pub(crate) struct Check {
    /// Devices, mount points, image files, directories with images
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<PathBuf>,

    /// Judge for this disk: 512n, 512e, 4Kn, granule=16K, origin=3584, stripe=64Kx3
    ///
    /// Join several by commas: 512e,origin=3584. A stripe is chunk x data disks; add +1 or +2 for
    /// parity: stripe=64Kx3+1. Sizes may end in K, M, G (1024).
    #[arg(long, value_name = "DISK", help_heading = "Judging")]
    pub(crate) on: Option<Condition>,

    /// How to print
    #[arg(
        long,
        value_enum,
        default_value_t = Format::Table,
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    pub(crate) format: Format,

    /// Short for --format json
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub(crate) json: bool,

    /// Show evidence, units and facts with their sources
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,

    /// Leave out targets without a warning or an error
    #[arg(long, help_heading = "Output")]
    pub(crate) only_bad: bool,

    /// Print exact numbers of bytes beside sizes
    #[arg(long, short, help_heading = "Output")]
    pub(crate) bytes: bool,

    /// Exit with 1 when a finding is at least this severe
    #[arg(
        long,
        value_enum,
        default_value_t = FailOn::Warning,
        value_name = "SEVERITY",
        help_heading = "Judging"
    )]
    pub(crate) fail_on: FailOn,

    /// Give a rule another severity, or `off`; may be repeated
    #[arg(long = "rule", value_name = "CODE=SEVERITY", help_heading = "Judging")]
    pub(crate) rules: Vec<RuleChange>,

    /// When to use colour; meaning never depends on it
    #[arg(
        long,
        value_enum,
        default_value_t = Colour::Auto,
        value_name = "WHEN",
        help_heading = "Output"
    )]
    pub(crate) color: Colour,
}

/// Say what a code means and how to fix it; without one, list all
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A code such as ST101, in any letter case
    pub(crate) code: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A tree for one target, a line each for many
    Table,
    /// One document
    Json,
    /// One line of JSON for each target
    Jsonl,
    /// For the test tab of a CI system
    Junit,
    /// For annotations in a code host
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Info,
    Warning,
    Error,
    Never,
}

impl FailOn {
    /// The least severity that makes the command fail; `None` for never.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            FailOn::Info => Some(Severity::Info),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Error => Some(Severity::Error),
            FailOn::Never => None,
        }
    }
}

/// A rule's severity as the user wants it; `None` switches it off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleChange {
    pub(crate) code: &'static str,
    pub(crate) severity: Option<Severity>,
}

impl FromStr for RuleChange {
    type Err = String;

    fn from_str(text: &str) -> Result<RuleChange, String> {
        let (code, severity) = text
            .split_once('=')
            .ok_or("write a code, `=` and info, warning, error or off: ST106=warning")?;
        let rule = stack::rule::rule(code)
            .ok_or_else(|| format!("`{code}` is no rule; `straddle explain` lists them"))?;
        let severity = match severity {
            "info" => Some(Severity::Info),
            "warning" => Some(Severity::Warning),
            "error" => Some(Severity::Error),
            "off" => None,
            other => return Err(format!("`{other}` is none of info, warning, error, off")),
        };
        Ok(RuleChange { code: rule.code, severity })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn rules_change_by_code_in_any_case() {
        let change: RuleChange = "st106=off".parse().unwrap();
        assert_eq!((change.code, change.severity), ("ST106", None));
        assert!("ST999=info".parse::<RuleChange>().is_err());
        assert!("ST106=loud".parse::<RuleChange>().is_err());
        assert!("ST106".parse::<RuleChange>().is_err());
    }
}
