//! Answers of a probe: a value with the evidence for it, or why there is none.

use serde::{Deserialize, Serialize};

use super::slower_threshold::Reading;
use crate::statistics::Interval;

/// Question of a panel of comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PanelKind {
    /// Multiples at which a write must start.
    Alignment,
    /// The first such place.
    Origin,
    /// Multiples that a write must be long.
    Size,
    /// Turns of a misaligned write.
    Turns,
    /// Boundaries between members of an array.
    Chunk,
    /// Costs at multiples of the chunk alone.
    Shared,
    /// Members of an array.
    Members,
    /// Reads in flight at once.
    Depth,
}

units::words!(PanelKind);

/// One comparison of two arms, as it stood at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmComparison {
    /// Panel that it belongs to.
    pub panel: PanelKind,
    /// The arm, named for people.
    pub arm: String,
    /// With what.
    pub against: String,
    /// Its time over the other's: the median of the blocks, with its interval.
    pub ratio: Interval,
    /// The blocks that count.
    pub blocks: u64,
    /// The conclusion from that ratio.
    pub reading: Reading,
}

/// Why a quantity is not identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unidentified {
    /// Nothing that was tried made a difference.
    NoSignal,
    /// The intervals were still too wide when the budget ended.
    Noise,
    /// The times fit no drive that the method knows.
    Contradiction,
    /// It was not tried.
    NotTried,
}

units::words!(Unidentified);

/// A quantity, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Estimate<T> {
    /// Found. It is wrong with probability [`Estimate::Found::alpha`] at most, where the drive is
    /// one that the method knows.
    Found {
        /// The quantity.
        value: T,
        /// The probability of an error, summed over the comparisons that said it.
        alpha: f64,
        /// The comparisons that said it, in one sentence.
        said_by: String,
    },
    /// Not identifiable.
    Not {
        /// The kind of reason.
        why: Unidentified,
        /// The reason as one clause.
        reason: String,
    },
}

impl<T> Estimate<T> {
    /// Not identifiable, and why.
    pub fn not(why: Unidentified, reason: impl Into<String>) -> Estimate<T> {
        Estimate::Not { why, reason: reason.into() }
    }

    /// The quantity; `None` where it was not identified.
    #[must_use]
    pub fn value(&self) -> Option<&T> {
        match self {
            Estimate::Found { value, .. } => Some(value),
            Estimate::Not { .. } => None,
        }
    }

    /// Why it was not identified; `None` where it was.
    #[must_use]
    pub fn why(&self) -> Option<Unidentified> {
        match self {
            Estimate::Found { .. } => None,
            Estimate::Not { why, .. } => Some(*why),
        }
    }

    /// The same answer about what `map` makes of the value.
    #[must_use]
    pub fn map<U>(&self, map: impl FnOnce(&T) -> U) -> Estimate<U> {
        match self {
            Estimate::Found { value, alpha, said_by } => {
                Estimate::Found { value: map(value), alpha: *alpha, said_by: said_by.clone() }
            }
            Estimate::Not { why, reason } => Estimate::Not { why: *why, reason: reason.clone() },
        }
    }
}
