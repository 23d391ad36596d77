//! The clipped mean of the pairs' log ratios, with an interval: a second figure.
//!
//! x = clip(d − ln θ, ±c), S = Σx, V = Σx². Given the past x is symmetric around 0 at the true θ
//! (see the head of [`crate::statistics`]), so exp(λS − λ²V/2) is a supermartingale for every λ (de
//! la Peña, "A general class of exponential inequalities for martingales and ratios", 1999). Mixed
//! over λ from a normal distribution with variance 1/ρ (Robbins 1970; Howard, Ramdas, McAuliffe and
//! Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021) it keeps θ
//! while
//!
//! ```text
//! |S| ≤ sqrt((V + ρ) ln((V + ρ) / (ρ α²)))
//! ```
//!
//! c and ρ come from the first [`PILOT`] pairs, which are left out of S and V: a bound that is
//! fixed before a pair is drawn cannot lean to one side. The figure is the θ at which S is 0
//! (Huber's estimate of location). It is narrower than the median's interval where tails are light,
//! and where a cost is added rather than multiplied it is a figure of its own: not the median.

use units::number::count;

/// The pairs from which the clip is fixed.
pub(super) const PILOT: usize = 20;
/// The least scale of the noise that is assumed, so that a drive without any has a clip: 0.1 %.
const SCALE_LEAST: f64 = 0.001;
/// The clip, in scales: where a normal distribution has its outer 5 %.
const CLIP_SCALES: f64 = 2.0;
/// ρ in squared scales. The interval is narrowest where V/ρ is about ln(1/α²) + ln(1 + ln(1/α²))
/// (Howard and others, 2021, section 3.5), 8 for 5 %; V grows by about 0.8 squared scales a pair,
/// so that is at 200 pairs.
const RHO_SCALES: f64 = 20.0;
/// Bisections: the least interval of ln θ is its first width divided by 2^60.
const BISECTIONS: usize = 60;

/// The sums, from which S and V at any θ follow.
#[derive(Clone, Debug)]
pub(super) struct Clipped {
    alpha: f64,
    pilot: [f64; PILOT],
    seen: usize,
    clip: f64,
    rho: f64,
    /// Σd and Σd² of the values before each place in sorted order, and after the last.
    sums: Vec<(f64, f64)>,
}

impl Clipped {
    /// None seen; room for `pairs_max` pairs, so that nothing is allocated later.
    #[must_use]
    pub(super) fn new(alpha: f64, pairs_max: usize) -> Clipped {
        let sums = Vec::with_capacity(pairs_max + 1);
        Clipped { alpha, pilot: [0.0; PILOT], seen: 0, clip: 0.0, rho: 0.0, sums }
    }

    /// Takes the log ratio of a pair; the first [`PILOT`] fix the clip.
    pub(super) fn record(&mut self, log_ratio: f64) {
        if self.seen < PILOT {
            self.pilot[self.seen] = log_ratio;
            if self.seen + 1 == PILOT {
                let scale = scale(self.pilot).max(SCALE_LEAST);
                (self.clip, self.rho) = (CLIP_SCALES * scale, RHO_SCALES * scale * scale);
            }
        }
        self.seen += 1;
    }

    /// The logarithms of the figure and of its bounds, where `sorted` are all values recorded, in
    /// order; `None` while there is no pair after the pilot.
    pub(super) fn interval(&mut self, sorted: &[f64]) -> Option<(f64, f64, f64)> {
        if self.seen <= PILOT || sorted.len() != self.seen {
            return None;
        }
        self.sums.clear();
        let mut sums = (0.0, 0.0);
        self.sums.push(sums);
        for value in sorted {
            sums = (sums.0 + value, sums.1 + value * value);
            self.sums.push(sums);
        }
        let (least, greatest) = (sorted[0] - self.clip, sorted[sorted.len() - 1] + self.clip);
        let middle = bisected(least, greatest, |theta| self.at(sorted, theta).0 <= 0.0);
        // S falls as θ grows, and S² − bound² changes its sign once on either side of the middle
        // (far out x is ±c for all, where S² is n²c² and the bound grows as n only; with few pairs
        // it may not change at all, and the interval ends nowhere).
        let is_out = |theta: f64| {
            let (sum, squares) = self.at(sorted, theta);
            let with = squares + self.rho;
            sum * sum > with * (with / (self.rho * self.alpha * self.alpha)).ln()
        };
        let low = match is_out(least) {
            true => bisected(least, middle, |theta| !is_out(theta)),
            false => f64::NEG_INFINITY,
        };
        let high = match is_out(greatest) {
            true => bisected(middle, greatest, is_out),
            false => f64::INFINITY,
        };
        Some((middle, low, high))
    }

