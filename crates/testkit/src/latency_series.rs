//! Times of operations whose distribution is known: what estimates of them are tested against.

use units::random::Random;

/// Median time at the fast pace, in nanoseconds.
pub const FAST_NS: f64 = 120_000.0;
/// Median time at the slow pace, in nanoseconds.
pub const SLOW_NS: f64 = 4_000_000.0;

/// Longest time at one pace; each is drawn from 0 to here.
const DWELL_NS_MAX: u64 = 3_000_000_000;
/// Correlation of ln(time) with the next one's, stumbles aside.
const CORRELATION: f64 = 0.35;
/// Standard deviation of ln(time), stumbles aside.
const PACE_SPREAD: f64 = 0.22;
/// Most that ln(time) drifts with each operation, and in all.
const DRIFT: f64 = 5e-5;
const DRIFTED_MAX: f64 = 1.0;
/// One operation in so many stumbles, and takes at least so many times as long, with a tail of this
/// power (Pareto), up to so many times.
const STUMBLE_ONE_IN: u64 = 25;
const STUMBLE_TIMES: f64 = 2.0;
const STUMBLE_POWER: f64 = 1.2;
const STUMBLE_TIMES_MAX: f64 = 100.0;

/// Times of a drive that drifts, remembers and stumbles, and may switch between a fast and a slow
/// pace for up to three seconds each.
///
/// Fitted to what one virtual disk was seen to do under durable writes of 4 KiB: 120 µs for most of
/// the time and 4 ms for seconds at a time; a correlation of 0.35 between the logarithms of an
/// operation's time and the next one's; and ratios of neighbors whose logarithms spread by about
/// 0.57, most of that from few operations that take far longer than the others.
#[derive(Clone, Debug)]
pub struct Pace {
    random: Random,
    switches: bool,
    is_slow: bool,
    until_ns: u64,
    drift: f64,
    drifted: f64,
    memory: f64,
}

impl Pace {
    /// Returns the pace that `seed` decides; one that switches starts fast or slow.
    #[must_use]
    pub fn new(switches: bool, seed: u64) -> Pace {
        let mut random = Random::new(seed);
        let drift = DRIFT * (2.0 * uniform(&mut random) - 1.0);
        let is_slow = switches && random.below(2) == 0;
        let until_ns = random.below(DWELL_NS_MAX);
        Pace { random, switches, is_slow, until_ns, drift, drifted: 0.0, memory: 0.0 }
    }

    /// Returns how many nanoseconds an operation takes that starts at `now_ns`.
    pub fn next_ns(&mut self, now_ns: u64) -> f64 {
        while self.switches && now_ns >= self.until_ns {
            self.is_slow = !self.is_slow;
            self.until_ns += self.random.below(DWELL_NS_MAX) + 1;
        }
        self.drifted = (self.drifted + self.drift).clamp(-DRIFTED_MAX, DRIFTED_MAX);
        let fresh = PACE_SPREAD * (1.0 - CORRELATION * CORRELATION).sqrt();
        self.memory = CORRELATION * self.memory + fresh * normal(&mut self.random);
        let stumble = self.stumble();
        let median_ns = if self.is_slow { SLOW_NS } else { FAST_NS };
        median_ns * (self.drifted + self.memory).exp() * stumble
    }

    /// Returns how many times as long an operation takes for its stumble: mostly 1.
    fn stumble(&mut self) -> f64 {
        if self.random.below(STUMBLE_ONE_IN) > 0 {
            return 1.0;
        }
        let pareto = STUMBLE_TIMES * uniform(&mut self.random).powf(-1.0 / STUMBLE_POWER);
        pareto.min(STUMBLE_TIMES_MAX)
    }
}

/// Standard deviation of ln(time) of [`Series::Alike`].
const ALIKE_SPREAD: f64 = 0.5;
/// Standard deviation of ln(time) within a regime.
const REGIME_SPREAD: f64 = 0.2;

/// A series of times whose quantiles are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Series {
    /// Log-normal, driven by an autoregressive process of the first order with this correlation of
    /// neighbors; 0 for independent values.
    Alike(f64),
    /// Two paces, fast and slow; each value has this chance to leave one for the other.
    Regimes {
        /// From fast to slow.
        slow_down: f64,
        /// From slow to fast.
        speed_up: f64,
    },
}

impl Series {
    /// Returns `length` values in nanoseconds that `seed` decides; they start in equilibrium.
    #[must_use]
    pub fn values(self, seed: u64, length: usize) -> Vec<u64> {
        let mut random = Random::new(seed);
        match self {
            Series::Alike(correlation) => {
                let fresh = (1.0 - correlation * correlation).sqrt();
                let mut state = normal(&mut random);
                let next = || {
                    let ns = FAST_NS * (ALIKE_SPREAD * state).exp();
                    state = correlation * state + fresh * normal(&mut random);
                    whole(ns)
                };
                std::iter::repeat_with(next).take(length).collect()
            }
            Series::Regimes { slow_down, speed_up } => {
                let mut is_slow = uniform(&mut random) <= self.slow_share();
                let next = || {
                    let median_ns = if is_slow { SLOW_NS } else { FAST_NS };
                    let leave = if is_slow { speed_up } else { slow_down };
                    is_slow ^= uniform(&mut random) <= leave;
                    whole(median_ns * (REGIME_SPREAD * normal(&mut random)).exp())
                };
                std::iter::repeat_with(next).take(length).collect()
            }
        }
    }

