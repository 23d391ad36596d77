//! Arguments of `straddle draw`.

use std::path::PathBuf;

use clap::Args;

use super::check::{Check, FailOn, Format};
use super::common::{Bytes, Unknown, help};
use super::subject::Subject;

/// Draw the layers of disks and images, and the first bad boundary to scale
///
/// Drives are at the bottom; a misaligned layer is shifted to the right. The picture is text for a
/// terminal, or an SVG image with -o. It shows what `straddle check` finds; targets are only read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
#[command(after_help = help("draw", "\
Examples:
  straddle draw                            # every disk of this machine
  straddle draw /dev/sda                   # one disk with all that is on it
  straddle draw -o stack.svg disk.raw      # an image for a ticket or a page
  straddle draw --on 512e disk.raw         # as if on a 512e disk
  straddle draw --sysroot other.sysroot    # another machine, captured there"))]
pub(crate) struct Draw {
    #[command(flatten)]
    subject: Subject,

    /// Write an SVG image to this file; - is standard output
    ///
    /// The image needs no fonts and no network, and turns dark with the reader's screen. The file
    /// is written whole or not at all. An existing file is replaced only if it is such an image.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    exact: Bytes,
}

impl Draw {
    /// Returns the check whose result is drawn. What it finds is no failure of drawing.
    pub(crate) fn check(&self) -> Check {
        Check {
            subject: self.subject.clone(),
            format: if self.output.is_some() { Format::Svg } else { Format::Picture },
            json: false,
            explain: false,
            only_bad: false,
            exact: self.exact,
            watch: None,
            save: None,
            fail_on: FailOn::Never,
            unknown: Unknown { is_allowed: true },
            rules: Vec::new(),
            message_bytes: 80,
            keep: false,
            is_cached: false,
            max_age: 0,
        }
    }
}
