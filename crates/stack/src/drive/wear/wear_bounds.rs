//! A number that is known between two bounds.

use std::fmt;

/// The least and the most that a number can be; both are finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearBounds {
    /// The least that it can be.
    pub low: f64,
    /// The most that it can be.
    pub high: f64,
}

/// The largest ratio of the bounds at which a number is still told. The limit is ours.
const WIDTH_MOST: f64 = 2.0;

impl WearBounds {
    /// The bounds `low` and `high`; `None` where they are not finite, not positive, or so far apart
    /// (more than a factor of 2) that they say nothing.
    #[must_use]
    pub(super) fn new(low: f64, high: f64) -> Option<WearBounds> {
        let is_told = low > 0.0 && high.is_finite() && low <= high && high <= low * WIDTH_MOST;
        is_told.then_some(WearBounds { low, high })
    }

    /// Half the distance of the bounds.
    #[must_use]
    pub fn resolution(self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

impl fmt::Display for WearBounds {
    /// Two decimals; both bounds where those differ: `2.31`, `2.28 to 2.34`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (format!("{:.2}", self.low), format!("{:.2}", self.high));
        if low == high { f.write_str(&low) } else { write!(f, "{low} to {high}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_that_are_far_apart_say_nothing() {
        assert!(WearBounds::new(1.0, 2.0).is_some());
        for (low, high) in [(1.0, 2.1), (0.0, 1.0), (2.0, 1.0), (1.0, f64::NAN), (f64::NAN, 1.0)] {
            assert_eq!(WearBounds::new(low, high), None, "{low} {high}");
        }
    }

    #[test]
    fn bounds_that_print_alike_are_one_number() {
        let text = |low, high| WearBounds { low, high }.to_string();
        assert_eq!(text(2.311, 2.312), "2.31");
        assert_eq!(text(2.28, 2.34), "2.28 to 2.34");
    }
}
