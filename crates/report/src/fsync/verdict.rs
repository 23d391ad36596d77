//! Whether durable writes are fast enough for an engine.

use measure::fitness::Fitness;
use serde::{Deserialize, Serialize};

/// The answer for one engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FsyncVerdict {
    /// The engine's name: `etcd`.
    pub engine: String,
    /// What the engine is, in one line.
    pub title: String,
    /// Whether they are fast enough.
    pub verdict: Fitness,
    /// True if most writes are fast enough and few take far too long: contention, burst credits.
    pub has_rare_stalls: bool,
    /// Why a completed sync means nothing here, so that no speed is fast enough; `null` where
    /// nothing shows that.
    pub not_durable: Option<String>,
    /// What the operator should know, as one sentence; the figures stand in `quantile`.
    pub sentence: String,
    /// What to do next.
    pub next: String,
    /// The engine's write pattern, in words.
    pub pattern: String,
    /// What one durable write is, in words: `write + fdatasync`.
    pub operation: String,
    /// What was measured against the limits; `null` where nothing was.
    pub quantile: Option<QuantileInterval>,
    /// The quantile by which stalls are told to be rare; `null` where nothing was measured.
    pub few: Option<QuantileInterval>,
    /// Number of durable writes likely to settle it; `null` where it is settled, or none would.
    pub samples_to_settle: Option<u64>,
    /// The limits, each with its source.
    pub limits: Vec<EngineLimit>,
    /// What is possible at best, each with its assumption.
    pub ceilings: Vec<Ceiling>,
    /// What is not sure about the pattern, and what else an operator should know.
    pub notes: Vec<String>,
}

/// A quantile of latencies, and how sure it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuantileInterval {
    /// Which quantile, in percent: 99.
    pub quantile_percent: f64,
    /// The figure, in nanoseconds.
    pub value_ns: u64,
    /// The lower end of its interval; `null` while it is not known.
    pub low_ns: Option<u64>,
    /// The upper end; `null` while it is not known.
    pub high_ns: Option<u64>,
    /// The probability that the interval misses the truth, at most.
    pub alpha: f64,
    /// Number of latencies it comes from.
    pub samples: u64,
    /// Effective sample size: so many independent latencies would tell as much.
    pub effective_samples: u64,
    /// Number of independent latencies an upper end needs.
    pub needed_samples: u64,
    /// How the interval was reckoned, in words.
    pub method: String,
}

/// A limit of an engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EngineLimit {
    /// `warn` or `fail`: what is over it.
    pub grade: Fitness,
    /// Which quantile it is a limit of, in percent.
    pub quantile_percent: f64,
    /// The limit, in nanoseconds.
    pub limit_ns: u64,
    /// Who says so, with an address; or that it is ours, with the reason.
    pub source: String,
    /// True if it is straddle's own, since the engine names none.
    pub is_ours: bool,
    /// What an operator is told above it.
    pub sentence: String,
}

/// What is possible at best.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ceiling {
    /// What it is a ceiling of, in words.
    pub name: String,
    /// Operations a second; `null` where the ceiling is a time.
    pub operations_per_second: Option<f64>,
    /// A latency in nanoseconds; `null` where the ceiling is a rate.
    pub latency_ns: Option<u64>,
    /// What it assumes, in words.
    pub assumption: String,
}
