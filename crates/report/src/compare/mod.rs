//! Two results of the same command side by side: the contract behind `straddle compare --json`,
//! and the view for people.
//!
//! A figure changed by the ratio of its two values. The interval of that ratio is made of the
//! intervals that the results hold: the least is the lower end after over the upper end before.
//! It misses the truth with a probability of at most the sum of theirs. Where a result holds no
//! interval, none is made up.
//!
//! Every number carries its unit in its key. Unknown is `null`. Adding fields is compatible;
//! anything else raises the number in [`COMPARE_SCHEMA`].

mod change;
mod comparability;
mod comparable_figures;
mod pairs;
mod uncounted_rows;
mod view;

use measure::Interval;
use serde::{Deserialize, Serialize};

use crate::bench::Bench;
use crate::envelope::Envelope;
use crate::fsync::Fsync;
use crate::probe::Probe;

pub(crate) use change::multiple;
pub use pairs::compare;
use uncounted_rows::why_not_counted;
pub use view::{compare_json, compare_table};

/// The schema's name and version.
pub const COMPARE_SCHEMA: &str = "straddle.compare/2";
/// The change that counts: what lies within 10 % either way is no difference. The limit is that of
/// a penalty in `straddle bench`.
pub const LIMIT: f64 = 1.10;
/// Start of the reasons that the column of changes says in short.
pub(crate) const NO_INTERVAL: &str = "no interval";
/// The result of a row that does not count for the verdict.
pub(crate) const NOT_COUNTED: &str = "not counted";

/// A result that can be compared with one of its kind.
#[derive(Clone, Copy, Debug)]
pub enum Measurement<'a> {
    /// Of `straddle bench`.
    Bench(&'a Bench),
    /// Of `straddle fsync`.
    Fsync(&'a Fsync),
    /// Of `straddle probe`.
    Probe(&'a Probe),
}

impl Measurement<'_> {
    /// The target that was measured, as it was given; harmless to print.
    #[must_use]
    pub fn target(&self) -> String {
        crate::text::one_line(match self {
            Measurement::Bench(bench) => &bench.target.path,
            Measurement::Fsync(fsync) => &fsync.target.path,
            Measurement::Probe(probe) => &probe.target.path,
        })
    }

    /// Duration of the run, in nanoseconds.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        match self {
            Measurement::Bench(bench) => bench.elapsed_ns,
            Measurement::Fsync(fsync) => fsync.elapsed_ns,
            Measurement::Probe(probe) => probe.elapsed_ns,
        }
    }

    /// The command that wrote it.
    #[must_use]
    pub fn command(self) -> &'static str {
        match self {
            Measurement::Bench(_) => "bench",
            Measurement::Fsync(_) => "fsync",
            Measurement::Probe(_) => "probe",
        }
    }
}

/// Two results side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparing {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The command that wrote both results: `bench`, `fsync` or `probe`.
    pub measured_by: String,
    /// The verdict over all rows that are judged.
    pub answer: CompareAnswer,
    /// The verdict as one sentence, with its bound.
    pub sentence: String,
    /// The change up to which nothing differs, in percent.
    pub limit_percent: f64,
    /// The earlier result.
    pub before: ComparedRun,
    /// The later result.
    pub after: ComparedRun,
    /// Why the two may not be comparable: another host, another drive.
    pub warnings: Vec<String>,
    /// Differences between the settings of the two runs.
    pub setting: Vec<SettingChange>,
    /// The figures that both results hold, in the order of the later one.
    pub rows: Vec<ComparedRow>,
    /// The names of what only the earlier result holds.
    pub only_before: Vec<String>,
    /// The names of what only the later result holds.
    pub only_after: Vec<String>,
    /// Counts over the rows that are judged.
    pub summary: CompareSummary,
}

/// One of the two runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// The target, as it was given.
    pub path: String,
    /// The machine; `null` when not known.
    pub host: Option<String>,
    /// The start of the run, RFC 3339 in UTC; empty when not known.
    pub started: String,
    /// The kernel's name of the drive; `null` when not known.
    pub drive: Option<String>,
    /// The drive's model; `null` when not known.
    pub model: Option<String>,
    /// The drive's firmware; `null` when not known.
    pub firmware: Option<String>,
    /// The drive's WWN, EUI-64 or serial number; `null` when not known.
    pub identity: Option<String>,
    /// The version of straddle that measured.
    pub version: String,
    /// Why nothing was measured, or not all; `null` where all was.
    pub refusal: Option<String>,
}