    /// Returns the true quantile `share`, in nanoseconds.
    #[must_use]
    pub fn quantile_ns(self, share: f64) -> f64 {
        let (mut low, mut high) = (0.0_f64, 40.0_f64);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if self.at_or_below(middle) < share { low = middle } else { high = middle }
        }
        low.exp()
    }

    /// Returns the share of values whose logarithm is at or below `ln_ns`.
    fn at_or_below(self, ln_ns: f64) -> f64 {
        let of = |median_ns: f64, spread: f64| normal_share((ln_ns - median_ns.ln()) / spread);
        let slow = self.slow_share();
        match self {
            Series::Alike(_) => of(FAST_NS, ALIKE_SPREAD),
            Series::Regimes { .. } => {
                (1.0 - slow) * of(FAST_NS, REGIME_SPREAD) + slow * of(SLOW_NS, REGIME_SPREAD)
            }
        }
    }

    /// Returns the share of values at the slow pace.
    fn slow_share(self) -> f64 {
        match self {
            Series::Alike(_) => 0.0,
            Series::Regimes { slow_down, speed_up } => slow_down / (slow_down + speed_up),
        }
    }
}

/// Returns the nearest whole number of nanoseconds.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are positive, and a cast of a real number saturates"
)]
pub fn whole(ns: f64) -> u64 {
    ns.round() as u64
}

/// Returns a number above 0, at most 1.
fn uniform(random: &mut Random) -> f64 {
    ((random.next_u64() >> 11) as f64 + 1.0) / 9_007_199_254_740_992.0
}

/// Returns a number from a normal distribution (Box and Muller, "A Note on the Generation of Random
/// Normal Deviates", 1958).
fn normal(random: &mut Random) -> f64 {
    let length = (-2.0 * uniform(random).ln()).sqrt();
    length * (std::f64::consts::TAU * uniform(random)).cos()
}

/// Returns the share of a normal distribution at or below `z`, off by at most 1.5e-7 (Abramowitz
/// and Stegun, "Handbook of Mathematical Functions", 7.1.26).
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

    /// Returns ln(time) of so many operations, one after the other.
    fn logarithms(pace: &mut Pace, count: usize) -> Vec<f64> {
        let mut now_ns = 0;
        let mut next = || {
            let ns = pace.next_ns(now_ns);
            now_ns += whole(ns);
            ns.ln()
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn neighbors_are_alike_as_much_as_is_said() {
        let mut pace = Pace::new(false, 1);
        pace.drift = 0.0;
        let mut states = Vec::new();
        for _ in 0..20_000 {
            pace.next_ns(0);
            states.push(pace.memory);
        }
        let square: f64 = states.iter().map(|value| value * value).sum();
        let product: f64 = states.windows(2).map(|two| two[0] * two[1]).sum();
        assert!((product / square - CORRELATION).abs() < 0.03, "{}", product / square);
    }

    #[test]
    fn ratios_of_neighbors_spread_as_much_as_was_seen() {
        let values = logarithms(&mut Pace::new(false, 2), 40_000);
        let ratios: Vec<f64> = values.chunks_exact(2).map(|two| two[0] - two[1]).collect();
        let square: f64 = ratios.iter().map(|value| value * value).sum();
        let spread = (square / ratios.len() as f64).sqrt();
        assert!((0.5..0.65).contains(&spread), "{spread}");
    }

    #[test]
    fn a_switching_drive_is_seen_at_both_paces() {
        let values = logarithms(&mut Pace::new(true, 3), 60_000);
        let slow = values.iter().filter(|value| **value > 1_000_000_f64.ln()).count();
        assert!((600..59_000).contains(&slow), "{slow}");
    }

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        let ln = |share| (Series::Alike(0.9).quantile_ns(share) / FAST_NS).ln() / ALIKE_SPREAD;
        assert!((ln(0.99) - 2.326_348).abs() < 1e-4, "{}", ln(0.99));
        assert!((ln(0.999) - 3.090_232).abs() < 1e-3);
        assert!(ln(0.5).abs() < 1e-6);
    }

    #[test]
    fn long_series_have_the_quantiles_that_are_said() {
        let regimes = Series::Regimes { slow_down: 1.0 / 40.0, speed_up: 1.0 / 10.0 };
        for series in [Series::Alike(0.0), Series::Alike(0.7), regimes] {
            let mut values = series.values(1, 400_000);
            values.sort_unstable();
            let seen = values[395_999] as f64 / series.quantile_ns(0.99);
            assert!((seen - 1.0).abs() < 0.02, "{series:?}: {seen}");
        }
    }
}
