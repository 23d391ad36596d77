//! Arguments of `straddle trace`.

use std::path::PathBuf;

use clap::Args;

use super::common::{Bytes, IgnoreMeasuredOption, Json, Unknown, help};
use super::values::size_above_0;

/// Show where a file's bytes are on the drives, layer by layer, and whether they are aligned
///
/// Follows each extent through file system, volumes, arrays, partitions and loop devices down to
/// its address on a drive. Nothing is written, except with --sync.
#[derive(Debug, Args)]
#[command(after_help = help("trace", "\
Examples:
  straddle trace /var/lib/mysql/ibdata1          # every extent, down to a drive
  straddle trace --size 16K ibdata1              # what 16 KiB pages cost
  straddle trace --offset 1M --length 64K file   # only 64 KiB, from 1 MiB on
  straddle trace --json file                     # JSON, for programs

Aligned to a granule of 4 KiB means: each part of the file that starts at a
multiple of 4 KiB also starts on a granule of the drive. Chunks and full stripes
are judged in the same way."))]
pub(crate) struct Trace {
    /// File to trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// First byte of the file to trace, such as 1M
    #[arg(long, value_name = "SIZE", value_parser = units::prefix::parse, default_value = "0")]
    pub(crate) offset: u64,

    /// Number of bytes to trace; default: to the end of the file
    #[arg(long, value_name = "SIZE", value_parser = units::prefix::parse)]
    pub(crate) length: Option<u64>,

    /// Also show what it costs to read and write the file in pieces of this size, such as 16K
    #[arg(long, alias = "io", value_name = "SIZE", value_parser = size_above_0)]
    pub(crate) size: Option<u64>,

    /// Sync the file first; without this, data still in memory has no address yet
    #[arg(long)]
    pub(crate) sync: bool,

    #[command(flatten)]
    pub(crate) unknown: Unknown,

    #[command(flatten)]
    pub(crate) measured: IgnoreMeasuredOption,

    #[command(flatten)]
    pub(crate) document: Json,

    #[command(flatten)]
    pub(crate) exact: Bytes,
}
