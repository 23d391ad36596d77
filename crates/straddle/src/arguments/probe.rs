//! Arguments of `straddle probe`.

use std::path::PathBuf;

use clap::Args;

use super::common::{Json, ResultOptions, Start, Unknown, help};
use super::raw_device::RawDevice;
use super::values::{seconds, size_above_0};

/// Measure a drive's real granule, and print the values to give to other tools
///
/// Writes to a scratch file of its own in TARGET, bounded in bytes and seconds, which has no name
/// and is gone however the program ends. Raw devices are only read. Reports a value only when all
/// comparisons agree; otherwise says "cannot tell" and why.
#[derive(Debug, Args)]
#[command(after_help = help("probe", "\
Examples:
  straddle probe /data                     of the drive under /data
  straddle probe /data --dry-run           how much is written, for how long
  straddle probe /dev/sdb                  reads alone: chunk, members, depth
  straddle probe /dev/sdb --write-device --dry-run
                                           what writing to it would overwrite, or why it may not
  straddle probe /dev/sdb --write-device --confirm SERIAL
                                           writes too: everything on it may be lost
  straddle probe /data --explain           every comparison with its interval

The result for a drive with a WWN or a serial number is saved for straddle check, in
$STATE_DIRECTORY, else $XDG_STATE_HOME/straddle, else ~/.local/state/straddle."))]
pub(crate) struct Probe {
    /// A directory or mount point, where the scratch file will be; or a block device
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,

    /// Most bytes to write, including the scratch file
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = size_above_0,
        default_value = "768M",
        help_heading = "Bounds"
    )]
    pub(crate) bytes_max: u64,

    /// Longest time to measure: 90s, 5m, 1h; a plain number is seconds
    #[arg(
        long,
        value_name = "TIME",
        default_value_t = 60,
        value_parser = seconds,
        allow_negative_numbers = true,
        help_heading = "Bounds"
    )]
    pub(crate) seconds: u32,

    #[command(flatten)]
    pub(crate) start: Start,

    /// Do not save the result for straddle check
    #[arg(long, help_heading = "Bounds")]
    pub(crate) no_save: bool,

    #[command(flatten)]
    pub(crate) raw: RawDevice,

    #[command(flatten)]
    pub(crate) document: Json,

    #[command(flatten)]
    pub(crate) kept: ResultOptions,

    #[command(flatten)]
    pub(crate) unknown: Unknown,

    /// Show every comparison with its interval
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
}

impl Probe {
    /// True if the document is printed, and no table.
    pub(crate) fn prints_document(&self) -> bool {
        self.document.json || self.kept.is_printed()
    }
}
