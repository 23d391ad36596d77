//! Arguments of `straddle drive`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::common::{Json, Sysroot, help};
use super::completion_values::DRIVES;
use super::values::{size, size_above_0};

/// Drive models in simulated time: what a drive does, and what a workload would cost on it
///
/// No drive is touched, and nothing is written.
#[derive(Debug, Args)]
pub(crate) struct Drive {
    #[command(subcommand)]
    pub(crate) what: DriveWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DriveWhat {
    /// List the built-in drive profiles
    List(DriveList),
    /// Show a drive with all its values, each with its label and its source
    Show(DriveShow),
    Simulate(Box<Simulate>),
}

#[derive(Debug, Args)]
pub(crate) struct DriveList {
    #[command(flatten)]
    pub(crate) document: Json,
}

#[derive(Debug, Args)]
pub(crate) struct DriveShow {
    /// A built-in drive profile, or a profile's file
    #[arg(value_name = "NAME|FILE", value_parser = DRIVES, hide_possible_values = true)]
    pub(crate) drive: String,

    /// Print its file, to be copied and edited
    #[arg(long, conflicts_with = "json")]
    pub(crate) toml: bool,

    #[command(flatten)]
    pub(crate) document: Json,
}

/// Show what a workload would cost on a drive, aligned and misaligned; or check the models
///
/// Unless options say otherwise, the workload is 4 KiB writes in order with a flush after each.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what")
    .args(["profiles", "published"])
    .required(true)
    .multiple(false))]
#[command(mut_arg("sysroot", |sysroot| sysroot.requires("stack")))]
#[command(next_help_heading = "Workload")]
#[command(after_help = help("drive simulate", "\
Examples:
  straddle drive simulate --profile hdd-7200-512e
                                           synced writes, aligned and a sector off
  straddle drive simulate --profile hdd-7200-512e --vary rmw=serial
                                           the same with other firmware
  straddle drive simulate --profile mine.toml --job job.fio --shift 512,2K
                                           fio's job, on a drive of your own
  straddle drive simulate --profile raid5-5x64k --trace sda.blktrace.0
                                           a recorded workload
  straddle drive simulate --profile dc-s3700 --job job.fio --what-if
                                           aligned, misaligned, on 512e, on RAID 5, without PLP
  straddle drive simulate --profile hdd-7200-512e --stack disk.raw
                                           where an image's file systems really lie
  straddle drive simulate --profile hdd-7200-512e --stack a.raw b.raw c.raw
                                           on an array, with each of its drives
  sfdisk --dump /dev/sda > plan
  straddle drive simulate --profile wd10ears --stack plan --layer 1
                                           where a partition would lie on another drive
  straddle drive simulate --profile m4-256 --power-cuts 100 --no-sync
                                           what is left when the power goes
  straddle drive simulate --published      published numbers beside the models'"))]
