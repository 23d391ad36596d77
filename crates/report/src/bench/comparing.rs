//! What two results of `straddle bench` come to side by side: the contract behind
//! `straddle compare --json`.
//!
//! Every number carries its unit in its key. Unknown is `null`. Adding fields is compatible;
//! anything else raises the number in [`COMPARE_SCHEMA`].

use serde::{Deserialize, Serialize};

/// The schema's name and version.
pub const COMPARE_SCHEMA: &str = "straddle.bench.compare/1";

/// Two results side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparing {
    /// Name and version of this format: `straddle.bench.compare/1`.
    pub schema: String,
    /// The version of straddle that compared.
    pub version: String,
    /// The earlier result.
    pub before: ComparedRun,
    /// The later result.
    pub after: ComparedRun,
    /// What differs between the two runs' settings.
    pub setting: Vec<Setting>,
    /// The experiments that both have, in the order of the later result.
    pub experiments: Vec<ComparedExperiment>,
    /// The titles of experiments that only the earlier result has.
    pub only_before: Vec<String>,
    /// The titles of experiments that only the later result has.
    pub only_after: Vec<String>,
    /// What the reader should know of the comparison.
    pub notes: Vec<String>,
    /// Counts over the experiments.
    pub summary: CompareSummary,
}

/// One of the two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// What was measured, as it was given.
    pub path: String,
    /// When it started, RFC 3339 in UTC.
    pub started: String,
    /// The version of straddle that measured.
    pub version: String,
    /// Why nothing was measured; `null` where something was.
    pub refusal: Option<String>,
}

/// Something that differs between the two runs' settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// What, in kebab case with the unit last: `kernel`, `granule-bytes`.
    pub key: String,
    /// What it was; `null` when not known.
    pub before: Option<String>,
    /// What it is; `null` when not known.
    pub after: Option<String>,
}

/// Whether two runs found the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CompareAnswer {
    /// The intervals overlap: no difference is shown.
    Same,
    /// One of the runs does not say, so nothing can be said of both.
    CannotTell,
    /// The intervals do not overlap.
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

/// An experiment of both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedExperiment {
    /// What was done, as a person says it.
    pub title: String,
    /// The earlier run's verdict: `penalty`, `no-penalty`, `small`, `inconclusive` or `void`.
    pub verdict_before: String,
    /// The later run's verdict.
    pub verdict_after: String,
    /// The probability that an interval of the earlier run ever misses the truth; `null` when not
    /// known.
    pub alpha_before: Option<f64>,
    /// The same of the later run.
    pub alpha_after: Option<f64>,
    /// Whether any ratio differs, else whether any cannot be told.
    pub answer: CompareAnswer,
    /// Each arm's ratio to its baseline, controls left out.
    pub ratios: Vec<ComparedRatio>,
    /// Each arm's latencies, those of arms that only one run has included.
    pub arms: Vec<ComparedArm>,
}

/// How many times as long as its baseline an arm took in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRatio {
    /// The arm's name.
    pub arm: String,
    /// The baseline's name.
    pub against: String,
    /// What the earlier run found; `null` where it has no such comparison.
    pub before: Option<Interval>,
    /// What the later run found; `null` where it has no such comparison.
    pub after: Option<Interval>,
    /// How many times the earlier ratio the later one is: from the later interval's low end over
    /// the earlier one's high end, to the reverse; `null` where an end is not known. It misses the
    /// truth no more often than one of the two.
    pub change: Option<Interval>,
    /// Whether the intervals overlap.
    pub answer: CompareAnswer,
    /// Why it cannot be told; `null` where it can.
    pub reason: Option<String>,
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The median of the pairs' ratios; `null` where there is none.
    pub ratio: Option<f64>,
    /// The lower end; `null` while nothing is known.
    pub low: Option<f64>,
    /// The upper end; `null` while nothing is known.
    pub high: Option<f64>,
}

/// An arm's latencies in both runs, which are not paired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedArm {
    /// The arm's name.
    pub arm: String,
    /// What the earlier run saw; `null` where it has no such arm.
    pub before: Option<Figures>,
    /// What the later run saw; `null` where it has no such arm.
    pub after: Option<Figures>,
    /// The later median as a multiple of the earlier one, without any claim; `null` where one is
    /// not known.
    pub median_ratio: Option<f64>,
    /// The same of p99.
    pub p99_ratio: Option<f64>,
}

/// An arm's latencies in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figures {
    /// How many latencies were seen.
    pub count: u64,
    /// The latency that half stay below, in nanoseconds; `null` where none was seen.
    pub median_ns: Option<u64>,
    /// The latency that 99 % stay below, in nanoseconds; `null` with too few.
    pub p99_ns: Option<u64>,
}

/// Counts over the experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareSummary {
    /// Experiments that both runs have.
    pub compared: u64,
    /// Of those, the ones whose intervals overlap.
    pub same: u64,
    /// Of those, the ones with a ratio whose intervals do not overlap.
    pub differs: u64,
    /// Of those, the ones of which it cannot be told.
    pub cannot_tell: u64,
    /// Experiments that only the earlier run has.
    pub only_before: u64,
    /// Experiments that only the later run has.
    pub only_after: u64,
}

impl Comparing {
    /// Whether an experiment that both have is shown to differ.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.summary.differs > 0
    }
}
