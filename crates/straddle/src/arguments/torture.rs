//! Arguments of `straddle drive torture` and `straddle drive cut`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use super::common::{Json, help};
use super::completion_values::DRIVES;
use super::power_cut::{HalfWritten, Lie, Survivors};
use super::serve::{DriveOptions, Protocol};
use super::values::{seconds, size_above_0};

/// Cut the power under a program, again and again, and check what is left
///
/// CMD runs three times on a drive that behaves as the profile says: with STRADDLE_PHASE=setup to
/// prepare, with run while everything is recorded, and with check after each power cut, on the
/// content that the drive has left. Each line that it prints in run is an acknowledgment: "this is
/// safe now". In check it reads the lines printed before the cut on standard input, and fails
/// (with the reason on standard error) if something of that is gone. STRADDLE_DIR is the mounted
/// file system, STRADDLE_DEVICE the drive.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("recording").args(["profile", "from"]).required(true))]
#[command(next_help_heading = "Drive")]
#[command(after_help = help("drive torture", "\
Examples:
  sudo straddle drive torture --profile m4-256 -- ./sqlite.py wal
                                           # 100 cuts, on ext4
  sudo straddle drive torture --profile m4-256 --lie flush -- ./sqlite.py wal
                                           # on a drive that ignores flushes
  sudo straddle drive torture --profile m4-256 --save run1 -- ./postgresql.sh
  sudo straddle drive torture --from run1 --cut 17 -- ./postgresql.sh
                                           # one cut of the same recording again
  sudo straddle drive torture --profile m4-256 --shard 2/8 -o 2.json -- ./sqlite.py wal
                                           # one of 8 parts; straddle report merges them
  straddle drive torture --profile m4-256 --as file -- ./raw.py
                                           # without root: a file instead of a block device"))]
pub(crate) struct Torture {
    /// A built-in drive profile, or a profile's file
    #[arg(long, value_name = "NAME|FILE", value_parser = DRIVES, hide_possible_values = true)]
    pub(crate) profile: Option<String>,

    #[command(flatten)]
    pub(crate) drive: DriveOptions,

    /// Make the drive break this promise; may be repeated
    #[arg(long, value_name = "WHAT", requires = "profile", value_enum)]
    pub(crate) lie: Vec<Lie>,

    /// Attach the drive as a block device (needs root) or as a file
    #[arg(
        long = "as",
        value_name = "PROTOCOL",
        value_parser = attachment,
        default_value = "loop",
        help_heading = "Program"
    )]
    pub(crate) protocol: Protocol,

    /// File system that the program runs on; default: ext4, and none with --as file
    #[arg(long, value_name = "NAME", value_enum, requires = "profile", help_heading = "Program")]
    pub(crate) fs: Option<TortureFs>,

    /// Size of the file system, at the start of the drive
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = size_above_0,
        default_value = "512M",
        help_heading = "Program"
    )]
    pub(crate) fs_size: u64,

    /// Mount options, such as data=writeback
    #[arg(
        long,
        value_name = "OPTIONS",
        requires = "profile",
        default_value = "",
        hide_default_value = true,
        help_heading = "Program"
    )]
    pub(crate) mount_options: String,

    /// End the program after this time, if it has not ended by itself
    #[arg(
        long,
        value_name = "TIME",
        value_parser = seconds,
        default_value = "60",
        help_heading = "Program"
    )]
    pub(crate) seconds: u32,

    /// Number of power cuts
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = "Power"
    )]
    pub(crate) cuts: u32,

    /// Make only this cut, counted from 0
    #[arg(long, value_name = "I", requires = "from", conflicts_with = "shard")]
    #[arg(help_heading = "Power")]
    pub(crate) cut: Option<u32>,

    /// Make only part I of N of the cuts, for batch engines
    #[arg(
        long,
        value_name = "I/N",
        value_parser = shard,
        default_value = "1/1",
        hide_default_value = true,
        help_heading = "Power"
    )]
    pub(crate) shard: (u32, u32),

    #[command(flatten)]
    pub(crate) policy: CutPolicy,

    /// Keep the recording in this new directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "from", help_heading = "Results")]
    pub(crate) save: Option<PathBuf>,

    /// Cut the recording in this directory again; the program is only checked, not run
    #[arg(long, value_name = "DIRECTORY", help_heading = "Results")]
    pub(crate) from: Option<PathBuf>,

    /// Also keep the result in this file, for straddle report
    #[arg(long, short, value_name = "FILE", help_heading = "Results")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) document: Json,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) words: Vec<OsString>,
}

/// Write what a recorded drive holds after a power cut into an image
///
/// The recording comes from drive torture --save or drive serve --log. Without --cut, the power
/// goes at the end of the recording.
#[derive(Debug, Args)]
#[command(after_help = help("drive cut", "\
Examples:
  straddle drive serve --profile m4-256 --as loop --log run1
  straddle drive cut run1 --survivors newest -o disk.img
                                           # what the drive would hold if the power had gone then
  straddle drive cut run1 --seed 1 --cut 17 -o disk.img
                                           # the disk of cut 17 of drive torture"))]
pub(crate) struct CutImage {
    /// Directory of the recording
    #[arg(value_name = "DIRECTORY")]
    pub(crate) recording: PathBuf,

    /// Number of the cut, as drive torture prints it
    #[arg(long, value_name = "I")]
    pub(crate) cut: Option<u32>,

    #[command(flatten)]
    pub(crate) policy: CutPolicy,

    /// Memory for the recording
    #[arg(long, value_name = "SIZE", value_parser = size_above_0, default_value = "1G")]
    pub(crate) memory: u64,

    /// Image to write; a sparse file as long as the drive, which must not exist yet
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// Choice of outcomes of a power cut among all that are possible.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Power")]
pub(crate) struct CutPolicy {
    /// Writes that survive although the drive did not promise them
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Survivors::Mix)]
    pub(crate) survivors: Survivors,

    /// Content of a physical sector or mapping unit that was being written at the power cut
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = HalfWritten::Old)]
    pub(crate) half_written: HalfWritten,

    /// Member of the array that is missing after the power cut, counted from 0
    #[arg(long, value_name = "N")]
    pub(crate) lost_member: Option<u16>,

    /// Random seed of the cuts; the same recording and seed give the same cuts
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// File system of a tortured program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TortureFs {
    Ext4,
    Xfs,
    Btrfs,
    /// The bare drive
    None,
}

/// A file or a loop device.
fn attachment(text: &str) -> Result<Protocol, String> {
    match text {
        "loop" => Ok(Protocol::Loop),
        "file" => Ok(Protocol::File),
        _ => Err("expected loop or file".to_owned()),
    }
}

/// Part I of N, from 1.
fn shard(text: &str) -> Result<(u32, u32), String> {
    let parts = text
        .split_once('/')
        .and_then(|(part, all)| Some((part.parse::<u32>().ok()?, all.parse::<u32>().ok()?)));
    parts
        .filter(|(part, all)| (1..=*all).contains(part))
        .ok_or_else(|| "expected a part and the number of parts such as 2/8".to_owned())
}
