//! Results of `straddle bench`: the contract behind its `--json`, and the views for people.
//!
//! Every number carries its unit in its key. Unknown is `null`. Adding fields is compatible;
//! anything else raises the number in [`BENCH_SCHEMA`].

mod arms;
mod dry_run;
pub(crate) mod evenness;
pub(crate) mod figure_rounding;
mod fio_json;
pub(crate) mod grid;
pub(crate) mod json;
mod overview;
mod picture;
mod plugin;
mod prediction;
mod progress;
pub(crate) mod sentences;
mod table;
mod workload;

use measure::{CostVerdict, Interval, PairStep, Regime, Role};
use serde::{Deserialize, Serialize};
use units::Source;

use crate::envelope::Envelope;

pub(crate) use arms::is_control;
pub use dry_run::{DryRun, PLAN_SCHEMA, dry_run_json, dry_run_text, wear};
pub use fio_json::{fio_json, fio_json_left_out};
pub use json::{bench_json, bench_parse};
pub use picture::picture;
pub use plugin::bench_plugin;
pub use prediction::{Effort, Predicted};
pub use progress::{BenchProgress, progress};
pub use table::table;
pub use workload::{OperationDirection, Sync, Workload, WorkloadOrder};

/// The schema's name and version.
pub const BENCH_SCHEMA: &str = "straddle.bench/1";

/// Result of a run of `straddle bench`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bench {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The seed that decided all orders and offsets.
    pub seed: u64,
    /// Duration of all of it, the scratch file included, in nanoseconds.
    pub elapsed_ns: u64,
    /// Subject of the measurement.
    pub target: BenchTarget,
    /// Scratch file of the measurement; `null` where nothing was written.
    pub scratch: Option<ScratchFacts>,
    /// Comparisons in the order in which they were shown.
    pub experiments: Vec<Experiment>,
}

/// Subject of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchTarget {
    /// Path as it was given; harmless to print.
    pub path: String,
    /// The layers under it, the topmost first, each in a few words.
    pub layers: Vec<String>,
    /// The kernel's name of the drive; `null` where there are several, or it is not known.
    pub drive: Option<String>,
    /// True if that is a loop device with the page cache of its host file, which the first note
    /// says.
    #[serde(default)]
    pub cached: bool,
    /// The drive's model; `null` when not known.
    pub model: Option<String>,
    /// The version of the drive's firmware; `null` when not known.
    pub firmware: Option<String>,
    /// True if the drive rotates; `null` when not known.
    pub rotating: Option<bool>,
    /// The drive's length in bytes; `null` when not known.
    pub capacity_bytes: Option<u64>,
    /// Bytes a second that others read from and wrote to the drive just before; `null` where the
    /// drive does not count them, and in results of older versions.
    #[serde(default)]
    pub others_bytes_per_second: Option<u64>,
    /// The drive's addressable unit in bytes; `null` when not known.
    pub logical_sector_bytes: Option<u64>,
    /// The granule against which arms were placed, in bytes.
    pub granule_bytes: Option<u64>,
    /// The address at which the first granule starts, in bytes.
    pub granule_origin_bytes: Option<u64>,
    /// Source.
    pub granule_source: Option<Source>,
}

/// The file that was written to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScratchFacts {
    /// The directory in which it had no name, or the device.
    pub place: String,
    /// Its length in bytes.
    pub length_bytes: u64,
    /// Number of pieces of it that lie on the drive in one run each.
    pub pieces: u64,
    /// The drive's address of its first byte; `null` when not known.
    pub drive_address_bytes: Option<u64>,
    /// Duration of writing it, in nanoseconds.
    pub prepared_ns: u64,
    /// Number of bytes that the run wrote in all, the file itself included; 0 in results of older
    /// versions.
    #[serde(default)]
    pub written_bytes: u64,
}

/// One comparison of arms under one workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Experiment {
    /// Work in words: `4 KiB write + fdatasync, depth 1`.
    pub title: String,
    /// One observation: `operation`, `block` (of `block_operations`), `command` or `step`.
    pub unit: String,
    /// The operations of a block; 1 otherwise.
    pub block_operations: u64,
    /// Workload, for programs.
    pub workload: Workload,
    /// The pairs that count.
    pub pairs: u64,
    /// The pairs before those, seen and left out: warm-up.
    pub discarded_pairs: u64,
    /// Duration, in nanoseconds.
    pub elapsed_ns: u64,
    /// Number of bytes that its pairs wrote.
    pub written_bytes: u64,
    /// The arms, the baseline first.
    pub arms: Vec<Arm>,
    /// Each other arm against the baseline, in the order of the arms.
    pub comparisons: Vec<Comparison>,
    /// The probability that an interval ever misses the truth, at most; `null` where it is not
    /// known.
    #[serde(with = "units::finite")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub alpha: f64,
    /// Verdict at the end.
    pub verdict: CostVerdict,
    /// The verdict as one sentence with its figures, or why there is none.
    pub reason: String,
    /// Prediction of the stack; `null` where it predicts nothing.
    pub predicted: Option<Predicted>,
    /// Regimes of the baseline's latency during the run: more than one where it changed.
    pub regimes: Vec<Regime>,
    /// Steps in which the interval of the first comparison narrowed.
    pub narrowing: Vec<PairStep>,
}

/// One of the things compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arm {
    /// `aligned`, `shifted 512 B`, `control`, ...
    pub name: String,
    /// Purpose.
    pub role: Role,
    /// Shift, in bytes.
    pub shift_bytes: u64,
    /// Number of latencies seen: operations, or commands.
    pub count: u64,
    /// The latency that half stay below, in nanoseconds.
    pub median_ns: u64,
    /// The latency that 99 % stay below; `null` with fewer than 100.
    pub p99_ns: Option<u64>,
    /// The least latency.
    pub least_ns: u64,
    /// The greatest latency.
    pub greatest_ns: u64,
    /// Operations a second; `null` for commands.
    pub operations_per_second: Option<f64>,
    /// The median in turns of the platter; `null` where it does not rotate or the speed is unknown.
    pub turns: Option<f64>,
    /// All latencies: the least of each bucket in nanoseconds, and how many are in it. A bucket is
    /// at most 0.8 % wide on either side of its middle.
    #[serde(serialize_with = "crate::json::on_one_line")]
    pub histogram: Vec<(u64, u64)>,
    /// Counters of the drive while this arm ran; `null` when it does not count.
    pub drive: Option<DriveCounts>,
}

/// Counters of the drive, others' operations included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveCounts {
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Reads and writes joined with a neighbor in the queue.
    pub merges: u64,
    /// Flushes completed; `null` where the kernel does not count them.
    pub flushes: Option<u64>,
    /// Operations of which the drive counted exactly the bytes asked for.
    pub exact_operations: u64,
    /// Operations that were looked at one by one.
    pub seen_operations: u64,
}

/// An arm against the baseline: how many times as long it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The arm's name.
    pub arm: String,
    /// The baseline's name.
    pub against: String,
    /// The median of the pairs' ratios, with its interval.
    #[serde(flatten)]
    pub interval: Interval,
    /// The clipped mean of the pairs' ratios (of their logarithms), a second figure; `null` before
    /// the pilot ended.
    pub clipped_mean: Option<Interval>,
    /// The ratio of each pair that counts, in their order: all, or of more than 256 at least 128,
    /// drawn evenly, the same pairs for every arm. Empty in results of older versions.
    #[serde(default, serialize_with = "crate::json::on_one_line")]
    pub pair_ratios: Vec<f64>,
}