    /// S and V at `theta`, the pilot left out.
    fn at(&self, sorted: &[f64], theta: f64) -> (f64, f64) {
        let clip = self.clip;
        let from = sorted.partition_point(|value| *value < theta - clip);
        let to = sorted.partition_point(|value| *value <= theta + clip);
        let (inside, outside) = (count(to - from), count(from + sorted.len() - to));
        let (first, second) =
            (self.sums[to].0 - self.sums[from].0, self.sums[to].1 - self.sums[from].1);
        let mut sum = first - inside * theta + clip * (count(sorted.len() - to) - count(from));
        let mut squares =
            second - 2.0 * theta * first + inside * theta * theta + outside * clip * clip;
        for value in self.pilot {
            let part = (value - theta).clamp(-clip, clip);
            sum -= part;
            squares -= part * part;
        }
        // Differences of sums may fall a rounding error below what squares can be.
        (sum, squares.max(0.0))
    }
}

/// The standard deviation that a normal distribution with the same median absolute deviation has
/// (Hampel, "The influence curve and its role in robust estimation", 1974).
fn scale(mut values: [f64; PILOT]) -> f64 {
    let middle = median(&mut values);
    for value in &mut values {
        *value = (*value - middle).abs();
    }
    1.4826 * median(&mut values)
}

fn median(values: &mut [f64; PILOT]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    f64::midpoint(values[PILOT / 2 - 1], values[PILOT / 2])
}

/// The border between where `is_behind` is false and where it is true.
fn bisected(mut low: f64, mut high: f64, is_behind: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if is_behind(middle) { high = middle } else { low = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records `values`, and gives the interval.
    fn interval(alpha: f64, values: &[f64]) -> Option<(f64, f64, f64)> {
        let mut clipped = Clipped::new(alpha, values.len());
        values.iter().for_each(|value| clipped.record(*value));
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        clipped.interval(&sorted)
    }

    #[test]
    fn the_scale_of_one_to_twenty_is_five_times_the_constant() {
        // Deviations from 10.5: 0.5, 0.5, 1.5, 1.5, ... 9.5, 9.5; the middle two are 4.5 and 5.5.
        let mut values = [0.0; PILOT];
        (1..=20_u8).zip(&mut values).for_each(|(number, value)| *value = f64::from(number));
        assert!((scale(values) - 5.0 * 1.4826).abs() < 1e-12);
    }

    #[test]
    fn values_that_are_all_the_same_have_the_interval_of_the_formula() {
        // Without noise the clip is 0.002 and ρ is 20e-6. At a distance e within the clip, with n
        // pairs after the pilot, S = ne and V = ne²; outside, e counts as the clip.
        let (n, alpha) = (100.0, 0.05);
        let (middle, low, high) = interval(alpha, &[0.5; 120]).unwrap();
        assert!((middle - 0.5).abs() < 1e-9);
        let e = high - 0.5;
        assert!((low - (0.5 - e)).abs() < 1e-9);
        let with = n * e * e + 20e-6;
        let bound = (with * (with / (20e-6 * alpha * alpha)).ln()).sqrt();
        assert!((n * e - bound).abs() < 1e-9, "{e}");
        assert!(e < 0.002);
    }

    #[test]
    fn one_wild_value_moves_the_figure_by_no_more_than_the_clip_allows() {
        let mut values: Vec<f64> = (0..100).map(|n| f64::from(n % 10) / 100.0).collect();
        let (before, _, _) = interval(0.05, &values).unwrap();
        values[99] = 1e6;
        let (after, _, _) = interval(0.05, &values).unwrap();
        assert!((after - before).abs() < 0.002, "{before} {after}");
    }

    #[test]
    fn there_is_no_interval_before_the_pilot_ended_and_no_bound_right_behind_it() {
        assert_eq!(interval(0.05, &[0.1; 20]), None);
        let (_, low, high) = interval(0.05, &[0.1; 21]).unwrap();
        assert_eq!((low, high), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn sums_of_sorted_values_are_those_of_the_definition() {
        let mut random = testkit::random(6);
        let mut draw = || units::number::real(random.below(1 << 20)) / f64::from(1 << 20) - 0.3;
        let values: Vec<f64> = (0..200).map(|_| draw()).collect();
        let mut clipped = Clipped::new(0.05, 200);
        values.iter().for_each(|value| clipped.record(*value));
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        clipped.interval(&sorted);
        for theta in [-1.0, 0.0, 0.2, 0.5, 2.0] {
            let parts =
                values[PILOT..].iter().map(|d| (d - theta).clamp(-clipped.clip, clipped.clip));
            let (sum, squares) = clipped.at(&sorted, theta);
            assert!((sum - parts.clone().sum::<f64>()).abs() < 1e-9);
            assert!((squares - parts.map(|part| part * part).sum::<f64>()).abs() < 1e-9);
        }
    }
}
