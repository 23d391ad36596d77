//! Two rows of the same run against each other.
//!
//! Rounds are compared: in each, both rows had a slice of the same file within a
//! fraction of a second, in an order that was drawn. If neither is slower, each round's log ratio
//! is as likely above zero as below it whatever the rounds before were, so the number above zero is
//! binomial, and order statistics of the ratios bound their median (the sign test: Conover,
//! "Practical Nonparametric Statistics", 3.4; Hahn and Meeker, "Statistical Intervals", 5.2). Where
//! a slice ends does not depend on which row is ahead.

use serde::{Deserialize, Serialize};

use crate::{Interval, VerdictLimits};
use units::number::{count, wide};

/// Result of comparing two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// The interval is wholly above 1.
    Slower,
    /// The interval is wholly below 1.
    Faster,
    /// The interval holds 1 and lies within the limit of a penalty either way.
    NoDifferenceDetected,
    /// The interval holds 1 and reaches beyond that.
    CannotTell,
    /// There is nothing to compare.
    Void,
}

units::words!(Difference);

/// A comparison of two rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedRows {
    /// Time of the first over that of the second: the median of the rounds' ratios.
    pub interval: Interval,
    /// The rounds in which both had a slice.
    pub rounds: u64,
}

impl ComparedRows {
    /// Slower or faster only where the interval leaves 1 out, and no difference only where it is
    /// narrow.
    #[must_use]
    pub fn conclusion(&self) -> Difference {
        let limit = VerdictLimits::default().penalty_above;
        match self.interval {
            _ if self.rounds == 0 => Difference::Void,
            Interval { low, .. } if low > 1.0 => Difference::Slower,
            Interval { high, .. } if high < 1.0 => Difference::Faster,
            near if near.is_within(limit.recip(), limit) => Difference::NoDifferenceDetected,
            _ => Difference::CannotTell,
        }
    }
}

/// The row whose rounds took `row` against the one whose rounds took `against`; the interval misses
/// the truth with probability `alpha` at most.
#[must_use]
pub fn compare(row: &[Option<f64>], against: &[Option<f64>], alpha: f64) -> ComparedRows {
    let both = row.iter().zip(against).filter_map(|(one, other)| Some(((*one)?, (*other)?)));
    let mut logs: Vec<f64> = both
        .filter(|(one, other)| *one > 0.0 && *other > 0.0)
        .map(|(one, other)| (one / other).ln())
        .collect();
    logs.sort_unstable_by(f64::total_cmp);
    let rounds = wide(logs.len());
    let Some(last) = logs.len().checked_sub(1) else {
        return ComparedRows { interval: Interval::UNKNOWN, rounds };
    };
    let middle = f64::midpoint(logs[last / 2], logs[logs.len() / 2]);
    let (low, high) = match place(logs.len(), alpha) {
        Some(place) => (logs[place], logs[last - place]),
        None => (f64::NEG_INFINITY, f64::INFINITY),
    };
    ComparedRows { interval: Interval::of_logarithms(middle, low, high), rounds }
}

/// The greatest number of values that may be left out at each end, so that the rest holds the
/// median with probability 1 - `alpha` at least; `None` where even all values do not.
fn place(values: usize, alpha: f64) -> Option<usize> {
    // ln P(X = heads) of a fair coin thrown `values` times, each from the one before: no logarithm
    // underflows.
    let mut log_term = -count(values) * std::f64::consts::LN_2;
    let (mut below, mut place) = (log_term.exp(), None);
    for heads in 0..values.div_ceil(2) {
        if 2.0 * below > alpha {
            break;
        }
        place = Some(heads);
        log_term += (count(values - heads) / count(heads + 1)).ln();
        below += log_term.exp();
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_are_those_of_the_binomial_table() {
        // Conover, table A3: for n = 6, P(X = 0) = 1/64, so 2/64 < 0.05 and one more is 14/64.
        for (values, alpha, expected) in [
            (5, 0.05, None),
            (6, 0.05, Some(0)),
            (8, 0.05, Some(0)),
            (9, 0.05, Some(1)),
            (20, 0.05, Some(5)),
            (100, 0.05, Some(39)),
        ] {
            assert_eq!(place(values, alpha), expected, "{values}");
        }
        // 2^-4000 is no number any more; by the normal law it is 2000 - 1.96 sqrt(1000) - 1/2.
        assert!(place(4000, 0.05).is_some_and(|place| place.abs_diff(1937) <= 1));
    }

    #[test]
    fn the_interval_misses_no_more_often_than_it_says() {
        let mut random = testkit::random(11);
        let mut draw = |factor: f64| {
            let noise = units::number::real(random.below(1000)) / 1000.0;
            // A long tail, as latencies have.
            Some(factor * (1.0 + noise.powi(8) * 20.0))
        };
        let (mut missed, runs) = (0, 600);
        for _ in 0..runs {
            let row: Vec<_> = (0..25).map(|_| draw(1.3)).collect();
            let against: Vec<_> = (0..25).map(|_| draw(1.0)).collect();
            let compared = compare(&row, &against, 0.05);
            missed += u32::from(!compared.interval.contains(1.3));
        }
        assert!(f64::from(missed) / f64::from(runs) < 0.07, "{missed} of {runs}");
    }

    #[test]
    fn no_difference_is_claimed_only_of_a_narrow_interval() {
        for (low, high, expected) in [
            (0.06, 10.8, Difference::CannotTell),
            (0.99, 1.11, Difference::CannotTell),
            (0.50, 1.05, Difference::CannotTell),
            (0.92, 1.10, Difference::NoDifferenceDetected),
            (1.01, 1.02, Difference::Slower),
        ] {
            let interval = Interval { ratio: 0.95, low, high };
            assert_eq!(ComparedRows { interval, rounds: 23 }.conclusion(), expected, "{low}");
        }
    }

    #[test]
    fn rows_differ_only_where_the_interval_says_so() {
        let flat = vec![Some(1.0); 20];
        let twice: Vec<_> = flat.iter().map(|mean| mean.map(|mean| mean * 2.0)).collect();
        assert_eq!(compare(&twice, &flat, 0.05).conclusion(), Difference::Slower);
        assert_eq!(compare(&flat, &twice, 0.05).conclusion(), Difference::Faster);
        assert_eq!(compare(&flat, &flat, 0.05).conclusion(), Difference::NoDifferenceDetected);
        assert_eq!(compare(&twice[..5], &flat[..5], 0.05).conclusion(), Difference::CannotTell);
        assert_eq!(compare(&[None, None], &[Some(1.0), None], 0.05).conclusion(), Difference::Void);
    }
}
