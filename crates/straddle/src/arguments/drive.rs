//! Arguments of `straddle drive`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use workload::Duration;

use super::common::{Json, Sysroot, help};
use super::completion_values::DRIVES;
use super::power_cut::{HalfWritten, Lie, Survivors};
use super::reproduce::Reproduce;
use super::serve::{Detach, DriveGuard, Serve};
use super::torture::{CutImage, Torture};
use super::values::{size, size_above_0};
use crate::exit::table;

/// Simulate drives: what a workload would cost on a drive model
///
/// Time is simulated; no drive is touched, and nothing is written.
#[derive(Debug, Args)]
#[command(after_help = table::help("drive"))]
pub(crate) struct Drive {
    #[command(subcommand)]
    pub(crate) what: DriveWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DriveWhat {
    /// List the built-in drive profiles
    List(DriveList),
    /// Show a drive profile: every value with its source
    Show(DriveShow),
    Simulate(Box<Simulate>),
    Fit(DriveFit),
    Serve(Box<Serve>),
    Reproduce(Reproduce),
    Detach(Detach),
    Torture(Box<Torture>),
    Cut(CutImage),
    #[command(hide = true)]
    Guard(DriveGuard),
}

#[derive(Debug, Args)]
#[command(after_help = table::help("drive"))]
pub(crate) struct DriveList {
    #[command(flatten)]
    pub(crate) document: Json,
}

#[derive(Debug, Args)]
#[command(after_help = table::help("drive"))]
pub(crate) struct DriveShow {
    /// A built-in drive profile, or a profile's file
    #[arg(value_name = "NAME|FILE", value_parser = DRIVES, hide_possible_values = true)]
    pub(crate) drive: String,

    /// Print the profile's file, to copy and edit
    #[arg(long, conflicts_with = "json")]
    pub(crate) toml: bool,

    /// Print the data sheet that the profile was made of, to copy and edit for drive fit
    #[arg(long, conflicts_with_all = ["json", "toml"])]
    pub(crate) sheet: bool,

    #[command(flatten)]
    pub(crate) document: Json,
}

/// Make a drive profile from a data sheet: each value with the line that decided it
///
/// Prints a profile for drive simulate --profile. Comments at its end compare each line of the
/// sheet with what the profile does.
#[derive(Debug, Args)]
#[command(after_help = help("drive fit", "\
Examples:
  straddle drive show samsung-990-pro --sheet > sheet.toml
  straddle drive fit sheet.toml > mine.toml
                                           # a profile from the numbers of a data sheet
  straddle drive fit sheet.toml --measured probe.json --measured bench.json > mine.toml
                                           # measured numbers replace the sheet's
  straddle drive simulate --profile mine.toml"))]
pub(crate) struct DriveFit {
    /// Numbers of a data sheet, as TOML
    #[arg(value_name = "SHEET.toml")]
    pub(crate) sheet: PathBuf,

    /// A result of probe -o (unit, turns a minute) or bench -o (latency of one operation alone);
    /// replaces the sheet's number; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) measured: Vec<PathBuf>,

    /// Random seed of the comparison's places
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Show what a workload would cost on a drive, aligned and misaligned
///
/// The default workload writes 4 KiB at a time, in order, with a flush after each write.
/// --published compares the models with published numbers instead, --validate with data sheets.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what")
    .args(["profiles", "published", "validate"])
    .required(true)
    .multiple(false))]
