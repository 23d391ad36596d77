//! Verdict on the speed of durable writes for an engine.

use measure::Tail;
use measure::engine_verdict::Fitness;
use serde::{Deserialize, Serialize};

/// The answer for one engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FsyncVerdict {
    /// The engine's name: `etcd`.
    pub engine: String,
    /// Title of the engine, in one line.
    pub title: String,
    /// Verdict on their speed.
    pub verdict: Fitness,
    /// True if most writes are fast enough and few take far too long: contention, burst credits.
    pub has_rare_stalls: bool,
    /// Why a completed sync means nothing here, so that no speed is fast enough; `null` where
    /// nothing shows that.
    pub not_durable: Option<String>,
    /// Message for the operator, as one sentence; the figures stand in `quantile`.
    pub sentence: String,
    /// Next step.
    pub next: String,
    /// The engine's write pattern, in words.
    pub pattern: String,
    /// One durable write in words: `write + fdatasync`.
    pub operation: String,
    /// Quantile held against the limits; `null` where nothing was.
    pub quantile: Option<Tail>,
    /// The quantile by which stalls are told to be rare; `null` where nothing was measured.
    pub few: Option<Tail>,
    /// Number of durable writes likely to settle it; `null` where it is settled, or none would.
    pub samples_to_settle: Option<u64>,
    /// The limits, each with its source.
    pub limits: Vec<EngineLimit>,
    /// Ceilings, each with its assumption.
    pub ceilings: Vec<Ceiling>,
    /// Doubts about the pattern, and what else an operator should know.
    pub notes: Vec<String>,
}

/// A limit of an engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EngineLimit {
    /// `warn` or `fail`: what is over it.
    pub grade: Fitness,
    /// Quantile that it is a limit of, in percent.
    pub quantile_percent: f64,
    /// The limit, in nanoseconds.
    pub limit_ns: u64,
    /// Source, with an address; or that it is ours, with the reason.
    pub source: String,
    /// True if it is straddle's own, since the engine names none.
    pub is_ours: bool,
    /// Message for an operator above it.
    pub sentence: String,
}

/// Ceiling of what is possible.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ceiling {
    /// Bounded quantity, in words.
    pub name: String,
    /// Operations a second; `null` where the ceiling is a time.
    pub operations_per_second: Option<f64>,
    /// A latency in nanoseconds; `null` where the ceiling is a rate.
    pub latency_ns: Option<u64>,
    /// Assumption, in words.
    pub assumption: String,
}
