//! Arguments of `straddle probe`.

use std::path::PathBuf;

use clap::Args;

use super::common::{Json, ResultOptions, Start, Unknown, help};
use super::raw_device::RawDevice;
use super::values::{seconds, size_above_0};

/// Measure the unit that a drive really writes as a whole, and print values for other tools
///
/// Writes only to its own scratch file in TARGET, within limits of bytes and time. The file is gone
/// however the program ends. Raw devices are only read, except with --write-device. Reports a value
/// only if all comparisons agree; otherwise says "cannot tell" and why.
#[derive(Debug, Args)]
#[command(after_help = help("probe", "\
Examples:
  straddle probe /data                     # the drive under /data
  straddle probe /data --dry-run           # how many bytes, for how long
  straddle probe /dev/sdb                  # reads only: chunk, members, depth
  straddle probe /dev/sdb --write-device --dry-run
                                           # what would be overwritten
  straddle probe /dev/sdb --write-device --confirm SERIAL
                                           # also writes: all data may be lost
  straddle probe /data --explain           # every comparison with its interval

If the drive has a WWN or a serial number, the result is saved for straddle
check: in $STATE_DIRECTORY, else $XDG_STATE_HOME/straddle, else
~/.local/state/straddle."))]
pub(crate) struct Probe {
    /// Directory or mount point for the scratch file, or a block device
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,

    /// Maximum bytes to write in total: filling the scratch file counts too
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = size_above_0,
        default_value = "768M",
        help_heading = "Bounds"
    )]
    pub(crate) bytes_max: u64,

    /// Maximum time to measure: 90s, 5m, 1h; a plain number is seconds
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

    /// Also write the drive's unit to this file, for others with the same model
    ///
    /// The file has model, firmware, format and every comparison, and no serial number, host or
    /// path. How to send it: drives/README.md in the source.
    #[arg(long, value_name = "FILE", requires = "license", help_heading = "Output")]
    pub(crate) contribute: Option<PathBuf>,

    /// License of the contributed file; type CC0-1.0 to give up your rights in it
    #[arg(
        long,
        value_name = "LICENSE",
        requires = "contribute",
        value_parser = [report::probe::MEASURED_DRIVE_LICENSE],
        help_heading = "Output"
    )]
    pub(crate) license: Option<String>,

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