#[command(mut_arg("sysroot", |sysroot| sysroot.requires("stack")))]
#[command(next_help_heading = "Workload")]
#[command(after_help = help("drive simulate", "\
Examples:
  straddle drive simulate --profile hdd-7200-512e
                                         # synced writes, aligned and misaligned
  straddle drive simulate --profile hdd-7200-512e --vary rmw=serial
                                         # the same with other firmware
  straddle drive simulate --profile mine.toml --job job.fio --shift 512,2K
                                         # a fio job on a drive of your own
  straddle drive simulate --profile raid5-5x64k --trace sda.blktrace.0
                                         # a recorded workload
  straddle drive simulate --profile dc-s3700 --job job.fio --what-if
                                         # also on 512e, on RAID 5, without PLP
  straddle drive simulate --profile hdd-7200-512e --stack disk.raw
                                         # at the places of an image's layers
  straddle drive simulate --profile hdd-7200-512e --stack a.raw b.raw c.raw
                                         # on an array of three images
  sfdisk --dump /dev/sda > plan
  straddle drive simulate --profile wd10ears --stack plan --layer 1
                                         # at the place of a planned partition
  straddle drive simulate --profile m4-256 --power-cuts 100 --no-sync
                                         # what is left after a power cut
  straddle drive simulate --published    # published numbers and the models'
  straddle drive simulate --validate     # data sheets and the models'"))]
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

    /// Change a value of every drive: cache=0, or of an array's drives: member.cache=0; may be
    /// repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "profiles", help_heading = "Drives")]
    pub(crate) set: Vec<String>,

    /// Also simulate each drive with this value changed; may be repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "profiles", help_heading = "Drives")]
    pub(crate) vary: Vec<String>,

    /// Compare each published figure with the model: error in percent, and a label (predicted: it
    /// set no value of the drive; calibrated or fitted: it did)
    #[arg(
        long,
        conflicts_with_all = [
            "set", "vary", "job", "trace", "stack", "read", "random", "size", "no_sync", "depth",
            "start", "shift", "layer", "sysroot", "what_if", "power_cuts", "lie", "survivors",
            "half_written", "lost_member", "operations", "host_cost",
            "rate", "recorded_times",
        ],
        help_heading = "Drives"
    )]
    pub(crate) published: bool,

    /// Compare drives that others measured, and all lines of the built-in data sheets, with the
    /// models
    #[arg(
        long,
        conflicts_with_all = [
            "set", "vary", "job", "trace", "stack", "read", "random", "size", "no_sync", "depth",
            "start", "shift", "layer", "sysroot", "what_if", "power_cuts", "lie", "survivors",
            "half_written", "lost_member", "operations", "host_cost",
            "rate", "recorded_times",
        ],
        help_heading = "Drives"
    )]
    pub(crate) validate: bool,

    /// Run a fio job file; paths in the file are never opened
    #[arg(
        long,
        value_name = "FILE",
        requires = "profiles",
        conflicts_with_all = ["read", "random", "size", "no_sync", "depth"]
    )]
    pub(crate) job: Option<PathBuf>,

    /// Replay a recorded trace: a fio iolog, the text of blkparse, or the records of blktrace
    ///
    /// Operations run as fast as the drive allows, with --depth operations in flight. A flush
    /// waits for all operations before it.
    #[arg(
        long,
        value_name = "FILE",
        requires = "profiles",
        conflicts_with_all = ["job", "read", "random", "size", "no_sync"]
    )]
    pub(crate) trace: Option<PathBuf>,

    /// Run the workload where the layers of this image or disk really are
    ///
    /// Each file system, volume and empty partition is a row: its operations go to the addresses
    /// that its bytes have on the drives. The same workload at an aligned place is shown next to
    /// it. IMAGE#1 is one partition of an image. Name all members of an array or a volume group,
    /// as A B C or as their directory; each becomes a drive. A device is read, never written. PLAN
    /// is the output of sfdisk --dump: the places of partitions, without a disk.
    #[arg(
        long,
        value_name = "IMAGE|DIRECTORY|DEVICE|PLAN",
        num_args = 1..,
        requires = "profiles",
        conflicts_with_all = ["start", "shift"],
        help_heading = "Place"
    )]
    pub(crate) stack: Vec<PathBuf>,

    /// Use only this layer of --stack: a partition's number, or a name from the output
    #[arg(long, value_name = "NAME", requires = "stack", help_heading = "Place")]
    pub(crate) layer: Option<String>,

    #[command(flatten)]
    pub(crate) captured: Sysroot,

    /// Read instead of writing
    #[arg(long, requires = "profiles")]
    pub(crate) read: bool,

    /// Use random places, chosen by --seed, instead of sequential ones
    #[arg(long, requires = "profiles")]
    pub(crate) random: bool,

    /// Size of each operation, at most 1 GiB
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

    /// Operations in flight (queue depth)
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    pub(crate) depth: u16,

    /// Time of the host from the end of an operation to the next, such as 10 us; default: 0, the
    /// drive alone
    #[arg(
        long,
        value_name = "TIME",
        value_parser = host_cost,
        default_value = "0 us",
        hide_default_value = true
    )]
    pub(crate) host_cost: u64,

    /// Let operations arrive at this rate in each job, N a second, whatever the drive does (open
    /// loop); --depth limits those in flight, and the others wait
    #[arg(
        long,
        value_name = "N",
        requires = "profiles",
        conflicts_with = "recorded_times",
        value_parser = clap::value_parser!(u64).range(1..=100_000_000)
    )]
    pub(crate) rate: Option<u64>,

    /// Let the operations of --trace arrive at the trace's own times
    #[arg(long, requires = "trace")]
    pub(crate) recorded_times: bool,

    /// First byte of the workload on the drive
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = size,
        default_value = "1M",
        help_heading = "Place"
    )]
    pub(crate) start: u64,

    /// Misalignments to simulate, one run for each: 512,2K; default: one logical sector
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = size_above_0,
        value_delimiter = ',',
        requires = "profiles",
        help_heading = "Place"
    )]
    pub(crate) shift: Vec<u64>,

    /// Compare the workload as given, aligned, misaligned, on 512e, on RAID 5, PLP added or removed
    ///
    /// Each variant is a row; its cost is relative to the first row of its drive. Misaligned means
    /// shifted by 512, 3584 (sector 63) and 1024 bytes (sector 34), or by --shift. RAID 5 has five
    /// such drives and 64 KiB chunks. A trace is aligned by moving it as a whole, so that most of
    /// its writes start at a multiple of 4 KiB.
    #[arg(
        long,
        requires = "profiles",
        conflicts_with_all = ["stack", "vary"],
        help_heading = "Place"
    )]
    pub(crate) what_if: bool,

    /// Cut the power N times in each run, at moments chosen by --seed, and show what is left
    ///
    /// Counts acknowledged writes that are lost or torn. The promised ones among them are shown
    /// apart: flushed, forced (FUA), or acknowledged by a drive that reports no volatile cache. A
    /// drive may lose a write that it did not promise to keep.
    #[arg(
        long,
        value_name = "N",
        requires = "profiles",
        conflicts_with = "stack",
        value_parser = clap::value_parser!(u32).range(1..=100_000),
        help_heading = "Power"
    )]
    pub(crate) power_cuts: Option<u32>,

    /// Make every drive break this promise; may be repeated
    #[arg(long, value_name = "WHAT", requires = "power_cuts", value_enum, help_heading = "Power")]
    pub(crate) lie: Vec<Lie>,

    /// Writes that survive although the drive did not promise them
    #[arg(
        long,
        value_name = "WHICH",
        requires = "power_cuts",
        value_enum,
        default_value_t = Survivors::None,
        help_heading = "Power"
    )]
    pub(crate) survivors: Survivors,

    /// Content of a physical sector or mapping unit that was being written at the power cut
    #[arg(
        long,
        value_name = "WHAT",
        requires = "power_cuts",
        value_enum,
        default_value_t = HalfWritten::Old,
        help_heading = "Power"
    )]
    pub(crate) half_written: HalfWritten,

    /// Member of the array that is missing after the power cut, counted from 0
    #[arg(long, value_name = "N", requires = "power_cuts", help_heading = "Power")]
    pub(crate) lost_member: Option<u16>,

    /// Maximum operations for each drive and place; default: 10000, or 1000 if
    /// --power-cuts is given
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

/// Nanoseconds of a host's time, at most a second.
fn host_cost(text: &str) -> Result<u64, String> {
    match Duration::parse(text) {
        Some(Duration(ns)) if ns <= 1_000_000_000 => Ok(ns),
        _ => Err("expected a time up to 1 s such as 10 us".to_owned()),
    }
}

/// Bytes of an operation: as many as a job's may have, so that one ends in a moment.
fn operation_size(text: &str) -> Result<u64, String> {
    const BYTES_MAX: u64 = 1 << 30;
    match size_above_0(text)? {
        bytes if bytes <= BYTES_MAX => Ok(bytes),
        _ => Err("expected at most 1 GiB".to_owned()),
    }
}
