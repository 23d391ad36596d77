//! Ranks that hold a quantile between them.
//!
//! With B the number of n independent values at or below the quantile p, binomial: the value at
//! rank l is above it when B < l, the one at rank u is below it when B ≥ u. l is the greatest rank
//! with P(B < l) ≤ α/2, u the least with P(B ≥ u) ≤ α/2.

use units::number::real;

/// Weights below this part of the greatest one are left out; their sum is below 10^-12 for any n
/// that fits in memory.
const LEAST: f64 = 1e-25;

/// The lower and the upper rank, from 1; `None` where there is none.
pub(super) fn ranks(n: u64, p: f64, alpha: f64) -> (Option<u64>, Option<u64>) {
    if n == 0 {
        return (None, None);
    }
    let (first, weights) = weights(n, p);
    let total: f64 = weights.iter().sum();
    // The least number whose cumulative probability is above, or not below, a level.
    let reach = |level: f64| {
        let mut sum = 0.0;
        let passed = weights.iter().take_while(|weight| {
            sum += **weight / total;
            sum <= level
        });
        first + units::number::wide(passed.count())
    };
    let low = reach(alpha / 2.0);
    // P(B >= u) = 1 - P(B < u): the rank after the number that reaches 1 - α/2.
    let high = reach(1.0 - alpha / 2.0 - 1e-13) + 1;
    (Some(low).filter(|low| *low > 0), Some(high).filter(|high| *high <= n))
}

/// The probabilities of the numbers around n p, each as a part of the greatest one, and the first
/// such number. They are made from the middle outwards, so that none of them falls to 0.
fn weights(n: u64, p: f64) -> (u64, Vec<f64>) {
    let mode = units::number::whole(real(n.saturating_add(1)) * p).min(n);
    let odds = p / (1.0 - p);
    let (mut down, mut weight, mut k) = (Vec::new(), 1.0, mode);
    while k > 0 && weight > LEAST {
        // P(k - 1) = P(k) k / ((n - k + 1) odds)
        weight *= real(k) / (real(n - k + 1) * odds);
        down.push(weight);
        k -= 1;
    }
    let first = k;
    down.reverse();
    down.push(1.0);
    (weight, k) = (1.0, mode);
    while k < n && weight > LEAST {
        weight *= real(n - k) * odds / real(k + 1);
        down.push(weight);
        k += 1;
    }
    (first, down)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(n: u64, p: f64, expected: (Option<u64>, Option<u64>)) {
        assert_eq!(ranks(n, p, 0.05), expected, "{n} {p}");
    }

    #[test]
    fn ranks_of_the_median_are_those_of_the_textbook() {
        // Conover, "Practical Nonparametric Statistics", table of the sign test at 5 %.
        check(5, 0.5, (None, None));
        check(6, 0.5, (Some(1), Some(6)));
        check(10, 0.5, (Some(2), Some(9)));
        check(25, 0.5, (Some(8), Some(18)));
        check(100, 0.5, (Some(40), Some(61)));
    }

    #[test]
    fn a_p99_has_an_upper_rank_from_368_values() {
        assert_eq!(ranks(367, 0.99, 0.05).1, None);
        assert_eq!(ranks(368, 0.99, 0.05).1, Some(368));
        assert_eq!(ranks(3688, 0.999, 0.05).1, Some(3688));
        assert_eq!(ranks(3687, 0.999, 0.05).1, None);
    }

    #[test]
    fn ranks_are_those_of_the_definition() {
        for (n, p) in [(40, 0.9), (400, 0.99), (97, 0.5), (300, 0.01)] {
            let chance = |k: u64| {
                let choose: f64 = (0..k).map(|j| (real(n - j) / real(k - j)).ln()).sum();
                (choose + real(k) * f64::ln(p) + real(n - k) * f64::ln(1.0 - p)).exp()
            };
            let below = |k: u64| (0..k).map(chance).sum::<f64>();
            let low = (1..=n).rev().find(|rank| below(*rank) <= 0.025);
            let high = (1..=n).find(|rank| 1.0 - below(*rank) <= 0.025);
            check(n, p, (low, high));
        }
    }

    #[test]
    fn a_hundred_million_values_are_as_the_normal_distribution_says() {
        let (low, high) = ranks(100_000_000, 0.99, 0.05);
        let half = 1.96 * (1e8_f64 * 0.99 * 0.01).sqrt();
        assert!((real(low.unwrap()) - (99e6 - half)).abs() < 3.0);
        assert!((real(high.unwrap()) - (99e6 + half)).abs() < 3.0);
    }
}
