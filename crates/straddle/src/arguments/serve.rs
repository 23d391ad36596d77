//! Words of `drive serve`, `drive detach` and the guard.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::{Json, help};
use super::completion_values::DRIVES;
use super::values::{pace, size_above_0};
use crate::exit::table;

/// Plug in a modeled drive: its bytes can be read and written, and take the drive's time
///
/// Runs until Ctrl-C, then detaches everything and prints the counts. The first line of the output
/// is the place where clients find the drive.
#[derive(Debug, Args)]
#[command(next_help_heading = "Drive")]
#[command(after_help = help("drive serve", "\
Examples:
  straddle drive serve --profile hdd-7200-512e --as nbd --socket disk.sock
                                           # for fio, qemu, nbdcopy and nbd-client
  straddle drive serve --profile m4-256 --as nbd --timing off --store m4.img
                                           # at full speed, contents kept in a sparse file
  straddle drive serve --profile hdd-7200-512e --as file --mount /tmp/disk
                                           # a file /tmp/disk/disk, without root
  sudo straddle drive serve --profile hdd-7200-512e --as loop
                                           # a block device, for partitions and file systems
  straddle drive serve --profile hdd-7200-512e --as nbd --record disk.trace
                                           # and later: drive simulate --trace disk.trace"))]
pub(crate) struct Serve {
    /// A built-in drive profile, or a profile's file
    #[arg(
        long,
        value_name = "NAME|FILE",
        value_parser = DRIVES,
        hide_possible_values = true
    )]
    pub(crate) profile: String,

    #[command(flatten)]
    pub(crate) drive: DriveOptions,

    /// Keep the contents in this sparse file, instead of in memory
    #[arg(long, value_name = "FILE", conflicts_with = "memory")]
    pub(crate) store: Option<PathBuf>,

    /// Protocol by which clients use the drive
    #[arg(long = "as", value_name = "PROTOCOL", value_enum, help_heading = "Attachment")]
    pub(crate) protocol: Protocol,

    /// Path of the Unix socket of NBD; default: one in the runtime directory
    #[arg(long, value_name = "PATH", conflicts_with = "listen", help_heading = "Attachment")]
    pub(crate) socket: Option<PathBuf>,

    /// Serve NBD at this address instead of a Unix socket; NBD has no passwords
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "Attachment")]
    pub(crate) listen: Option<std::net::SocketAddr>,

    /// Directory to mount the file on; default: a new one in the runtime directory
    #[arg(long, value_name = "DIRECTORY", help_heading = "Attachment")]
    pub(crate) mount: Option<PathBuf>,

    /// Seconds without an answer after which a guard process pulls the drive, so that its users get
    /// errors instead of hanging; for a file or a loop device
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=3600),
        help_heading = "Attachment"
    )]
    pub(crate) patience: u32,

    /// Record all commands in this file, for drive simulate --trace
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub(crate) record: Option<PathBuf>,

    /// Keep all commands and their bytes in this new directory at the end, for drive cut
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "store", help_heading = "Results")]
    pub(crate) log: Option<PathBuf>,

    /// Replace this file with the counts as JSON, once a second
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub(crate) counts: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) document: Json,
}

/// Options of every drive that is served, also by `drive torture`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Drive")]
pub(crate) struct DriveOptions {
    /// Change a value of the drive: cache=0; may be repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "profile")]
    pub(crate) set: Vec<String>,

    /// Time that requests take: real (the drive's), off, or a factor such as 0.1
    #[arg(long, value_name = "PACE", value_parser = pace, default_value = "real")]
    pub(crate) timing: serve::Pace,

    /// Memory for the contents, and as much again for a recording; writes that need more fail, as
    /// on a full disk
    #[arg(long, value_name = "SIZE", value_parser = size_above_0, default_value = "1G")]
    pub(crate) memory: u64,
}

/// Protocol of a served drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// Network Block Device, on a Unix socket
    Nbd,
    /// A file, mounted with FUSE; needs no root
    File,
    /// A block device: a loop device over such a file; needs root
    Loop,
}

impl Protocol {
    /// Name that is typed.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Protocol::Nbd => "nbd",
            Protocol::File => "file",
            Protocol::Loop => "loop",
        }
    }
}

/// Detach drives whose drive serve was killed
#[derive(Debug, Args)]
#[command(after_help = table::help("drive detach"))]
pub(crate) struct Detach {
    /// Detach every drive that no process serves any more
    #[arg(long, required = true)]
    pub(crate) stale: bool,
}

/// The guard process of a served drive; not for people
#[derive(Debug, Args)]
#[command(after_help = table::help("drive"))]
pub(crate) struct DriveGuard {
    /// Mount point
    #[arg(long)]
    pub(crate) point: Option<PathBuf>,

    /// Remove the mount point's directory at the end
    #[arg(long)]
    pub(crate) own: bool,

    /// Logical sector of the loop device
    #[arg(long)]
    pub(crate) sector: Option<u32>,

    /// Seconds without an answer
    #[arg(long)]
    pub(crate) patience: u32,
}
