//! Arguments of `straddle fsync`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use workload::Duration;

use super::common::{Printed, Start, Unknown, help};
use super::completion_values::ENGINES;
use super::values::{seconds, size_above_0};

/// The most round trips of a group.
pub(crate) const ROUND_TRIPS_MAX: usize = 99;

/// The seconds that a run takes where none are given.
pub(crate) const FSYNC_SECONDS: u32 = 15;

/// Measure how long durable writes take in a directory, and whether syncs there reach the drive
///
/// Runs all tests of pg_test_fsync, under the same labels, and tests that write as a write-ahead
/// log does. Each test is a row of the output; the rows take turns in random order. Writes only to
/// its own scratch files in DIR, within limits of bytes and time that it prints first. The files
/// are gone when the program ends. If SIGKILL leaves one behind (possible on btrfs and some other
/// file systems), the next run in DIR removes it.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to do")]
#[command(after_help = help("fsync", "\
Examples:
  straddle fsync /var/lib/postgresql       # pg_test_fsync's rows, log patterns
  straddle fsync /var/lib/etcd --for etcd  # fast enough for etcd?
  straddle fsync /data --dry-run           # how many bytes, for how long
  straddle fsync /data --rows pg           # only the rows of pg_test_fsync
  straddle fsync /data --rows none         # only check whether syncs are real
  straddle fsync /data --pid 4711          # are 4711's syncs intercepted?
  straddle fsync /data --rows all          # also 1 to 32 writes per sync
  straddle fsync /data --sustained --bytes-max 8G
                                           # write until the buffer is full
  straddle fsync /data -o result.json      # save the result
  straddle fsync /data --format fio-json   # JSON in fio's form"))]
pub(crate) struct Fsync {
    /// Directory to measure in: its file system and its drive are tested
    #[arg(value_name = "DIR", help_heading = None::<&'static str>)]
    pub(crate) directory: PathBuf,

    /// Rows to measure
    #[arg(
        long,
        value_enum,
        value_name = "ROWS",
        default_value_t = FsyncRows::Usual,
        conflicts_with = "engine"
    )]
    pub(crate) rows: FsyncRows,

    /// Judge whether durable writes are fast enough for this engine: etcd, postgresql, ...
    ///
    /// Measures writes like those of the engine, instead of the usual rows. `straddle explain
    /// engines` lists all engines; `straddle explain etcd` shows the limits of one and their
    /// sources.
    #[arg(
        long = "for",
        value_name = "ENGINE",
        value_parser = ENGINES,
        hide_possible_values = true
    )]
    pub(crate) engine: Option<String>,

    /// Also check whether something intercepts the syncs of this running process
    ///
    /// Three things can: a library that replaces fsync and similar calls (as libeatmydata does), a
    /// seccomp filter, and a tracer. The check reads the program and all loaded libraries, also
    /// those of LD_PRELOAD, LD_AUDIT and /etc/ld.so.preload. Without root, little of another user's
    /// process is visible. A process with seccomp filters is stopped for a moment while they are
    /// read.
    #[arg(
        long,
        value_name = "PID",
        value_parser = process
    )]
    pub(crate) pid: Option<u32>,

    /// Add an engine profile, or override a built-in one; may be repeated
    #[arg(long = "profile", value_name = "FILE", requires = "engine")]
    pub(crate) profiles: Vec<PathBuf>,

    /// Round-trip times from this node to the other nodes, one for each: 300us,300us
    ///
    /// Up to 99 nodes. Used to compute the highest possible commit rates (ceilings). The first
    /// value also stands for the round trip of a client. Default: 500us, for clusters of three and
    /// of five nodes.
    #[arg(
        long = "rtt",
        value_name = "TIME",
        requires = "engine",
        value_delimiter = ',',
        value_parser = time,
        help_heading = "Judging"
    )]
    pub(crate) round_trips_ns: Vec<u64>,

    /// Compute the highest possible commit rate for this many commits per sync; default: 100
    #[arg(
        long,
        value_name = "N",
        requires = "engine",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
        help_heading = "Judging"
    )]
    pub(crate) batch: Option<u64>,

    /// Afterwards also write without a pause, to see when the drive's write buffer is full
    ///
    /// Writes up to --bytes-max in total, and may take --seconds once more.
    #[arg(long)]
    pub(crate) sustained: bool,

    /// Maximum time of the run: making the files, measuring the rows, checking the syncs
    ///
    /// --sustained may take the same time again. A sync that is not finished at the end is waited
    /// for. With --for, measuring also ends at the number of writes or the time that `straddle
    /// explain ENGINE` shows, unless TIME is above the default.
    #[arg(
        long,
        value_name = "TIME",
        default_value_t = FSYNC_SECONDS,
        value_parser = seconds,
        allow_negative_numbers = true,
        help_heading = "Bounds"
    )]
    pub(crate) seconds: u32,

    /// Maximum bytes to write in total: filling the scratch files counts too
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "256M",
        value_parser = size_above_0,
        help_heading = "Bounds"
    )]
    pub(crate) bytes_max: u64,

    #[command(flatten)]
    pub(crate) start: Start,

    /// Exit with 1 when the verdict is at least this bad
    #[arg(
        long,
        value_enum,
        value_name = "VERDICT",
        default_value_t = FsyncFailOn::Failure,
        help_heading = "Judging"
    )]
    pub(crate) fail_on: FsyncFailOn,

    #[command(flatten)]
    pub(crate) unknown: Unknown,

    #[command(flatten)]
    pub(crate) printed: Printed,

    /// Show what the figures and the verdict depend on
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FsyncRows {
    /// The rows of `pg_test_fsync`
    Pg,
    /// Writes like those of write-ahead logs, and the series of 1 to 32 writes per sync
    Wal,
    /// All rows without the series of 1 to 32 writes per sync
    Usual,
    /// All rows
    All,
    /// No rows: only check whether a completed sync is real
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FsyncFailOn {
    /// FAIL, or syncs are not durable
    Failure,
    /// WARN or FAIL, or syncs are suspect or not durable
    Warning,
    /// Only if a sync call fails, whatever the verdict
    Never,
}

/// A time with its unit, as in engines' profiles: `300us`, `2ms`; in nanoseconds, a minute at most.
fn time(text: &str) -> Result<u64, String> {
    match Duration::parse(text) {
        Some(Duration(ns)) if ns <= 60_000_000_000 => Ok(ns),
        _ => Err("expected a whole number with its unit, at most a minute: 300us, 2ms".to_owned()),
    }
}

/// The number of a process.
fn process(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|&number: &u32| number > 0);
    number.ok_or_else(|| "expected a process number; pgrep -n postgres prints one".to_owned())
}
