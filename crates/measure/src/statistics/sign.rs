//! Order statistics that bound the median, at every number of pairs at once.
//!
//! Under θ each sign of d − ln θ is a fair coin given the past (see the head of
//! [`crate::statistics`]). Bet on it as if the coin's bias were drawn from Beta(a, a): with k of n
//! below θ the wealth is
//!
//! ```text
//! M = 2^n B(k + a, n − k + a) / B(a, a)
//! ```
//!
//! a martingale that starts at 1, so by Ville's inequality it ever reaches 1/α with probability at
//! most α (Robbins, "Statistical methods related to the law of the iterated logarithm", 1970;
//! Howard and Ramdas, "Sequential estimation of quantiles with applications to A/B testing and
//! best-arm identification", 2022). All θ at which M stays below 1/α are kept. M grows with the
//! distance of k from n/2, and k grows with θ, so what is kept is an interval between two order
//! statistics: with K the least k above n/2 at which M reaches 1/α, from the (n + 1 − K)-th to the
//! K-th, both included.
//!
//! Ties: a pair with d = ln θ is neither above nor below. A coin of our own may give it a side; θ
//! is dropped only when it would be dropped for every way these coins could fall, so the interval
//! is wider than one with coins, never narrower, and stays valid. Counting only pairs strictly
//! below θ against K does that, and it is why both ends belong to the interval.
//!
//! # The choice of a
//!
//! A small a finds large effects in few pairs (a = 1/2 needs 7 of one sign, a = 10 needs 8); a
//! large one is narrower from some hundred pairs on. The table in [`MIXTURE`] decides.

/// The a of Beta(a, a).
pub(super) const MIXTURE: f64 = 4.0;

/// The order statistics between which the median lies.
#[derive(Clone, Debug)]
pub(super) struct SignBound {
    mixture: f64,
    /// ln(1/α).
    limit: f64,
    pairs: usize,
    /// K of the head of this file once M reached 1/α with all pairs on one side; else the number
    /// of pairs.
    upper: usize,
    /// ln M at `upper`.
    wealth: f64,
}

impl SignBound {
    /// The bound for intervals that ever miss with probability `alpha` at most, with
    /// [`MIXTURE`].
    #[must_use]
    pub(super) fn new(alpha: f64) -> SignBound {
        SignBound::with_mixture(alpha, MIXTURE)
    }

    /// The same with another a.
    #[must_use]
    pub(super) fn with_mixture(alpha: f64, mixture: f64) -> SignBound {
        SignBound { mixture, limit: -alpha.ln(), pairs: 0, upper: 0, wealth: 0.0 }
    }

    /// Takes one more pair. One or two logarithms.
    pub(super) fn advance(&mut self) {
        // M at (n + 1, k) is M at (n, k) times 2 (n − k + a) / (n + 2a); at (n + 1, k + 1) it is
        // that times 2 (k + a) / (n + 2a). Above n/2 the first factor is below 1 and the second
        // above 1, so the next K is this one or one more.
        let (pairs, upper) = (units::number::count(self.pairs), units::number::count(self.upper));
        let total = pairs + 2.0 * self.mixture;
        let stay = self.wealth + (2.0 * (pairs - upper + self.mixture) / total).ln();
        if self.is_reached() && stay >= self.limit {
            self.wealth = stay;
        } else {
            self.wealth += (2.0 * (upper + self.mixture) / total).ln();
            self.upper += 1;
        }
        self.pairs += 1;
    }

    /// Returns whether there is an interval.
    fn is_reached(&self) -> bool {
        self.wealth >= self.limit
    }

    /// The places, from 0, of the lowest and the highest value of the interval among the sorted
    /// values; `None` with too few pairs.
    #[must_use]
    pub(super) fn places(&self) -> Option<(usize, usize)> {
        self.is_reached().then(|| (self.pairs - self.upper, self.upper - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln M by the definition: one factor (j + a) / (…) for each sign, in any order.
    fn wealth(a: f64, below: u32, above: u32) -> f64 {
        let rises = |count: u32| (0..count).map(|j| (f64::from(j) + a).ln()).sum::<f64>();
        let all = (0..below + above).map(|j| (f64::from(j) + 2.0 * a).ln()).sum::<f64>();
        rises(below) + rises(above) - all + f64::from(below + above) * 2.0_f64.ln()
    }

    #[test]
    fn with_a_of_one_the_wealth_is_that_of_the_textbook() {
        // B(k + 1, n − k + 1) = 1 / ((n + 1) C(n, k)), so M is 2^n / ((n + 1) C(n, k)).
        let check = |n, k, expected: f64| {
            assert!((wealth(1.0, k, n - k) - expected.ln()).abs() < 1e-12);
        };
        check(8, 8, 256.0 / 9.0);
        check(10, 9, 1024.0 / (11.0 * 10.0));
        check(4, 2, 16.0 / (5.0 * 6.0));
    }

    #[test]
    fn eight_pairs_of_one_sign_are_the_first_interval_at_five_percent_with_a_of_one() {
        // 2^7 / 8 = 16 is below 20; 2^8 / 9 = 28.4 is not.
        let mut bound = SignBound::with_mixture(0.05, 1.0);
        for _ in 0..7 {
            bound.advance();
            assert_eq!(bound.places(), None);
        }
        bound.advance();
        assert_eq!(bound.places(), Some((0, 7)));
    }

    #[test]
    fn the_places_are_those_of_the_definition_at_every_number_of_pairs() {
        for (alpha, a) in [(0.05, 0.5), (0.05, 1.0), (0.05, MIXTURE), (0.002, 20.0)] {
            let mut bound = SignBound::with_mixture(alpha, a);
            for n in 1..400_u32 {
                bound.advance();
                let least = (n / 2 + 1..=n).find(|k| wealth(a, *k, n - k) >= -f64::ln(alpha));
                let expected = least.map(|k| ((n - k) as usize, k as usize - 1));
                assert_eq!(bound.places(), expected, "{n} pairs, a = {a}");
            }
        }
    }

    #[test]
    fn the_wealth_does_not_drift_over_a_hundred_thousand_pairs() {
        let mut bound = SignBound::new(0.05);
        (0..100_000).for_each(|_| bound.advance());
        let upper = u32::try_from(bound.upper).unwrap();
        assert!((bound.wealth - wealth(MIXTURE, upper, 100_000 - upper)).abs() < 1e-6);
    }

    #[test]
    fn fair_coins_leave_the_interval_in_fewer_than_alpha_of_all_runs() {
        let mut random = testkit::random(5);
        let runs = 1000;
        let mut missed = 0;
        for _ in 0..runs {
            let (mut bound, mut below) = (SignBound::new(0.05), 0_usize);
            missed += u32::from((0..1000_usize).any(|pairs| {
                below += usize::from(random.below(2) == 0);
                bound.advance();
                // 0 is missed when too many or too few values lie below it.
                bound.places().is_some_and(|(low, high)| {
                    below > high || pairs + 1 - below > high || low > high
                })
            }));
        }
        // 50 would be expected at most; a true rate of 0.05 gives over 71 once in a thousand.
        assert!((1..=71).contains(&missed), "{missed} of {runs}");
    }
}
