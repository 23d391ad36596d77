//! How long a plain operation takes on the model drive.
//!
//! Fitted to what one virtual disk was seen to do under durable writes of 4 KiB: 120 µs for most of
//! the time and 4 ms for seconds at a time; a correlation of 0.35 between the logarithms of an
//! operation's time and the next one's; and ratios of neighbors whose logarithms spread by about
//! 0.57, most of that from few operations that take far longer than the others.

use units::random::Random;

use crate::number::real;

/// Whether the drive changes its pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Temper {
    /// It drifts, remembers and stumbles.
    Steady,
    /// It also changes between a fast and a slow pace, for up to [`DWELL_NS_MAX`] each.
    Switching,
}

/// The median time at the fast pace.
pub const FAST_NS: f64 = 120_000.0;
/// The median time at the slow pace.
pub const SLOW_NS: f64 = 4_000_000.0;
/// The longest time at one pace; each is drawn from 0 to here.
pub const DWELL_NS_MAX: u64 = 3_000_000_000;
/// The correlation of ln(time) with the next one's, stumbles aside.
pub const CORRELATION: f64 = 0.35;
/// The standard deviation of ln(time), stumbles aside.
const SPREAD: f64 = 0.22;
/// How much ln(time) drifts with each operation, at most ...
const DRIFT: f64 = 5e-5;
/// ... and in all.
const DRIFTED_MAX: f64 = 1.0;
/// One operation in so many stumbles ...
const STUMBLE_ONE_IN: u64 = 25;
/// ... and takes at least so many times as long ...
const STUMBLE_TIMES: f64 = 2.0;
/// ... with a tail of this power (Pareto) ...
const STUMBLE_POWER: f64 = 1.2;
/// ... up to so many times.
const STUMBLE_TIMES_MAX: f64 = 100.0;

/// The times of plain operations, one after another.
#[derive(Clone, Debug)]
pub struct Pace {
    random: Random,
    temper: Temper,
    is_slow: bool,
    until_ns: u64,
    drift: f64,
    drifted: f64,
    memory: f64,
}

impl Pace {
    /// A pace that `seed` alone decides. [`Temper::Switching`] starts fast or slow.
    #[must_use]
    pub fn new(temper: Temper, seed: u64) -> Pace {
        let mut random = Random::new(seed);
        let drift = DRIFT * (2.0 * uniform(&mut random) - 1.0);
        let is_slow = temper == Temper::Switching && random.below(2) == 0;
        let until_ns = random.below(DWELL_NS_MAX);
        Pace { random, temper, is_slow, until_ns, drift, drifted: 0.0, memory: 0.0 }
    }

    /// Returns how many nanoseconds a plain operation takes that starts at `now_ns`.
    pub fn next_ns(&mut self, now_ns: u64) -> f64 {
        while self.temper == Temper::Switching && now_ns >= self.until_ns {
            self.is_slow = !self.is_slow;
            self.until_ns += self.random.below(DWELL_NS_MAX) + 1;
        }
        self.drifted = (self.drifted + self.drift).clamp(-DRIFTED_MAX, DRIFTED_MAX);
        let fresh = SPREAD * (1.0 - CORRELATION * CORRELATION).sqrt();
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

/// Above 0, at most 1.
pub(super) fn uniform(random: &mut Random) -> f64 {
    (real(random.next_u64() >> 11) + 1.0) / 9_007_199_254_740_992.0
}

/// From a normal distribution (Box and Muller, "A Note on the Generation of Random Normal
/// Deviates", 1958).
pub(super) fn normal(random: &mut Random) -> f64 {
    let length = (-2.0 * uniform(random).ln()).sqrt();
    length * (std::f64::consts::TAU * uniform(random)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln(time) of so many operations, one behind the other.
    fn logarithms(pace: &mut Pace, count: usize) -> Vec<f64> {
        let mut now_ns = 0;
        let mut next = || {
            let ns = pace.next_ns(now_ns);
            now_ns += crate::number::whole(ns);
            ns.ln()
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn neighbors_are_alike_as_much_as_is_said() {
        let mut pace = Pace::new(Temper::Steady, 1);
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
        let values = logarithms(&mut Pace::new(Temper::Steady, 2), 40_000);
        let ratios: Vec<f64> = values.chunks_exact(2).map(|two| two[0] - two[1]).collect();
        let square: f64 = ratios.iter().map(|value| value * value).sum();
        let spread = (square / crate::number::count(ratios.len())).sqrt();
        assert!((0.5..0.65).contains(&spread), "{spread}");
    }

    #[test]
    fn a_switching_drive_is_seen_at_both_paces() {
        let values = logarithms(&mut Pace::new(Temper::Switching, 3), 60_000);
        let slow = values.iter().filter(|value| **value > 1_000_000_f64.ln()).count();
        assert!((600..59_000).contains(&slow), "{slow}");
    }
}
