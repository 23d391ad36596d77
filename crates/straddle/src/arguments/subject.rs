//! Targets of check and draw, and how they are read: defined once.

use std::path::PathBuf;

use clap::Args;
use stack::Condition;

use super::common::{IgnoreMeasuredOption, Sysroot};

/// Targets, and how they are read.
#[derive(Clone, Debug, Args)]
pub(crate) struct Subject {
    /// Devices, mount points, image files, directories with images
    ///
    /// A mount point means the device under it; any other directory, the images in it. Default:
    /// every disk of this machine.
    #[arg(value_name = "TARGET", help_heading = None::<&'static str>)]
    pub(crate) targets: Vec<PathBuf>,

    /// Judge as if on this disk: 512n, 512e, 4Kn, iu=16K, origin=3584, stripe=64Kx3
    ///
    /// Separate several values by commas: 512e,origin=3584. iu=16K, also granule=16K, is the unit
    /// that the drive maps; qlc-16k and qlc-64k name QLC drives with such units. The origin is the
    /// byte where the first granule starts. A stripe is chunk x data disks; add +1 or +2 for
    /// parity: stripe=64Kx3+1. Sizes may end in K, M or G (powers of 1024). A loop device, also
    /// under a mount, is judged as this disk, whatever its backing file is on.
    #[arg(long, value_name = "DISK", help_heading = "Judging")]
    pub(crate) on: Option<Condition>,

    #[command(flatten)]
    pub(crate) sysroot: Sysroot,

    #[command(flatten)]
    pub(crate) measured: IgnoreMeasuredOption,

    /// Also read files outside the image's directory, if the image names them
    ///
    /// An image can name backing files, data files and extents. By default straddle reads them only
    /// in the image's directory and below it: an untrusted image could name any file that you can
    /// read, and straddle would show its content. If the target is a directory, files outside an
    /// image's directory are never read.
    #[arg(long, help_heading = "Judging")]
    pub(crate) follow_references: bool,
}
