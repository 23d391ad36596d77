//! Ratio from which on an arm of a probe takes longer, and what an interval says of it.

use serde::{Deserialize, Serialize};

use crate::statistics::Interval;

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
