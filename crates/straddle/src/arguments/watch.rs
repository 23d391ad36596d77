//! Arguments of `straddle watch`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use report::watch::OffLimits;
use stack::Condition;

use super::common::{IgnoreMeasuredOption, Json, Textfile, help};
use super::values::seconds;

/// Show what the running workload does to the granules of drives, live
///
/// Counts reads and writes that start or end off the granule, in the kernel, for each drive; shows
/// who makes them, and what follows. Nothing is written. Without root less is shown, and what is
/// missing is said.
#[derive(Debug, Args)]
#[command(after_help = help("watch", "\
Examples:
  straddle watch                                    # every drive, until q or Ctrl-C
  straddle watch /var/lib/mysql --seconds 60        # the drives under a directory
  straddle watch /dev/sda --pid 4242                # writes and sync calls of a process
  straddle watch --cgroup system.slice/db.service   # those of a control group
  straddle watch /dev/nvme0n1 --on granule=16K      # as if its granule were 16 KiB
  straddle watch --textfile /var/lib/node_exporter  # metrics, until it is ended
  straddle watch --format nagios --warn 5           # a monitor's plugin

On a terminal the table is drawn again each second. Elsewhere one summary is
printed, after 10 seconds unless --seconds says otherwise.

A drive counts requests after merging; devices without a queue of requests (md,
most of device-mapper, zram) count bios, which are not merged yet. No I/O can
be off 512 bytes: the kernel moves whole sectors of 512 bytes."))]
pub(crate) struct Watch {
    /// Device, or file or directory on it; default: every drive
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<PathBuf>,

    /// Count against the granule of this disk: 512n, 512e, 4Kn, granule=16K, origin=3584
    ///
    /// In the words of straddle check --on.
    #[arg(long, value_name = "DISK", help_heading = "Judging")]
    pub(crate) on: Option<Condition>,

    /// Watch for this time, such as 60, 90s or 5m, then print a summary
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Bounds")]
    pub(crate) seconds: Option<u32>,

    /// Count only what this process does, its threads, and processes that it started
    #[arg(long, value_name = "PID", conflicts_with = "cgroup", help_heading = "Counting")]
    pub(crate) pid: Option<u32>,

    /// Count only what this control group (cgroup v2) does: a path, or one below /sys/fs/cgroup
    #[arg(long, value_name = "PATH", help_heading = "Counting")]
    pub(crate) cgroup: Option<PathBuf>,

    /// Count every operation off the granule on a busy device too, which slows it down
    ///
    /// Without it, counting pauses after 25,000 operations in a second, until the next.
    #[arg(long, help_heading = "Counting")]
    pub(crate) exact: bool,

    /// Output format
    #[arg(
        long,
        value_enum,
        default_value_t = WatchFormat::Table,
        conflicts_with_all = ["json", "jsonl"],
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    format: WatchFormat,

    /// Short for --format jsonl
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    jsonl: bool,

    /// With --format nagios: WARNING above this share of writes off the granule, in percent
    #[arg(
        long,
        value_name = "PERCENT",
        value_parser = clap::value_parser!(u8).range(0..=100),
        help_heading = "Exit code"
    )]
    warn: Option<u8>,

    /// With --format nagios: CRITICAL above this share of writes off the granule, in percent
    #[arg(
        long,
        value_name = "PERCENT",
        value_parser = clap::value_parser!(u8).range(0..=100),
        help_heading = "Exit code"
    )]
    critical: Option<u8>,

    #[command(flatten)]
    pub(crate) textfile: Textfile,

    #[command(flatten)]
    pub(crate) measured: IgnoreMeasuredOption,

    #[command(flatten)]
    document: Json,
}

impl Watch {
    /// Returns the format to print in.
    pub(crate) fn format(&self) -> WatchFormat {
        match self.format {
            _ if self.document.json => WatchFormat::Json,
            _ if self.jsonl => WatchFormat::Jsonl,
            format => format,
        }
    }

    /// Returns the limits of a monitor.
    pub(crate) fn limits(&self) -> OffLimits {
        OffLimits { warn_percent: self.warn, critical_percent: self.critical }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchFormat {
    /// For people
    Table,
    /// One JSON document at the end
    Json,
    /// One JSON document for each second, each on a line
    Jsonl,
    /// Nagios, Icinga and Naemon; exit codes: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN
    Nagios,
}
