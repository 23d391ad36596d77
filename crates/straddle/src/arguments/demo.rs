//! Arguments of `straddle demo`.

use clap::Args;

use super::common::help;

/// Show check, drive simulate and plan on a small misaligned image
///
/// Makes an image with one misaligned partition in a temporary directory, finds it, simulates its
/// cost on a 512e disk, and plans the fix. Needs no root and touches no device. Removes the image
/// at the end, also after Ctrl-C. TMPDIR sets the place.
#[derive(Debug, Args)]
#[command(after_help = help("demo", "\
Examples:
  straddle demo               # find, price and plan; takes seconds
  straddle demo --keep        # keep the image, to try more commands on it"))]
pub(crate) struct Demo {
    /// Keep the image, and print its path
    #[arg(long)]
    pub(crate) keep: bool,
}
