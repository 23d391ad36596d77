//! A ratio and the bounds between which it lies.

use serde::{Deserialize, Serialize};

/// A ratio of times, and the bounds between which it lies.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The figure; 1 while there is no pair, `null` in documents and where there is none.
    #[serde(with = "units::finite")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub ratio: f64,
    /// The lower bound, which is part of the interval; 0 or `null` while nothing is known.
    #[serde(with = "units::finite")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub low: f64,
    /// The upper bound, which is part of the interval; infinite while nothing is known, `null` in
    /// documents.
    #[serde(with = "units::finite::or_infinite")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub high: f64,
}

/// Figures that are not known are equal.
impl PartialEq for Interval {
    fn eq(&self, other: &Interval) -> bool {
        let same = |one: f64, other: f64| one == other || (one.is_nan() && other.is_nan());
        same(self.ratio, other.ratio) && same(self.low, other.low) && same(self.high, other.high)
    }
}

impl Interval {
    /// The interval before anything was seen.
    pub const UNKNOWN: Interval = Interval { ratio: 1.0, low: 0.0, high: f64::INFINITY };

    /// The interval of which these are the logarithms.
    #[must_use]
    pub(crate) fn of_logarithms(middle: f64, low: f64, high: f64) -> Interval {
        Interval { ratio: middle.exp(), low: low.exp(), high: high.exp() }
    }

    /// The bounds that are known.
    #[must_use]
    pub fn ends(&self) -> [Option<f64>; 2] {
        [self.low, self.high].map(|end| Some(end).filter(|end| end.is_finite() && *end > 0.0))
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
