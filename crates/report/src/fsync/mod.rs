//! Results of `straddle fsync`: the contract behind its `--json`, and the views for people.
//!
//! Every number carries its unit in its key. Unknown is `null`. Adding fields is compatible;
//! anything else raises the number in [`FSYNC_SCHEMA`].

mod engine_verdict;
mod engine_verdict_view;
mod fio_json;
mod forecast;
mod honesty;
mod honesty_view;
mod json;
mod plugin;
mod progress;
mod rows;
mod sustained;
mod table;

use serde::{Deserialize, Serialize};

use crate::envelope::Envelope;

pub use engine_verdict::{Ceiling, EngineLimit, FsyncVerdict};
pub use fio_json::fsync_fio_json;
pub use forecast::{FSYNC_PLAN_SCHEMA, Forecast, FsyncPlan, fsync_plan_json, fsync_plan_text};
pub use honesty::{DriveWord, Evidence, Honesty, LayerFlushes, ProcessWord};
pub use json::{fsync_json, fsync_parse};
pub use plugin::{fsync_plugin, fsync_severity};
pub use progress::{doing, measuring};
pub use rows::{DataPath, FsyncRow, Rounds, RowComparison, RowMethod, SlowestWrites};
pub use sustained::{Knee, Sustained, SustainedPoint};
pub use table::fsync_table;
pub(crate) use table::title;

/// The schema's name and version.
pub const FSYNC_SCHEMA: &str = "straddle.fsync/2";

/// Result of a run of `straddle fsync`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fsync {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The seed that decided the order of the rows and the bytes written.
    pub seed: u64,
    /// Duration of all of it, the scratch file included, in nanoseconds.
    pub elapsed_ns: u64,
    /// Subject of the measurement.
    pub target: FsyncTarget,
    /// The file that was written to measure; `null` where none was.
    pub scratch: Option<FsyncScratch>,
    /// Forecast made before anything was written; `null` where nothing was to be.
    pub forecast: Option<Forecast>,
    /// Rounds in which the rows took turns; `null` where none was measured.
    pub rounds: Option<Rounds>,
    /// Measured rows in the order in which it is shown.
    pub rows: Vec<FsyncRow>,
    /// Rows against each other, where the question is a usual one.
    pub comparisons: Vec<RowComparison>,
    /// The run that goes on until the drive's write buffer is full; `null` without `--sustained`.
    pub sustained: Option<Sustained>,
    /// Verdict for an engine; `null` without `--for`.
    pub verdict: Option<FsyncVerdict>,
    /// Verdict on completed syncs; `null` where nobody looked.
    pub honesty: Option<Honesty>,
}

/// The directory that was measured, and what it lies on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FsyncTarget {
    /// The directory as it was given; harmless to print.
    pub path: String,
    /// The type of its file system, as the kernel names it: `ext4`; empty where it is not known.
    pub filesystem: String,
    /// The options of its mount and of its file system, as the kernel tells them; empty where it
    /// does not.
    pub mount_options: Vec<String>,
    /// The number of the device that the file system says it is on: `8:1`; `null` when not known.
    pub device: Option<String>,
    /// The layers under it, the topmost first; empty where they cannot be told.
    pub layers: Vec<FsyncLayer>,
    /// The kernel's name of the drive; `null` where there are several, or it is not known.
    pub drive: Option<String>,
    /// The drive's model; `null` when not known.
    pub model: Option<String>,
    /// The drive's firmware; `null` when not known.
    pub firmware: Option<String>,
    /// Identity that tells the drive from others: WWN, EUI-64 or serial number; `null` when not
    /// known.
    pub identity: Option<String>,
    /// True if the drive rotates; `null` when not known.
    pub rotating: Option<bool>,
    /// The drive's length in bytes; `null` when not known.
    pub capacity_bytes: Option<u64>,
    /// Bytes a second that others read from and wrote to the drive just before; `null` where the
    /// drive does not count them, and in results of older versions.
    #[serde(default)]
    pub others_bytes_per_second: Option<u64>,
    /// Why some of it is not known; `null` where all is.
    pub unknown: Option<String>,
}

/// One layer under the directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FsyncLayer {
    /// Its name, as in `straddle check`: `sda1`.
    pub name: String,
    /// Kind: `ext4`, `partition`, `drive`.
    pub kind: String,
    /// Description in a few words; empty where its name says all.
    pub title: String,
}

/// The file that was written to measure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FsyncScratch {
    /// The directory in which it had no name.
    pub place: String,
    /// Greatest number of bytes of all scratch files at once.
    pub length_bytes: u64,
    /// Number of bytes written in all, the preparation included.
    pub written_bytes: u64,
    /// Duration of the preparation, in nanoseconds.
    pub prepared_ns: u64,
}