pub(crate) struct Simulate {
    /// A built-in drive profile, or a profile's file; may be repeated
    #[arg(
        long = "profile",
        value_name = "NAME|FILE",
        value_parser = DRIVES,
        hide_possible_values = true,
        help_heading = "Drives"
    )]
    pub(crate) profiles: Vec<String>,

    /// Change a value of every drive: cache=0; may be repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "profiles", help_heading = "Drives")]
    pub(crate) set: Vec<String>,

    /// Also simulate each drive with this value changed; may be repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "profiles", help_heading = "Drives")]
    pub(crate) vary: Vec<String>,

    /// Show every published number beside the model's, with its error and label
    #[arg(
        long,
        conflicts_with_all = [
            "set", "vary", "job", "trace", "stack", "read", "random", "size", "no_sync", "depth",
            "start", "shift", "layer", "sysroot", "what_if", "power_cuts", "lie", "survivors",
            "half_written", "lost_member", "operations",
        ],
        help_heading = "Drives"
    )]
    pub(crate) published: bool,

    /// Run a fio job file; its own paths are never opened
    #[arg(
        long,
        value_name = "FILE",
        requires = "profiles",
        conflicts_with_all = ["read", "random", "size", "no_sync", "depth"]
    )]
    pub(crate) job: Option<PathBuf>,

    /// Replay a recorded workload: fio's iolog, blkparse's text, blktrace's records
    ///
    /// Operations run as fast as the drive allows, with --depth of them in flight. A flush waits
    /// for all operations before it.
    #[arg(
        long,
        value_name = "FILE",
        requires = "profiles",
        conflicts_with_all = ["job", "read", "random", "size", "no_sync"]
    )]
    pub(crate) trace: Option<PathBuf>,

    /// Run the workload at the real addresses of these layers, and at an aligned one
    ///
    /// Each file system, volume and empty partition is an arm: its operations go to where
    /// its bytes are on the drives. IMAGE#1 is one partition of an image. Give the members of
    /// an array or a volume group together, as A B C or as the directory that holds them; each
    /// becomes a drive. A device is read, never written. A plan is the output of sfdisk --dump: it
    /// says where partitions would lie, without a disk.
    #[arg(
        long,
        value_name = "IMAGE|DIRECTORY|DEVICE|PLAN",
        num_args = 1..,
        requires = "profiles",
        conflicts_with_all = ["start", "shift"],
        help_heading = "Place"
    )]
    pub(crate) stack: Vec<PathBuf>,

    /// Take this layer of the stack alone: a partition's number, or the name that is shown
    #[arg(long, value_name = "NAME", requires = "stack", help_heading = "Place")]
    pub(crate) layer: Option<String>,

    #[command(flatten)]
    pub(crate) captured: Sysroot,

    /// Read instead of writing
    #[arg(long, requires = "profiles")]
    pub(crate) read: bool,

    /// Use random places, chosen by --seed, instead of going in order
    #[arg(long, requires = "profiles")]
    pub(crate) random: bool,

    /// Bytes of each operation, to 1 GiB
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = operation_size,
        default_value = "4K"
    )]
    pub(crate) size: u64,

    /// Send no flush after writes
    #[arg(long, conflicts_with = "read", requires = "profiles")]
    pub(crate) no_sync: bool,

    /// Operations in flight
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    pub(crate) depth: u16,

    /// First byte of the workload on the drive
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = size,
        default_value = "1M",
        help_heading = "Place"
    )]
    pub(crate) start: u64,

    /// Distances to shift everything by, one run each: 512,2K; if omitted one logical sector
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = size_above_0,
        value_delimiter = ',',
        requires = "profiles",
        help_heading = "Place"
    )]
    pub(crate) shift: Vec<u64>,

    /// Show the workload as given, aligned, misaligned, on 512e, on RAID 5 and with or without PLP
    ///
    /// Each variant is a row, with its cost compared with the first row. Misaligned means shifted
    /// by 512, 3584 (sector 63) and 1024 bytes (sector 34), or by --shift. RAID 5 has five such
    /// drives and 64 KiB chunks. A trace is aligned so that most of its writes begin at a multiple
    /// of 4 KiB.
    #[arg(
        long,
        requires = "profiles",
        conflicts_with_all = ["stack", "vary"],
        help_heading = "Place"
    )]
    pub(crate) what_if: bool,

    /// Cut the power at N instants of each run, chosen by --seed, and show what is left
    ///
    /// Counts the acknowledged writes that are lost or torn, and those of them that were promised:
    /// flushed, forced, or acknowledged by a drive that says it has no volatile cache. A drive may
    /// lose a write that was not promised.
    #[arg(
        long,
        value_name = "N",
        requires = "profiles",
        conflicts_with = "stack",
        value_parser = clap::value_parser!(u32).range(1..=100_000),
        help_heading = "Power"
    )]
    pub(crate) power_cuts: Option<u32>,

    /// Let every drive lie about this; may be repeated
    #[arg(long, value_name = "WHAT", requires = "power_cuts", value_enum, help_heading = "Power")]
    pub(crate) lie: Vec<Lie>,

    /// Survivors among writes that were not promised: none, all, parts chosen by --seed,
    /// or only the newest
    #[arg(
        long,
        value_name = "WHICH",
        requires = "power_cuts",
        value_enum,
        default_value_t = Survivors::None,
        help_heading = "Power"
    )]
    pub(crate) survivors: Survivors,

    /// State of a physical sector or mapping unit that is half written when the power goes
    #[arg(
        long,
        value_name = "WHAT",
        requires = "power_cuts",
        value_enum,
        default_value_t = HalfWritten::Old,
        help_heading = "Power"
    )]
    pub(crate) half_written: HalfWritten,

    /// Member of an array that does not come back, counted from 0
    #[arg(long, value_name = "N", requires = "power_cuts", help_heading = "Power")]
    pub(crate) lost_member: Option<u16>,

    /// Maximum operations per drive and place; default 10000, or 1000 with --power-cuts
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000_000),
        help_heading = "Bounds"
    )]
    operations: Option<u64>,

    /// Random seed; the same seed gives the same output on any machine
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Bounds")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) document: Json,
}

impl Simulate {
    /// The most operations, for each drive and place.
    pub(crate) fn operations(&self) -> u64 {
        let own = if self.power_cuts.is_some() { 1000 } else { 10_000 };
        self.operations.unwrap_or(own)
    }
}

/// Subject that a drive lies about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lie {
    /// Flushes complete at once and put nothing on the medium
    Flush,
    /// Forced writes are kept in the cache like other writes
    Fua,
    /// The capacitors or the battery fail to preserve the cache
    Protection,
}

/// Survivors of a power cut among the writes that the drive had not promised to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Survivors {
    /// Only what is on the medium
    None,
    /// All that came into the drive
    All,
    /// Each part by chance
    Random,
    /// The newest write, and none before it
    Newest,
}

/// State of what is half written when the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HalfWritten {
    /// It is as it was
    Old,
    /// It is written to its end
    New,
    /// It cannot be read, nor can other data in its sector or unit
    Unreadable,
}

/// Bytes of an operation: as many as a job's may have, so that one ends in a moment.
fn operation_size(text: &str) -> Result<u64, String> {
    const BYTES_MAX: u64 = 1 << 30;
    match size_above_0(text)? {
        bytes if bytes <= BYTES_MAX => Ok(bytes),
        _ => Err("expected at most 1 GiB".to_owned()),
    }
}
