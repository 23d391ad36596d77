//! Latency that a host may be expected to have for the throughput of its drive.
//!
//! A busy drive takes longer, and is not ill. PERSEUS (Lu et al., FAST '23, section 4;
//! <https://www.usenix.org/conference/fast23/presentation/lu>) therefore fits latency over
//! throughput among peers, without outliers, and judges what lies above that curve. Here it is a
//! straight line between logarithms, by Theil's incomplete method (H. Theil, "A rank-invariant
//! method of linear and polynomial regression analysis", 1950): each host of the less busy half is
//! paired with one of the busier half, and the slope is the median of the pairs' slopes, so that a
//! few slow hosts do not bend it. A slope below zero counts as none: no drive is slow for lack of
//! work.

use super::outlier_rule::median;
use units::number::real;

/// The fewest pairs that give a slope.
const PAIRS_MIN: usize = 3;
/// The least step of throughput that a slope is taken from: twice as much.
const STEP_MIN: f64 = std::f64::consts::LN_2;
/// A drive is busier than all its peers if it has at least so many steps more to do.
const STEPS_BUSIER: f64 = 2.0;

/// Line of expected latencies: how far they rise with the throughput.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LoadLine {
    slope: f64,
    /// Throughput in the middle, as [`load`] has it.
    middle: f64,
}

/// Returns a throughput as the line has it: the logarithm of MiB/s and one more, so that idle is 0.
pub(super) fn load(bytes_per_second: u64) -> f64 {
    (real(bytes_per_second) / f64::from(1 << 20)).ln_1p()
}

/// Returns whether the first throughput is far above the other: four times at least.
pub(super) fn is_far_busier(load: f64, other: f64) -> bool {
    load - other >= STEPS_BUSIER * STEP_MIN
}

impl LoadLine {
    /// Returns the line of hosts with a known throughput, each with the logarithm of its latency;
    /// a level one where they are too much alike or too few to tell.
    pub(super) fn of(mut hosts: Vec<(f64, f64)>) -> LoadLine {
        hosts.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        let busier = hosts.iter().skip(hosts.len().div_ceil(2));
        let slopes: Vec<f64> = hosts
            .iter()
            .zip(busier)
            .filter(|(idle, busy)| busy.0 - idle.0 >= STEP_MIN)
            .map(|(idle, busy)| (busy.1 - idle.1) / (busy.0 - idle.0))
            .collect();
        let slope = if slopes.len() < PAIRS_MIN { 0.0 } else { median(&slopes).max(0.0) };
        let loads: Vec<f64> = hosts.iter().map(|host| host.0).collect();
        LoadLine { slope, middle: median(&loads) }
    }

    /// Returns how far a latency is expected above that of the middle throughput, as a logarithm.
    pub(super) fn rise(self, load: f64) -> f64 {
        self.slope * (load - self.middle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_follows_most_hosts_and_neither_a_slow_one_nor_noise_of_idle_ones() {
        let mut hosts: Vec<(f64, f64)> =
            (0..20).map(f64::from).map(|at| (at / 4.0, 14.0 + at / 8.0)).collect();
        let line = LoadLine::of(hosts.clone());
        assert!((line.slope - 0.5).abs() < 1e-9, "{line:?}");
        hosts[2].1 += 5.0;
        assert!((LoadLine::of(hosts).slope - 0.5).abs() < 1e-9);
        let idle = (0..20).map(f64::from).map(|at| (at / 1000.0, 14.0 + at % 3.0)).collect();
        assert!(LoadLine::of(idle).slope.abs() < f64::EPSILON);
        let falling = (0..20).map(f64::from).map(|at| (at, 14.0 - at)).collect();
        assert!(LoadLine::of(falling).slope.abs() < f64::EPSILON, "work makes no drive faster");
        assert_eq!(LoadLine::of(Vec::new()), LoadLine::default());
    }

    #[test]
    fn a_throughput_of_nothing_is_zero_and_busier_is_four_times() {
        assert!(load(0).abs() < f64::EPSILON);
        assert!(is_far_busier(load(8 << 20), load(1 << 20)));
        assert!(!is_far_busier(load(6 << 20), load(1 << 20)));
    }
}
