//! An engine: what it does, and how long it can wait.

use super::pattern::WritePattern;

/// An engine: what it does, and how long it can wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Name that people type: `etcd`.
    pub name: String,
    /// Other names that people type: `etcd3`.
    pub aliases: Vec<String>,
    /// Description in one line: `etcd: write-ahead log`.
    pub title: String,
    /// Writes, and how they are made durable.
    pub pattern: WritePattern,
    /// The quantile that both limits are on.
    pub quantile: Quantile,
    /// True if a commit waits for the durable writes of a majority of nodes.
    pub has_quorum: bool,
    /// Sentence for an operator when the quantile is below both limits.
    pub pass: String,
    /// Above this the engine works, but not as it should.
    pub warn: Limit,
    /// Above this it should not be put there.
    pub fail: Limit,
    /// Next step where it is not PASS.
    pub next: String,
    /// Uncertainties, and what else an operator should know.
    pub notes: Vec<String>,
}

/// A share of all durable writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantile {
    /// Half of them.
    P50,
    /// 90 of 100.
    P90,
    /// 95 of 100.
    P95,
    /// 99 of 100.
    P99,
    /// 999 of 1000.
    P999,
}

/// All quantiles.
pub(super) const QUANTILES: [Quantile; 5] =
    [Quantile::P50, Quantile::P90, Quantile::P95, Quantile::P99, Quantile::P999];

impl Quantile {
    /// The name that people write: `p99`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Quantile::P50 => "p50",
            Quantile::P90 => "p90",
            Quantile::P95 => "p95",
            Quantile::P99 => "p99",
            Quantile::P999 => "p99.9",
        }
    }

    /// In percent: 99.
    #[must_use]
    pub fn percent(self) -> f64 {
        match self {
            Quantile::P50 => 50.0,
            Quantile::P90 => 90.0,
            Quantile::P95 => 95.0,
            Quantile::P99 => 99.0,
            Quantile::P999 => 99.9,
        }
    }

    /// The share as a part of 1: 0.99.
    #[must_use]
    pub fn share(self) -> f64 {
        self.percent() / 100.0
    }
}

/// A limit of a profile, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The longest time that is not above it, in nanoseconds.
    pub above_ns: u64,
    /// Origin of the limit.
    pub source: LimitSource,
    /// Statement of that source, or why the limit is ours; empty where the address says it all.
    pub reason: String,
    /// Sentence for an operator above it, in the words of the engine's own trouble.
    pub sentence: String,
}

/// Origin of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitSource {
    /// The address of a page that says so.
    Page(String),
    /// Whoever wrote the profile, since nobody else names a limit.
    Ours,
}

impl Limit {
    /// Returns whether nobody but the writer of the profile says so.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.source == LimitSource::Ours
    }

    /// Returns where it is from, in one line: `https://etcd.io/docs/v3.5/faq/`, or `set by the
    /// engine profile: ...`.
    #[must_use]
    pub fn from(&self) -> String {
        match (&self.source, self.reason.is_empty()) {
            (LimitSource::Ours, _) => format!("set by the engine profile: {}", self.reason),
            (LimitSource::Page(address), true) => address.clone(),
            (LimitSource::Page(address), false) => format!("{address} ({})", self.reason),
        }
    }
}
