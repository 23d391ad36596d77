//! Arguments of `straddle bench` and `straddle compare`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use super::common::{IgnoreMeasuredOption, Json, Printed, Start, Unknown, help};
use super::raw_device::RawDevice;
use super::values::{seconds, size, size_above_0};

/// Measure what misalignment costs here, with a confidence interval, touching nothing else
///
/// Writes only to a scratch file of its own in TARGET, bounded in bytes and seconds, which has no
/// name and is gone however the program ends. Aligned and shifted operations take turns in
/// random order; a third arm, aligned again, must show no difference.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("on_devices").args(["job", "suite", "command"]).multiple(true))]
#[command(next_help_heading = "What to do")]
#[command(after_help = help("bench", "\
Examples:
  straddle bench /data                     4 KiB write + fdatasync, a sector off
  straddle bench /data --dry-run           how much is written, for how long
  straddle bench /data --shift 2K --read   random reads, 2 KiB off
  straddle bench /data --full              reads and writes at depths 1, 8, 32
  straddle bench /data --job job.fio       fio's job file on shifted devices
  straddle bench /data --suite             file work on ext4, XFS, btrfs (root)
  straddle bench /data --shift 512 -- ./run-database {mount}
                                           any command on shifted devices, once a pair and arm
  straddle bench /dev/sdb                  reads of a raw device
  straddle bench /data -o result.json      keep the result for compare"))]
pub(crate) struct SuiteSteps {
    /// A directory or mount point, where the scratch file will be; or a block device
    #[arg(value_name = "TARGET", help_heading = None::<&'static str>)]
    pub(crate) target: PathBuf,

    /// Offset of the shifted arm, in bytes; may be repeated
    ///
    /// If omitted one logical sector, with --full also half a granule. 0 compares identical arms,
    /// to see how often a difference is found where there is none.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) shift: Vec<u64>,

    /// Bytes of each operation; if omitted 4 KiB, or one granule where that is larger
    #[arg(long, value_name = "SIZE", value_parser = size_above_0)]
    pub(crate) size: Option<u64>,

    /// Unit that operations are aligned to: the drive's granule, or an array's chunk
    #[arg(
        long,
        value_enum,
        value_name = "UNIT",
        default_value_t = Unit::Granule
    )]
    pub(crate) unit: Unit,

    #[command(flatten)]
    pub(crate) measured: IgnoreMeasuredOption,

    /// Read instead of writing
    #[arg(long)]
    pub(crate) read: bool,

    /// Method that makes a write durable
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        default_value_t = Durable::Fdatasync
    )]
    pub(crate) sync: Durable,

    /// Operations in flight
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=256)
    )]
    pub(crate) depth: u16,

    /// Reads and writes, with and without sync, depths 1, 8 and 32
    #[arg(
        long,
        conflicts_with_all = ["read", "sync", "depth", "job", "suite", "command"]
    )]
    pub(crate) full: bool,

    /// Run a fio job file on shifted devices; its own paths are never opened
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["suite", "command", "read", "sync", "depth", "size"]
    )]
    pub(crate) job: Option<PathBuf>,

    /// Change an option of the job file: rw=write; may be repeated
    #[arg(long = "set", value_name = "OPTION=VALUE", requires = "job")]
    pub(crate) set: Vec<String>,

    /// File system to make on the device for a job or command; if omitted the raw device is used
    #[arg(long, value_name = "TYPE", requires = "on_devices")]
    pub(crate) fs: Option<FileSystem>,

    /// Run the requests of a raidtest file
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["job", "suite", "command", "read", "sync", "size", "depth", "full"]
    )]
    pub(crate) raidtest: Option<PathBuf>,

    /// File systems at sector 40 and 34: mkfs, unpack, copy, read, delete
    ///
    /// ext4, XFS, btrfs, and ext4 in an LVM volume where there is device-mapper; --fs names one.
    #[arg(
        long,
        conflicts_with_all = [
            "command", "read", "depth", "size", "sync", "shift", "full", "unit",
        ]
    )]
    pub(crate) suite: bool,

    /// Directory that the suite packs and unpacks; if omitted a tree made from the seed
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub(crate) tree: Option<PathBuf>,

    /// Length of the scratch file
    #[arg(long, value_name = "SIZE", value_parser = size_above_0, help_heading = "Bounds")]
    pub(crate) scratch: Option<u64>,

    /// Most bytes to write, including the scratch file
    #[arg(long, value_name = "SIZE", value_parser = size_above_0, help_heading = "Bounds")]
    pub(crate) bytes_max: Option<u64>,

    /// Longest time to measure each comparison: 90s, 5m, 1h; a plain number is seconds
    #[arg(
        long,
        value_name = "TIME",
        value_parser = seconds,
        allow_negative_numbers = true,
        help_heading = "Bounds"
    )]
    pub(crate) seconds: Option<u32>,

    /// Most pairs of each comparison
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = "Bounds"
    )]
    pub(crate) pairs: Option<u32>,

    /// Largest share of the drive's time to use, in percent; if omitted 25 where the drive is busy
    #[arg(
        long,
        value_name = "PERCENT",
        value_parser = clap::value_parser!(u8).range(1..=100),
        help_heading = "Bounds"
    )]
    pub(crate) share: Option<u8>,

    #[command(flatten)]
    pub(crate) start: Start,

    #[command(flatten)]
    pub(crate) raw: RawDevice,

    #[command(flatten)]
    pub(crate) printed: Printed,

    #[command(flatten)]
    pub(crate) unknown: Unknown,

    /// Show the distributions and what the drive counted
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,

    /// Command to run once for each pair and arm; {device} and {mount} are replaced
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Compare two result files of bench, fsync or probe
///
/// A figure counts as different only if the interval of its change excludes "no change" and reaches
/// beyond 10 %. Both files must be of the same command.
#[derive(Debug, Args)]
#[command(after_help = help("compare", "\
Examples:
  straddle bench /data -o before.json    and after a change -o after.json
  straddle fsync /data --for etcd -o before.json    likewise
  straddle compare before.json after.json"))]
pub(crate) struct Compare {
    /// The earlier result
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// The later one
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,
    #[command(flatten)]
    pub(crate) document: Json,

    #[command(flatten)]
    pub(crate) unknown: Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Durable {
    /// No sync: data may stay in volatile caches
    None,
    /// fdatasync after each write
    Fdatasync,
    /// fsync after each write
    Fsync,
    /// Each write with `RWF_DSYNC`
    Dsync,
    /// Each write with `RWF_SYNC`
    Sync,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unit {
    /// Unit that the drive writes as one
    Granule,
    /// The stripe unit of an array
    Chunk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileSystem {
    Ext3,
    Ext4,
    Xfs,
    Btrfs,
}
