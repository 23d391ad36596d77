//! What may be typed behind `straddle probe`.

use std::path::PathBuf;

use clap::Args;

use super::printed::is_standard_output;
use super::raw_device::RawDevice;
use super::{Unknown, help, seconds, size_above_0};

/// Find what a drive really writes as one, by measuring, and what to tell tools
///
/// Writes to a scratch file of its own in TARGET, bounded in bytes and seconds, which has no name
/// and is gone however the program ends. Raw devices are read. An answer is given only where every
/// comparison says the same; anything else is "cannot tell", with the reason.
#[derive(Debug, Args)]
#[command(after_help = help("probe", "\
Examples:
  straddle probe /data                     granule, chunk, depth, turns of the drive under /data
  straddle probe /data --dry-run           what that would write, and for how long
  straddle probe /dev/sdb                  reads alone: chunk, members, depth
  straddle probe /dev/sdb --write-device --dry-run
                                           what writing to it would overwrite, or why it may not
  straddle probe /dev/sdb --write-device --confirm SERIAL
                                           writes too: everything on it may be lost
  straddle probe /data --explain           every comparison with its interval

What is found of a drive that has a WWN or a serial number is kept for straddle check, in
$STATE_DIRECTORY, else $XDG_STATE_HOME/straddle, else ~/.local/state/straddle."))]
pub(crate) struct Probe {
    /// A directory or mount point, where the scratch file will be; or a block device
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,

    /// The most bytes to write, the scratch file included
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = size_above_0,
        default_value = "768M",
        help_heading = "Bounds"
    )]
    pub(crate) bytes_max: u64,

    /// The longest time to measure: 90s, 5m, 1h; a plain number is seconds
    #[arg(
        long,
        value_name = "TIME",
        default_value_t = 60,
        value_parser = seconds,
        allow_negative_numbers = true,
        help_heading = "Bounds"
    )]
    pub(crate) seconds: u32,

    /// Decides all orders and places; printed, and drawn where it is not given
    #[arg(long, value_name = "N", help_heading = "Bounds")]
    pub(crate) seed: Option<u64>,

    /// Say what would be written, for how long; then stop
    #[arg(long, short = 'n', help_heading = "Bounds")]
    pub(crate) dry_run: bool,

    /// Do not keep what is found
    #[arg(long, help_heading = "Bounds")]
    pub(crate) no_save: bool,

    #[command(flatten)]
    pub(crate) raw: RawDevice,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Also write the whole result to this file; - prints it, as --json
    ///
    /// It replaces a result, and nothing else.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,

    /// Show no progress while it measures
    #[arg(
        long,
        env = "STRADDLE_NO_PROGRESS",
        value_parser = clap::builder::FalseyValueParser::new(),
        action = clap::ArgAction::SetTrue,
        help_heading = "Output"
    )]
    pub(crate) no_progress: bool,

    #[command(flatten)]
    pub(crate) unknown: Unknown,

    /// Show every comparison with its interval
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
}

impl Probe {
    /// Whether the document is printed, and no table.
    pub(crate) fn prints_document(&self) -> bool {
        self.json || self.output.as_deref().is_some_and(is_standard_output)
    }
}
