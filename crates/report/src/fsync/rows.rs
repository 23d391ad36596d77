//! The rows: one way of making writes durable each, with what it took.

use measure::durable::{Difference, RowGroup};
use measure::{Interval, Tail};
use serde::{Deserialize, Serialize};
use units::number::real;

use crate::bench::figure_rounding::{holds_one, number};

/// One way of making writes durable, and what it took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FsyncRow {
    /// Unique name: `pg.one.fdatasync`.
    pub id: String,
    /// Group of the row.
    pub group: RowGroup,
    /// Label of the row: by `pg_test_fsync`'s own label where it is one of its rows.
    pub label: String,
    /// True if it is a row of `pg_test_fsync`, done as that does it.
    pub is_pg: bool,
    /// Path of data.
    pub path: DataPath,
    /// Method that makes it durable.
    pub method: RowMethod,
    /// Place where the writes go: `overwrite` (the same place again), `sequential` (the next place
    /// in a written file), `preallocated` (the next place, allocated and never written), `append`
    /// (the file grows), or `nothing`.
    pub place: String,
    /// Bytes of each write; 0 where nothing is written.
    pub write_bytes: u64,
    /// Writes of one operation.
    pub writes_per_operation: u64,
    /// The operations that count.
    pub operations: u64,
    /// The operations before those, seen and left out: warm-up.
    pub discarded_operations: u64,
    /// Duration of the operations that count, together, in nanoseconds.
    pub busy_ns: u64,
    /// Operations a second, one behind the other; `null` where none counts.
    pub operations_per_second: Option<f64>,
    /// The mean of all latencies, in nanoseconds; `null` where none counts.
    pub mean_ns: Option<f64>,
    /// The latency that half stay at or below; `null` where none counts.
    pub median_ns: Option<u64>,
    /// The latency that 90 % stay at or below; `null` with fewer than 10.
    pub p90_ns: Option<u64>,
    /// The latency that 99 % stay at or below; `null` with fewer than 100.
    pub p99_ns: Option<u64>,
    /// The latency that 99.9 % stay at or below; `null` with fewer than 1000.
    pub p999_ns: Option<u64>,
    /// The least latency; `null` where none counts.
    pub least_ns: Option<u64>,
    /// The greatest latency; `null` where none counts.
    pub greatest_ns: Option<u64>,
    /// All latencies: the least of each bucket in nanoseconds, and how many are in it. A bucket is
    /// at most 0.8 % wide on either side of its middle.
    #[serde(serialize_with = "crate::json::on_one_line")]
    pub histogram: Vec<(u64, u64)>,
    /// The slowest latency of each stretch of the run; `null` where none counts, and in results of
    /// older versions.
    #[serde(default)]
    pub slowest: Option<SlowestWrites>,
    /// The median and p99 with their intervals; all intervals of a run together miss the truth with
    /// a probability of 5 % at most. Empty where none counts, and in results of older versions.
    #[serde(default)]
    pub tails: Vec<Tail>,
    /// Why it has no figures: no such method, no direct I/O, no turn within the run's bounds;
    /// `null` where it has.
    pub unavailable: Option<String>,
    /// Faults: a call that failed, a write that was short. A row with any has no figures.
    pub errors: Vec<String>,
}

/// Slowest operations of a row over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowestWrites {
    /// Length of each stretch, in nanoseconds.
    pub stretch_ns: u64,
    /// The slowest latency in each stretch since the rounds began, in nanoseconds, at most 64;
    /// `null` where no operation ended in it.
    #[serde(serialize_with = "crate::json::on_one_line")]
    pub latency_ns: Vec<Option<u64>>,
}

/// Path of data to the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DataPath {
    /// Through the page cache.
    #[default]
    Buffered,
    /// Past it, by `O_DIRECT`.
    Direct,
}

units::words!(DataPath);

/// Method that makes a row's writes durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RowMethod {
    /// The file is opened with `O_DSYNC`.
    OpenDatasync,
    /// The file is opened with `O_SYNC`.
    OpenSync,
    /// `fdatasync`.
    Fdatasync,
    /// `fsync`.
    Fsync,
    /// `fcntl(F_FULLFSYNC)`, which Linux does not have.
    FsyncWritethrough,
    /// `sync_file_range`, which is not durable.
    SyncFileRange,
    /// Nothing.
    #[default]
    None,
}

units::words!(RowMethod);

/// Rounds in which the rows took turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rounds {
    /// The rounds that count: in each, every row had one slice, in random order.
    pub rounds: u64,
    /// The rounds before those, seen and left out.
    pub discarded_rounds: u64,
    /// The rule by which those were left out, as a sentence.
    pub warm_up: String,
    /// Planned duration of a slice, in nanoseconds.
    pub slice_ns: u64,
    /// Duration of all rounds, in nanoseconds.
    pub elapsed_ns: u64,
    /// True if it ended before the last round was whole; that round counts as far as it came.
    pub was_cut_short: bool,
}

/// One row against another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowComparison {
    /// Question, as a person says it: `append against overwrite`.
    pub question: String,
    /// The row's id.
    pub row: String,
    /// The id of the row that it is compared with.
    pub against: String,
    /// Ratio of the times: the median of the rounds' ratios, with its interval.
    #[serde(flatten)]
    pub interval: Interval,
    /// The probability that the interval misses the truth, at most.
    pub alpha: f64,
    /// The rounds that are compared, in each of which both rows had a slice: all, or of a long run
    /// some that are drawn evenly from all of it.
    pub rounds: u64,
    /// Conclusion.
    pub conclusion: Difference,
}

impl FsyncRow {
    /// Its name without its first word, which is the kind of the row: `one.fdatasync`.
    pub(crate) fn short_id(&self) -> &str {
        self.id.split_once('.').map_or(&*self.id, |(_, name)| name)
    }
}

impl RowComparison {
    /// Returns whether there were too few rounds for any conclusion.
    pub(crate) fn has_too_few_rounds(&self) -> bool {
        let is_open =
            matches!(self.conclusion, Difference::CannotTell | Difference::NoDifferenceDetected);
        is_open && holds_one(self.interval).is_none()
    }

    /// Returns the conclusion in words, with the ratio of the medians of both `rows` where that is
    /// outside the interval of a difference.
    pub(crate) fn result(&self, rows: &[FsyncRow]) -> String {
        if self.has_too_few_rounds() {
            return "too few rounds to tell".to_owned();
        }
        let words = self.conclusion.word().replace('-', " ");
        match self.ratio_of_medians(rows) {
            Some(ratio) if self.is_difference() && !self.interval.contains(ratio) => {
                format!("{words}; medians {}", number(ratio))
            }
            _ => words,
        }
    }

    fn is_difference(&self) -> bool {
        matches!(self.conclusion, Difference::Slower | Difference::Faster)
    }

    /// The median of the first row divided by that of the second.
    fn ratio_of_medians(&self, rows: &[FsyncRow]) -> Option<f64> {
        let median = |id: &str| rows.iter().find(|row| row.id == id)?.median_ns.map(real);
        let ratio = median(&self.row)? / median(&self.against)?;
        ratio.is_finite().then_some(ratio)
    }
}
