//! Latency series whose quantiles are known, for trials of [`crate::tail`].

use units::random::Random;

use super::pace::{FAST_NS, SLOW_NS, normal, uniform};
use crate::number::whole;

/// The standard deviation of ln(time) of [`Kind::Alike`].
const SPREAD: f64 = 0.5;
/// The standard deviation of ln(time) within a regime.
const REGIME_SPREAD: f64 = 0.2;

/// How a series is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Log-normal, driven by an autoregressive process of the first order with this correlation of
    /// neighbors; 0 for independent values.
    Alike(f64),
    /// Two paces, 120 µs and 4 ms; each value has this chance to leave the fast one, or the slow
    /// one, for the other.
    Regimes {
        /// From fast to slow.
        slow_down: f64,
        /// From slow to fast.
        speed_up: f64,
    },
}

impl Kind {
    /// So many values, in nanoseconds, that `seed` alone decides; they start in equilibrium.
    #[must_use]
    pub fn series(self, seed: u64, length: usize) -> Vec<u64> {
        let mut random = Random::new(seed);
        match self {
            Kind::Alike(correlation) => {
                let fresh = (1.0 - correlation * correlation).sqrt();
                let mut state = normal(&mut random);
                let next = || {
                    let ns = FAST_NS * (SPREAD * state).exp();
                    state = correlation * state + fresh * normal(&mut random);
                    whole(ns.round())
                };
                std::iter::repeat_with(next).take(length).collect()
            }
            Kind::Regimes { slow_down, speed_up } => {
                let mut is_slow = uniform(&mut random) <= self.slow_share();
                let next = || {
                    let median_ns = if is_slow { SLOW_NS } else { FAST_NS };
                    let leave = if is_slow { speed_up } else { slow_down };
                    is_slow ^= uniform(&mut random) <= leave;
                    whole((median_ns * (REGIME_SPREAD * normal(&mut random)).exp()).round())
                };
                std::iter::repeat_with(next).take(length).collect()
            }
        }
    }

    /// The true quantile `share`, in nanoseconds.
    #[must_use]
    pub fn quantile_ns(self, share: f64) -> f64 {
        let (mut low, mut high) = (0.0_f64, 40.0_f64);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if self.at_or_below(middle) < share { low = middle } else { high = middle }
        }
        low.exp()
    }

    /// The share of values whose logarithm is at or below `ln_ns`.
    fn at_or_below(self, ln_ns: f64) -> f64 {
        let of = |median_ns: f64, spread: f64| normal_share((ln_ns - median_ns.ln()) / spread);
        let slow = self.slow_share();
        match self {
            Kind::Alike(_) => of(FAST_NS, SPREAD),
            Kind::Regimes { .. } => {
                (1.0 - slow) * of(FAST_NS, REGIME_SPREAD) + slow * of(SLOW_NS, REGIME_SPREAD)
            }
        }
    }

    /// The share of values at the slow pace.
    fn slow_share(self) -> f64 {
        match self {
            Kind::Alike(_) => 0.0,
            Kind::Regimes { slow_down, speed_up } => slow_down / (slow_down + speed_up),
        }
    }
}

/// The share of a normal distribution at or below `z`, off by at most 1.5e-7 (Abramowitz and
/// Stegun, "Handbook of Mathematical Functions", 7.1.26).
fn normal_share(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let sum = terms.iter().fold(0.0, |sum, term| (sum + term) * t);
    let error = 1.0 - sum * (-x * x).exp();
    if z < 0.0 { (1.0 - error) / 2.0 } else { f64::midpoint(1.0, error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        let ln = |share| (Kind::Alike(0.9).quantile_ns(share) / FAST_NS).ln() / SPREAD;
        assert!((ln(0.99) - 2.326_348).abs() < 1e-4, "{}", ln(0.99));
        assert!((ln(0.999) - 3.090_232).abs() < 1e-3);
        assert!(ln(0.5).abs() < 1e-6);
    }

    #[test]
    fn long_series_have_the_quantiles_that_are_said() {
        let regimes = Kind::Regimes { slow_down: 1.0 / 40.0, speed_up: 1.0 / 10.0 };
        for kind in [Kind::Alike(0.0), Kind::Alike(0.7), regimes] {
            let mut series = kind.series(1, 400_000);
            series.sort_unstable();
            let seen = crate::number::real(series[395_999]) / kind.quantile_ns(0.99);
            assert!((seen - 1.0).abs() < 0.02, "{kind:?}: {seen}");
        }
    }
}
