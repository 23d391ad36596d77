//! Arguments of `straddle convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use units::SectorSize;

use super::common::{Json, help};

/// Convert an image or a disk between 512-byte and 4096-byte sectors
///
/// Rewrites the partition table and rebuilds FAT file systems with their files; every other byte
/// stays. Refuses what cannot be used on the new sectors, with the reason, before anything is
/// written. Reads raw, qcow2, VDI, VHDX and VMDK images. -o writes a new raw image; --plan plans a
/// change in place, of a disk or of a raw or qcow2 image.
#[derive(Debug, Args)]
#[command(after_help = help("convert", "\
Examples:
  straddle convert disk.raw --sector 4096 --dry-run      # what fits, what does not, what changes
  straddle convert disk.qcow2 --sector 4096 -o new.raw   # a new raw image for a 4Kn disk
  straddle convert disk.raw --sector 4096 --plan c.json  # plan a change in place
  straddle apply c.json --dry-run                        # what that would write"))]
#[command(group = clap::ArgGroup::new("way").required(true).multiple(true))]
pub(crate) struct Convert {
    /// An image file, or a disk
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,

    /// Logical sector of the disk that it is for, in bytes
    #[arg(long, value_enum, value_name = "BYTES")]
    pub(crate) sector: LogicalSector,

    /// Write the converted disk to this new file, which must not exist
    #[arg(long, short, value_name = "FILE", group = "way")]
    pub(crate) output: Option<PathBuf>,

    /// Write a plan that converts it in place, for straddle apply
    ///
    /// An existing file is replaced only if it is a plan of straddle.
    #[arg(long, value_name = "FILE", group = "way", conflicts_with_all = ["output", "json"])]
    pub(crate) plan: Option<PathBuf>,

    /// Show what fits, what does not and what would change; then stop
    #[arg(long, short = 'n', group = "way")]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) document: Json,
}

/// A logical sector that disks have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogicalSector {
    /// 512n and 512e disks
    #[value(name = "512")]
    B512,
    /// 4Kn disks
    #[value(name = "4096", alias = "4k")]
    B4096,
}

impl LogicalSector {
    pub(crate) fn size(self) -> SectorSize {
        match self {
            LogicalSector::B512 => SectorSize::B512,
            LogicalSector::B4096 => SectorSize::B4096,
        }
    }
}
