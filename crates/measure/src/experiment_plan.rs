//! Arms to be compared, and the certainty that the answer must have.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::VerdictLimits;

/// Role of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The others are compared with it.
    #[default]
    Baseline,
    /// The verdict is on it; of several, on the first.
    Shifted,
    /// The same as the baseline: must take as long.
    Control,
    /// Shifted without crossing a unit.
    Inside,
}

units::words!(Role);

/// One of the things compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmPlan {
    /// Name for people: `shifted 512 B`.
    pub name: String,
    /// Its role.
    pub role: Role,
}

/// Arms to be compared, and the certainty that the answer must have.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentPlan {
    /// The arms: one baseline, at least one shifted arm, any controls.
    pub arms: Vec<ArmPlan>,
    /// The probability that an interval ever misses the truth, at most, for each comparison.
    /// Whoever asks several questions at once divides it.
    pub alpha: f64,
    /// The most pairs that count; memory for all of them is taken at the start.
    pub pairs_max: usize,
    /// Place where verdicts begin.
    pub limits: VerdictLimits,
    /// Seed of all orders.
    pub seed: u64,
}

/// Why a plan is none.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum PlanError {
    /// Nothing to compare with, or twice.
    #[error("an experiment has one baseline, not {0}")]
    Baselines(usize),
    /// Nothing to judge.
    #[error("an experiment has an arm that is shifted")]
    NothingShifted,
    /// No probability.
    #[error("alpha is above 0 and below 1, not {0}")]
    Alpha(f64),
    /// No pairs.
    #[error("an experiment has at least one pair")]
    NoPairs,
}
