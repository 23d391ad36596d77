//! Arguments of `straddle apply`.

use std::path::PathBuf;

use clap::Args;

use super::common::help;

/// Write the partition table of a plan, safe from power cuts, and undo it
///
/// Takes a plan of straddle plan -o that moves no data. Before the first write, the disk is checked
/// against the plan again, and the old table is saved. At every instant one whole copy of the old
/// or the new table is on the disk. After an interruption, the same command goes on.
#[derive(Debug, Args)]
#[command(after_help = help("apply", "\
Examples:
  straddle plan disk.raw -o plan.json                # make a plan
  straddle apply plan.json --dry-run                 # what would be written, and how to confirm
  straddle apply plan.json --confirm disk.raw        # write it to an image
  straddle apply plan.json --confirm SERIAL          # write it to a disk
  straddle apply --undo plan.json.undo --confirm SERIAL  # write the old table back"))]
pub(crate) struct Apply {
    /// A plan of straddle plan -o; with --undo, the record of the old table
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,

    /// Serial number or WWN of the disk; if it has none, PATH=BYTES: its path and exact size. Of an
    /// image, its file name
    #[arg(long, value_name = "SERIAL")]
    pub(crate) confirm: Option<String>,

    /// Show what would be written, where the old table is saved, and how to confirm; then stop
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,

    /// Write the old table back from this record
    #[arg(long)]
    pub(crate) undo: bool,

    /// Save the old table in this file instead of PLAN.undo; it must not exist
    #[arg(long, value_name = "FILE", conflicts_with = "undo")]
    pub(crate) undo_file: Option<PathBuf>,
}
