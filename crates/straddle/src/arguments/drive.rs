//! What may be typed behind `straddle drive`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::common::{Json, Sysroot};
use super::offered::DRIVES;
use super::{help, size, size_above_0};

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

/// Tell what a workload would cost on a drive, aligned and misaligned; or check the models
///
/// The workload is 4 KiB writes in order with a flush after each, where nothing else is named.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what")
    .args(["profiles", "published"])
    .required(true)
    .multiple(false))]
#[command(mut_arg("sysroot", |sysroot| sysroot.requires("stack")))]
#[command(after_help = help("drive simulate", "\
Examples:
  straddle drive simulate --profile hdd-7200-512e
                                           synced writes, aligned and a sector off
  straddle drive simulate --profile hdd-7200-512e --vary rmw=batched --vary rmw=serial
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
  sfdisk --dump /dev/sda > plan; straddle drive simulate --profile wd10ears --stack plan --layer 1
                                           where a partition would lie on another drive
  straddle drive simulate --profile m4-256 --power-cuts 100 --no-sync
                                           what is left when the power goes
  straddle drive simulate --published      every published number beside the model's"))]
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

    /// Put every published number beside the model's, with its error and label
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
        conflicts_with_all = ["read", "random", "size", "no_sync", "depth"],
        help_heading = "Workload"
    )]
    pub(crate) job: Option<PathBuf>,

    /// Replay a recorded workload: fio's iolog, blkparse's text, blktrace's records
    ///
    /// As fast as the drive goes, --depth operations in flight, a flush behind all before it.
    #[arg(
        long,
        value_name = "FILE",
        requires = "profiles",
        conflicts_with_all = ["job", "read", "random", "size", "no_sync"],
        help_heading = "Workload"
    )]
    pub(crate) trace: Option<PathBuf>,

    /// Run it where the layers of these images or devices really lie, beside an aligned place
    ///
    /// Each file system, volume and empty partition is an arm: bytes of it go to the addresses that
    /// it has on its drives. IMAGE#1 is one partition of an image. Members of an array or a volume
    /// group are given together: A B C, or the directory that holds them; each becomes a drive. A
    /// device is read, never written. A plan is what sfdisk --dump prints: where partitions would
    /// lie, without a disk.
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
    #[arg(long, requires = "profiles", help_heading = "Workload")]
    pub(crate) read: bool,

    /// At places that a seed decides, instead of in order
    #[arg(long, requires = "profiles", help_heading = "Workload")]
    pub(crate) random: bool,

    /// Bytes of each operation, to 1 GiB
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = operation_size,
        default_value = "4K",
        help_heading = "Workload"
    )]
    pub(crate) size: u64,

    /// Send no flush after writes
    #[arg(long, conflicts_with = "read", requires = "profiles", help_heading = "Workload")]
    pub(crate) no_sync: bool,

    /// Operations in flight
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "Workload"
    )]
    pub(crate) depth: u16,

    /// Where the workload begins on the drive
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = size,
        default_value = "1M",
        help_heading = "Place"
    )]
    pub(crate) start: u64,

    /// How far everything is shifted, once for each: 512,2K; without it one logical sector
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = size_above_0,
        value_delimiter = ',',
        requires = "profiles",
        help_heading = "Place"
    )]
    pub(crate) shift: Vec<u64>,

    /// Show it as given, aligned, misaligned, on 512e, on RAID 5 and with or without PLP
    ///
    /// Each is a row, with its cost beside the first. Misaligned is by 512, 3584 (sector 63) and
    /// 1024 bytes (sector 34), or by --shift. RAID 5 has five such drives and 64 KiB chunks. A
    /// trace is aligned so that most of its writes begin at a multiple of 4 KiB.
    #[arg(
        long,
        requires = "profiles",
        conflicts_with_all = ["stack", "vary"],
        help_heading = "Place"
    )]
    pub(crate) what_if: bool,

    /// Cut the power at N instants of each run, which the seed decides, and tell what is left
    ///
    /// How many acknowledged writes are lost or torn, and which of them were promised: flushed,
    /// forced, or acknowledged by a drive that says it has no cache that forgets. What is lost
    /// without a promise is legal.
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

    /// Of what no promise covers, let survive: nothing, everything, what a seed decides, or the
    /// newest write alone
    #[arg(
        long,
        value_name = "WHICH",
        requires = "power_cuts",
        value_enum,
        default_value_t = Survivors::None,
        help_heading = "Power"
    )]
    pub(crate) survivors: Survivors,

    /// What becomes of a physical sector or mapping unit that is half written
    #[arg(
        long,
        value_name = "WHAT",
        requires = "power_cuts",
        value_enum,
        default_value_t = HalfWritten::Old,
        help_heading = "Power"
    )]
    pub(crate) half_written: HalfWritten,

    /// Let this member of an array not come back, from 0
    #[arg(long, value_name = "N", requires = "power_cuts", help_heading = "Power")]
    pub(crate) lost_member: Option<u16>,

    /// The most operations, for each drive and place: 10000 without it, 1000 with --power-cuts
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

/// What a drive lies about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lie {
    /// Flushes complete at once and put nothing on the medium
    Flush,
    /// Forced writes are kept in the cache as others are
    Fua,
    /// The capacitors or the battery that should keep a cache do not
    Protection,
}

/// Which writes survive of those that no promise covers.
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

/// What is half written when the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HalfWritten {
    /// It is as it was
    Old,
    /// It is written to its end
    New,
    /// It cannot be read, with all that shares it
    Unreadable,
}

/// Bytes of an operation: as many as a job's may have, so that one ends in a moment.
fn operation_size(text: &str) -> Result<u64, String> {
    const BYTES_MAX: u64 = 1 << 30;
    match size_above_0(text)? {
        bytes if bytes <= BYTES_MAX => Ok(bytes),
        _ => Err("it must be at most 1 GiB".to_owned()),
    }
}
