//! Answers of a probe: a value with the evidence for it, or why there is none.

use serde::{Deserialize, Serialize};

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

/// A conclusion from an interval of a ratio. The bounds are [`SLOWER_ABOVE`] and one over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// The interval is wholly above.
    Slower,
    /// The interval is wholly between.
    Same,
    /// The interval is wholly below.
    Faster,
    /// The interval ends below the upper bound, and holds the lower one.
    NotSlower,
    /// The interval holds the upper bound.
    Open,
}

units::words!(Reading);

/// From here on an arm takes longer. A read-modify-write that costs less than a fifth is not looked
/// for: it would take too many writes to be sure of it.
pub const SLOWER_ABOVE: f64 = 1.20;

impl Reading {
    /// Returns what `ratio` says.
    #[must_use]
    pub fn of(ratio: &Interval) -> Reading {
        let faster_below = SLOWER_ABOVE.recip();
        match () {
            () if ratio.low > SLOWER_ABOVE => Reading::Slower,
            () if ratio.high < faster_below => Reading::Faster,
            () if ratio.low >= faster_below && ratio.high <= SLOWER_ABOVE => Reading::Same,
            () if ratio.high <= SLOWER_ABOVE => Reading::NotSlower,
            () => Reading::Open,
        }
    }

    /// Returns whether it is certain that the arm is not slower.
    #[must_use]
    pub(crate) fn is_not_slower(self) -> bool {
        matches!(self, Reading::Same | Reading::Faster | Reading::NotSlower)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_says_one_thing_and_nothing_at_its_bounds() {
        let check = |low: f64, high: f64, expected: Reading| {
            let interval = Interval { ratio: f64::midpoint(low, high), low, high };
            assert_eq!(Reading::of(&interval), expected, "{low} to {high}");
        };
        check(1.21, 9.0, Reading::Slower);
        check(1.20, 9.0, Reading::Open);
        check(0.95, 1.20, Reading::Same);
        check(0.50, 1.20, Reading::NotSlower);
        check(0.50, 0.83, Reading::Faster);
        check(0.0, f64::INFINITY, Reading::Open);
    }
}
