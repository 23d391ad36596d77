//! A ratio and the bounds between which it lies.

use serde::{Deserialize, Serialize};

/// A ratio of times, and the bounds between which it lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The figure; 1 while there is no pair, `null` in documents.
    #[serde(with = "units::finite")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub ratio: f64,
    /// The lower bound, which is part of the interval; 0 while nothing is known.
    #[serde(with = "units::finite")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub low: f64,
    /// The upper bound, which is part of the interval; infinite while nothing is known, `null` in
    /// documents.
    #[serde(with = "units::finite::or_infinite")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub high: f64,
}

impl Interval {
    /// The interval before anything was seen.
    pub const UNKNOWN: Interval = Interval { ratio: 1.0, low: 0.0, high: f64::INFINITY };

    /// The interval of which these are the logarithms.
    #[must_use]
    pub(crate) fn of_logarithms(middle: f64, low: f64, high: f64) -> Interval {
        Interval { ratio: middle.exp(), low: low.exp(), high: high.exp() }
    }

    /// Returns whether `ratio` lies in it, the bounds included.
    #[must_use]
    pub fn contains(&self, ratio: f64) -> bool {
        self.low <= ratio && ratio <= self.high
    }

    /// Returns whether all of it lies between `low` and `high`, both included.
    #[must_use]
    pub fn is_within(&self, low: f64, high: f64) -> bool {
        low <= self.low && self.high <= high
    }

    /// Half its width, as a part of its geometric middle: 0.05 where the bounds are 1.05 times
    /// above and below; infinite while nothing is known.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        if self.low <= 0.0 || self.high.is_infinite() {
            return f64::INFINITY;
        }
        (self.high / self.low).sqrt() - 1.0
    }
}