/// A difference between the settings of the two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettingChange {
    /// Its name in kebab case with the unit last: `kernel`, `granule-bytes`.
    pub key: String,
    /// The earlier value; `null` when not known.
    pub before: Option<String>,
    /// The later value; `null` when not known.
    pub after: Option<String>,
}

/// Answer to whether two runs found the same. Of several rows the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CompareAnswer {
    /// The whole interval of the change lies within the limit.
    Same,
    /// The interval reaches beyond the limit and holds "no change", or there is none.
    CannotTell,
    /// The interval leaves "no change" out and reaches beyond the limit.
    Differs,
}

impl CompareAnswer {
    /// The words printed for it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            CompareAnswer::Same => "same",
            CompareAnswer::CannotTell => "cannot tell",
            CompareAnswer::Differs => "differs",
        }
    }
}

/// A figure of both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRow {
    /// Group: the title of an experiment, `latency`, `answers`.
    pub group: String,
    /// The arm, the row or the question.
    pub name: String,
    /// Measure that is compared.
    pub measure: Measure,
    /// The earlier value.
    pub before: RunValue,
    /// The later value.
    pub after: RunValue,
    /// The later value as a multiple of the earlier one; `null` for answers in words.
    pub change: Option<Interval>,
    /// The probability that the interval of the change misses the truth, at most; `null` where
    /// there is no interval.
    pub alpha: Option<f64>,
    /// The change in words: `4 to 7 % longer`.
    pub words: String,
    /// Answer to whether the two differ.
    pub answer: CompareAnswer,
    /// True if "cannot tell" of this row counts for the verdict. Any other answer always does; a
    /// p99 that is too uncertain does not.
    pub is_judged: bool,
    /// Why it cannot be told; `null` where the change says it.
    pub reason: Option<String>,
}

impl ComparedRow {
    /// Returns whether the row counts for the verdict.
    pub(crate) fn counts(&self) -> bool {
        self.is_judged || self.answer != CompareAnswer::CannotTell
    }

    /// Returns the words for its result.
    pub(crate) fn result(&self) -> &'static str {
        if self.counts() { self.answer.words() } else { NOT_COUNTED }
    }
}

/// Measure of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Ratio of two times.
    Ratio,
    /// The latency that half stay at or below.
    Median,
    /// The latency that 99 % stay at or below.
    P99,
    /// The latency that 99.9 % stay at or below.
    #[serde(rename = "p99.9")]
    P999,
    /// Another quantile of latencies.
    Quantile,
    /// An answer in words.
    Answer,
}

impl Measure {
    /// The word for it in documents.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Measure::Ratio => "ratio",
            Measure::Median => "median",
            Measure::P99 => "p99",
            Measure::P999 => "p99.9",
            Measure::Quantile => "quantile",
            Measure::Answer => "answer",
        }
    }
}

/// A value of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RunValue {
    /// A time.
    Latency {
        /// In nanoseconds; `null` where none was seen.
        value_ns: Option<u64>,
        /// The lower end of its interval, in nanoseconds; `null` where none is known.
        low_ns: Option<u64>,
        /// The upper end, in nanoseconds; `null` where none is known.
        high_ns: Option<u64>,
    },
    /// A number of times.
    Ratio {
        /// The ratio with its interval.
        #[serde(flatten)]
        interval: Interval,
    },
    /// An answer in words.
    Said {
        /// The answer; `null` where there is none.
        said: Option<String>,
        /// The comparisons that say it, or why there is none; `null` where the result has neither.
        because: Option<String>,
    },
}

/// Counts over the rows that are judged: all but those of a p99 that cannot be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareSummary {
    /// The rows.
    pub compared: u64,
    /// Of those, the ones that do not differ by more than the limit.
    pub same: u64,
    /// Of those, the ones that differ.
    pub differs: u64,
    /// Of those, the ones that cannot be told.
    pub cannot_tell: u64,
    /// The number of names in `only_before`.
    pub only_before: u64,
    /// The number of names in `only_after`.
    pub only_after: u64,
}
