//! Arguments of `straddle bench` and `straddle compare`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use super::common::{IgnoreMeasuredOption, Json, Printed, Start, Unknown, help};
use super::raw_device::RawDevice;
use super::values::{seconds, size, size_above_0};

/// Measure what misalignment costs on a drive, with a confidence interval
///
/// Writes only to its own scratch file in TARGET, within limits of bytes and time. The file is gone
/// however the program ends. Operations run in groups of three, in random order: one aligned, one
/// shifted (misaligned), and a control: a second aligned one, which must show no difference.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("on_devices").args(["job", "suite", "command"]).multiple(true))]
#[command(next_help_heading = "What to do")]
#[command(after_help = help("bench", "\
Examples:
  straddle bench /data                    # synced 4 KiB writes, 1 sector off
  straddle bench /data --dry-run          # how many bytes, for how long
  straddle bench /data --shift 2K --read  # random reads, 2 KiB off
  straddle bench /data --full             # reads and writes at depths 1, 8, 32
  straddle bench /data --job job.fio      # a fio job on shifted devices
  straddle bench /data --suite            # files on ext4, XFS and btrfs (root)
  straddle bench /data --shift 512 -- ./run-database {mount}
                                          # any command on such devices (root)
  straddle bench /dev/sdb                 # a raw device: only reads
  straddle bench /data -o result.json     # save the result for compare"))]
pub(crate) struct SuiteSteps {
    /// Directory or mount point for the scratch file, or a block device
    #[arg(value_name = "TARGET", help_heading = None::<&'static str>)]
    pub(crate) target: PathBuf,

    /// Misalignment to measure: distance from an aligned place, in bytes; may be repeated
    ///
    /// Default: one logical sector; with --full also half a granule. 0 compares two identical arms:
    /// each difference that is found is then a false alarm.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) shift: Vec<u64>,

    /// Size of each operation; default: 4 KiB, or one granule if that is larger
    #[arg(long, value_name = "SIZE", value_parser = size_above_0)]
    pub(crate) size: Option<u64>,

    /// Unit to which operations are aligned: the drive's granule, or an array's chunk
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

    /// Operations in flight (queue depth)
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=256)
    )]
    pub(crate) depth: u16,

    /// Measure reads and writes, with and without sync, at depths 1, 8 and 32
    #[arg(
        long,
        conflicts_with_all = ["read", "sync", "depth", "job", "suite", "command"]
    )]
    pub(crate) full: bool,

    /// Run a fio job file on shifted devices; paths in the file are never opened
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["suite", "command", "read", "sync", "depth", "size"]
    )]
    pub(crate) job: Option<PathBuf>,

    /// Override an option of the job file, such as rw=write; may be repeated
    #[arg(long = "set", value_name = "OPTION=VALUE", requires = "job")]
    pub(crate) set: Vec<String>,

    /// File system to make on the shifted devices
    ///
    /// Default: ext4 if COMMAND contains {mount} or the job has a directory; otherwise none.
    #[arg(long, value_name = "TYPE", requires = "on_devices")]
    pub(crate) fs: Option<FileSystem>,

    /// Run the requests of a raidtest file, as straddle generate raidtest makes it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["job", "suite", "command", "read", "sync", "size", "depth", "full"]
    )]
    pub(crate) raidtest: Option<PathBuf>,

    /// Compare file systems at sector 40 (aligned) and 34: mkfs, unpack, copy, read, delete
    ///
    /// Runs on ext4, XFS and btrfs, and on ext4 in an LVM volume if device-mapper is available.
    /// --fs selects one.
    #[arg(
        long,
        conflicts_with_all = [
            "command", "read", "depth", "size", "sync", "shift", "full", "unit",
        ]
    )]
    pub(crate) suite: bool,

    /// Directory for --suite to pack and unpack; default: files made from the seed
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub(crate) tree: Option<PathBuf>,

    /// Size of the scratch file
    #[arg(long, value_name = "SIZE", value_parser = size_above_0, help_heading = "Bounds")]
    pub(crate) scratch: Option<u64>,

    /// Maximum bytes to write in total: filling the scratch file counts too
    ///
    /// Default: 256M; 1G with --full or --raidtest and for each job; 4G with a command.
    #[arg(long, value_name = "SIZE", value_parser = size_above_0, help_heading = "Bounds")]
    pub(crate) bytes_max: Option<u64>,

    /// Maximum time to measure each comparison: 90s, 5m, 1h; a plain number is seconds
    ///
    /// Preparation takes up to 5 seconds more.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = seconds,
        allow_negative_numbers = true,
        help_heading = "Bounds"
    )]
    pub(crate) seconds: Option<u32>,

    /// Maximum number of pairs in each comparison
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = "Bounds"
    )]
    pub(crate) pairs: Option<u32>,

    /// Maximum share of time in which to use the drive, in percent
    ///
    /// Default: 100. If other programs keep the drive busy: 25, and depth 1.
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

    /// Show the distributions of times, and the kernel's counters of the drive
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,

    /// Command to run in every pair on each device: aligned, shifted, control
    ///
    /// {device} stands for the device, {mount} for its mount point.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Compare two result files of bench, fsync or probe
///
/// A value differs if the interval of its change excludes "no change" and at least one end is
/// beyond 10 %. Both files must be results of bench, or both of fsync, or both of probe.
#[derive(Debug, Args)]
#[command(after_help = help("compare", "\
Examples:
  straddle bench /data -o before.json        # measure, then change the system
  straddle bench /data -o after.json         # measure again
  straddle compare before.json after.json"))]
pub(crate) struct Compare {
    /// Earlier result
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// Later result, of the same command
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
    /// Unit that the drive writes as a whole
    Granule,
    /// Stripe unit of an array
    Chunk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileSystem {
    Ext3,
    Ext4,
    Xfs,
    Btrfs,
}
