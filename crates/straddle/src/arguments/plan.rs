//! Arguments of `straddle plan`.

use std::path::PathBuf;

use clap::Args;
use stack::Condition;

use super::common::{IgnoreMeasuredOption, Json, help};

/// Plan the cheapest change that aligns a disk's partitions and keeps all data
///
/// Shows every partition before and after, the reason, the gain, and what no move can fix. Nothing
/// is written to the disk; --script prints a shell script that carries out the plan.
#[derive(Debug, Args)]
#[command(after_help = help("plan", "\
Examples:
  straddle plan /dev/sda                       # before and after
  straddle plan disk.raw --on granule=16K      # for a disk with 16 KiB granules
  straddle plan disk.raw --on 4Kn              # for 4096-byte sectors
  straddle plan --new /dev/sdb                 # how to lay out an empty disk
  straddle plan --new /dev/sdb -o new.json     # a plan of its first table
  straddle apply new.json --dry-run            # what that would write
  straddle plan /dev/sda --script -o plan.sh   # make a script; read it, back up
  sh plan.sh /dev/sda /mnt/usb/work            # run it; if interrupted, again"))]
pub(crate) struct Plan {
    /// A disk, a partition of it, or an image file
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,

    /// Plan for this disk: 512n, 512e, 4Kn, iu=16K, origin=3584, stripe=64Kx3
    ///
    /// Takes the same values as straddle check --on.
    #[arg(long, value_name = "DISK")]
    pub(crate) on: Option<Condition>,

    #[command(flatten)]
    pub(crate) measured: IgnoreMeasuredOption,

    /// Show how to lay out an empty disk: first start, ashift, options of mkfs and other tools
    ///
    /// Commands that erase data say so. They are left out if anything was recognized on the disk.
    /// With -o or --json: a plan of one partition on all of the disk, for straddle apply.
    #[arg(long, conflicts_with = "script")]
    pub(crate) new: bool,

    /// Print a shell script that carries out the plan
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub(crate) script: bool,

    #[command(flatten)]
    pub(crate) document: Json,

    /// Also write the plan as JSON to this file; with --script, write the script there instead
    ///
    /// An existing file is replaced only if it is a plan or a script of straddle.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}
