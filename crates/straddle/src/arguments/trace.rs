//! What may be typed behind `straddle trace`.

use std::path::PathBuf;

use clap::Args;

use super::{Unknown, help, size_above_0};

/// Show where the bytes of a file lie, layer by layer, and how they are aligned
///
/// Every extent is followed through file system, volumes, arrays, partitions and loop devices down
/// to the drives' addresses. Nothing is written, unless --sync asks for it.
#[derive(Debug, Args)]
#[command(after_help = help("trace", "\
Examples:
  straddle trace /var/lib/mysql/ibdata1          every extent, down to the drives
  straddle trace --io 16K ibdata1                what its 16 KiB pages cost to read and write
  straddle trace --offset 1M --length 64K file   a part of it
  straddle trace --json file                     for programs; see straddle generate schema trace

An extent is aligned to a unit (granule, chunk, full stripe) when the file's own multiples of the
unit lie on the unit's boundaries."))]
pub(crate) struct Trace {
    /// A regular file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The first byte of the file to trace: 1M
    #[arg(long, value_name = "SIZE", value_parser = units::prefix::parse, default_value = "0")]
    pub(crate) offset: u64,

    /// How many bytes to trace; to the file's end where it is not given
    #[arg(long, value_name = "SIZE", value_parser = units::prefix::parse)]
    pub(crate) length: Option<u64>,

    /// Count what reads and writes of this length cost, one behind the other: 16K
    #[arg(long, value_name = "SIZE", value_parser = size_above_0)]
    pub(crate) io: Option<u64>,

    /// Have the file written to its place first; without it, what waits in memory is said to
    #[arg(long)]
    pub(crate) sync: bool,

    #[command(flatten)]
    pub(crate) unknown: Unknown,

    /// Leave out what straddle probe measured of drives
    #[arg(long)]
    pub(crate) ignore_measured: bool,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Print exact numbers of bytes beside sizes
    #[arg(long, short, help_heading = "Output")]
    pub(crate) bytes: bool,
}
