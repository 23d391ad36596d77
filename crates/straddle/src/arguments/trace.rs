//! Arguments of `straddle trace`.

use std::path::PathBuf;

use clap::Args;

use super::common::{Bytes, IgnoreMeasuredOption, Json, Unknown, help};
use super::values::size_above_0;

/// Show where the bytes of a file lie, layer by layer, and how they are aligned
///
/// Follows every extent through file system, volumes, arrays, partitions and loop devices down to
/// the drives' addresses. Nothing is written, unless --sync asks for it.
#[derive(Debug, Args)]
#[command(after_help = help("trace", "\
Examples:
  straddle trace /var/lib/mysql/ibdata1          every extent, to the drives
  straddle trace --size 16K ibdata1              what its 16 KiB pages cost
  straddle trace --offset 1M --length 64K file   a part of it
  straddle trace --json file                     for programs

An extent is aligned to a unit (granule, chunk, full stripe) when the file's own multiples of the
unit lie on the unit's boundaries."))]
pub(crate) struct Trace {
    /// A regular file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// First byte of the file to trace: 1M
    #[arg(long, value_name = "SIZE", value_parser = units::prefix::parse, default_value = "0")]
    pub(crate) offset: u64,

    /// Number of bytes to trace; if omitted to the file's end
    #[arg(long, value_name = "SIZE", value_parser = units::prefix::parse)]
    pub(crate) length: Option<u64>,

    /// Count what reads and writes of this size cost, one after another: 16K
    #[arg(long, alias = "io", value_name = "SIZE", value_parser = size_above_0)]
    pub(crate) size: Option<u64>,

    /// Flush the file first; otherwise delayed allocations are reported as such
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
