//! The middle of some values, and how far they reach.

use std::fmt;

use crate::bench::ratio::median;

/// Values of some rounds.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    sorted: Vec<f64>,
}

impl Spread {
    pub(super) fn of(values: &[f64]) -> Spread {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Spread { sorted }
    }

    pub(super) fn median(&self) -> f64 {
        median(&self.sorted)
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Numbers of some hundreds and more have digits enough.
        let digits = if self.median() >= 100.0 { 0 } else { 2 };
        let number = |value: f64| format!("{value:.digits$}");
        let (Some(least), Some(greatest)) = (self.sorted.first(), self.sorted.last()) else {
            return formatter.write_str("nothing");
        };
        write!(formatter, "{} ({} to {})", number(self.median()), number(*least), number(*greatest))
    }
}

/// A count as a number to reckon with: exact below 2 to the 53rd.
pub(super) fn real(count: u64) -> f64 {
    let high = u32::try_from(count >> 32).unwrap_or(u32::MAX);
    let low = u32::try_from(count & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_says_the_median_and_both_ends() {
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]).to_string(), "2.00 (1.00 to 3.00)");
        assert_eq!(Spread::of(&[300.4, 100.0]).to_string(), "200 (100 to 300)");
        assert!((real(1 << 40) - 1_099_511_627_776.0).abs() < 1e-3);
    }
}
