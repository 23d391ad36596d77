//! Arguments of `straddle generate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::common::help;
use super::values::{size_above_0, size_u32};
use crate::exit::table;

/// Generate manual pages, shell completions, JSON schemas, or a capture of this machine
#[derive(Debug, Args)]
#[command(after_help = table::help("generate"))]
pub(crate) struct Generate {
    #[command(subcommand)]
    pub(crate) what: GenerateWhat,
}

/// Output to generate; each prints to standard output unless specified otherwise.
#[derive(Debug, Subcommand)]
pub(crate) enum GenerateWhat {
    Man(Man),
    Completions(Completions),
    Schema(Schema),
    Sysroot(Sysroot),
    Raidtest(Raidtest),
}

/// Print a manual page, or write all of them into a directory
#[derive(Debug, Args)]
#[command(after_help = help("generate", "\
Examples:
  straddle generate man check | man -l -
  straddle generate man --to /usr/share/man/man1"))]
pub(crate) struct Man {
    /// Command whose page to print, such as `check`; default: the page of straddle itself
    #[arg(value_name = "COMMAND", conflicts_with = "to")]
    pub(crate) command: Vec<String>,

    /// Write all pages into this directory, which is created if missing
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) to: Option<PathBuf>,
}

/// Print a completion script
#[derive(Debug, Args)]
#[command(after_help = help("generate", "\
Examples:
  straddle generate completions bash > /etc/bash_completion.d/straddle
  straddle generate completions zsh > /usr/share/zsh/site-functions/_straddle
  straddle generate completions fish > /etc/fish/completions/straddle.fish"))]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Print the JSON schema of a command's output
#[derive(Debug, Args)]
#[command(after_help = help("generate", "\
Examples:
  straddle generate schema > straddle.check.1.schema.json"))]
pub(crate) struct Schema {
    /// Output that the schema describes. `bench-plan` and `fsync-plan` are for --dry-run, `changes`
    /// is for `check --watch`; `drives`, `simulation`, `published` and `torture` are for
    /// `drive`
    #[arg(value_enum, default_value_t = SchemaOf::Check)]
    pub(crate) name: SchemaOf,
}

/// Output that a schema describes: a command's `--json`, or with `--watch` its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    Check,
    Trace,
    Plan,
    Convert,
    Bench,
    BenchPlan,
    Probe,
    Compare,
    Fsync,
    FsyncPlan,
    Atomic,
    Watch,
    Drives,
    Simulation,
    Published,
    Torture,
    Changes,
}

/// Capture what the kernel reports of this machine's disks, for `straddle check --sysroot`
///
/// The capture holds what straddle reads from /sys, /proc and udev, the tables of device-mapper,
/// and the drives' answers. No content of a disk is in it. Serial numbers, WWNs, UUIDs, host names
/// and keys are replaced by numbers; the same value always gets the same number. Names of
/// directories outside the system's own are replaced. Names of disks, volumes, models and file
/// systems stay: read the capture before you send it.
#[derive(Debug, Args)]
#[command(after_help = help("generate", "\
Examples:
  straddle generate sysroot -o here.sysroot       # as root: also asks drives
  straddle generate sysroot | gzip > here.gz      # check also reads gzip
  straddle check --sysroot here.sysroot           # on any machine"))]
pub(crate) struct Sysroot {
    /// Write to this file instead of standard output; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replace FILE if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,

    /// Keep the paths of mount points and of the files behind loop devices
    #[arg(long)]
    pub(crate) keep_paths: bool,
}

/// Write a file of requests for `bench --raidtest`, in raidtest's own format
#[derive(Debug, Args)]
#[command(after_help = help("generate", "\
Examples:
  straddle generate raidtest --media 64M --count 10000 reads.raidtest
  straddle bench /data --raidtest reads.raidtest"))]
pub(crate) struct Raidtest {
    /// The file to write, which must not exist; - is standard output
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Size of the device that the requests address; at least 128 KiB
    #[arg(long, value_name = "SIZE", value_parser = size_above_0)]
    pub(crate) media: u64,

    /// Sector size, a power of two; all offsets and lengths are multiples of it
    #[arg(long, value_name = "SIZE", value_parser = size_u32, default_value = "512")]
    pub(crate) sector: u32,

    /// Number of requests
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) count: usize,

    /// Kind of requests
    #[arg(long, value_enum, default_value_t = RaidtestKind::Read)]
    pub(crate) kind: RaidtestKind,

    /// Random seed of the requests
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Kind of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RaidtestKind {
    /// Reads only
    Read,
    /// Writes only
    Write,
    /// Each request is a read or a write, with equal chance
    Mixed,
}
