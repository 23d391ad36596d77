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

/// Measure how long durable writes take in a directory, and whether its syncs are real
///
/// Writes only to scratch files of its own in DIR, bounded in bytes and seconds, which are gone
/// however the program ends; if SIGKILL leaves one behind (btrfs and others need names), the next
/// run in DIR removes it. Measures all rows of pg_test_fsync, under its labels, and rows that write
/// as write-ahead logs do; the rows take turns in random order. Says what it will write first.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to do")]
#[command(after_help = help("fsync", "\
Examples:
  straddle fsync /var/lib/postgresql       pg_test_fsync's rows and log patterns
  straddle fsync /var/lib/etcd --for etcd  for etcd: PASS, WARN or FAIL
  straddle fsync /data --dry-run           how much is written, for how long
  straddle fsync /data --rows pg           the rows of pg_test_fsync alone
  straddle fsync /data --rows none         only: is a completed sync real?
  straddle fsync /data --pid 4711          are this process's syncs intercepted?
  straddle fsync /data --rows all          also several writes for each sync
  straddle fsync /data --sustained --bytes-max 8G
                                           write on until the drive's buffer is full
  straddle fsync /data -o result.json      keep the result
  straddle fsync /data --format fio-json   in the form of fio's JSON"))]
pub(crate) struct Fsync {
    /// The directory whose file system and drive are meant
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

    /// Say whether that is fast enough for an engine: etcd, postgresql, ...
    ///
    /// Measures the engine's writes in place of the usual rows. `straddle explain engines` lists
    /// all engines; `straddle explain etcd` shows the limits of one, with their sources.
    #[arg(
        long = "for",
        value_name = "ENGINE",
        value_parser = ENGINES,
        hide_possible_values = true
    )]
    pub(crate) engine: Option<String>,

    /// Also check whether a running process's syncs are intercepted: libraries, filters, a tracer
    ///
    /// Looks for functions that replace libc's fsync and the like in the program, in what
    /// LD_PRELOAD, LD_AUDIT and /etc/ld.so.preload name (libeatmydata), and in every other loaded
    /// library; for seccomp filters that suppress syncs; and for a tracer. Without root, little of
    /// another user's process can be seen. A process with seccomp filters is stopped for a moment
    /// while they are read.
    #[arg(
        long,
        value_name = "PID",
        value_parser = process
    )]
    pub(crate) pid: Option<u32>,

    /// Add an engine profile, or override a built-in one; may be repeated
    #[arg(long = "profile", value_name = "FILE", requires = "engine")]
    pub(crate) profiles: Vec<PathBuf>,

    /// Round trips from this node to the others of its group, at most 99: 300us,300us
    ///
    /// Used for the best possible rates; if omitted 500us in groups of three and five nodes. The
    /// first one is also used as the round trip to a client.
    #[arg(
        long = "rtt",
        value_name = "TIME",
        requires = "engine",
        value_delimiter = ',',
        value_parser = time,
        help_heading = "Judging"
    )]
    pub(crate) round_trips_ns: Vec<u64>,

    /// Commits that share a sync, for the best possible rates; if omitted 100
    #[arg(
        long,
        value_name = "N",
        requires = "engine",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
        help_heading = "Judging"
    )]
    pub(crate) batch: Option<u64>,

    /// Also write without a pause, to see where the drive's write buffer ends
    ///
    /// Writes what --bytes-max leaves, within --seconds more.
    #[arg(long)]
    pub(crate) sustained: bool,

    /// Longest time for everything: making the files, the rows, checking the syncs
    ///
    /// --sustained takes as long again. A call that is under way at the end is waited for. With
    /// --for, a time above the default also raises the number of writes at which it stops.
    #[arg(
        long,
        value_name = "TIME",
        default_value_t = FSYNC_SECONDS,
        value_parser = seconds,
        allow_negative_numbers = true,
        help_heading = "Bounds"
    )]
    pub(crate) seconds: u32,

    /// Most bytes to write, including the scratch files
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

    /// Show what the figures depend on
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FsyncRows {
    /// The rows of `pg_test_fsync`
    Pg,
    /// Writes like those of write-ahead logs
    Wal,
    /// Both, each method with and without the page cache
    Usual,
    /// Also several writes per sync
    All,
    /// No rows: only check whether a completed sync is real
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FsyncFailOn {
    /// FAIL, or syncs that are not durable
    Failure,
    /// WARN or FAIL
    Warning,
    /// Neither
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
