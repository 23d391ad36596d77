//! Whether a drive was too noisy for a run to say anything, by the spread that the run printed.
//!
//! # The criterion
//!
//! An inconclusive run was *too noisy* when both of these hold:
//!
//! 1. The pairs suffered: the interval of the control, which is measured like the arm that is
//!    judged and decides nothing here, is wider than 0.95 to 1.05 as well: half of its width is
//!    above ln 1.05. Even around exactly 1 it could not have said that nothing differs.
//! 2. The drive's own latency is enough of a reason: from the *spread* of the baseline alone so
//!    wide an interval had to be expected. The spread is the interquartile range over the median
//!    of the regime that the middle one of the run's pairs is in, when all are sorted by that; a
//!    change of pace between regimes does not widen it, for the two of a pair see the same pace.
//!    From it and the number of pairs follows the width:
//!    - ln(1 + spread) is the least that the interquartile range of the logarithms can be when
//!      the range and the median are these;
//!    - the difference of two independent ones has about √2 times that. Those of a pair follow
//!      each other and are often alike, so that a run with a wide spread may well have a narrow
//!      interval: this condition says that noise suffices, and the first that there was some;
//!    - the interval ends at two order statistics ([`SignBound`], the very rule of the
//!      experiment); between the quartiles values are taken to lie on a line, and beyond them
//!      too, where in truth they lie further out.
//!
//! With too few pairs for any interval the drive was slow, not noisy, and the answer is no.
//!
//! Noise can only be the reason why nothing was found. It excuses no penalty and no small one,
//! which are false between identical arms whatever the drive does, and no void run.

use measure::Limits;
use measure::statistics::SignBound;
use report::bench::{Experiment, Regime};

use super::straddle;

/// The spread of the latency, as a share of its median, that half of the `pairs` stay below; 0
/// where no regime is listed.
pub(super) fn spread(regimes: &[Regime], pairs: u64) -> f64 {
    let mut parts: Vec<(f64, u64)> = Vec::new();
    for (number, regime) in regimes.iter().enumerate() {
        let end = regimes.get(number + 1).map_or(pairs, |next| next.from_pair);
        let spread = real(regime.spread_ns) / real(regime.median_ns.max(1));
        parts.push((spread, end.saturating_sub(regime.from_pair)));
    }
    parts.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half = parts.iter().map(|part| part.1).sum::<u64>().div_ceil(2);
    let mut seen = 0;
    for (spread, count) in parts {
        seen += count;
        if seen >= half {
            return spread;
        }
    }
    0.0
}

/// Half of the interval's width that must be expected, as a logarithm; `None` where so few pairs
/// give no interval.
fn half_width(spread: f64, pairs: u64, alpha: f64) -> Option<f64> {
    let mut bound = SignBound::new(alpha);
    (0..pairs).for_each(|_| bound.advance());
    let (_, high) = bound.places()?;
    let places = u64::try_from(high + 1).ok()?;
    // How far above the middle the upper end is, as a share of all pairs; a quartile is at 1/4.
    let above = real(places) / real(pairs) - 0.5;
    let range = std::f64::consts::SQRT_2 * spread.ln_1p();
    Some(above * 2.0 * range)
}

/// Half of the width of the control's interval, as a logarithm; `None` where it has none.
pub(super) fn control_half_width(experiment: &Experiment) -> Option<f64> {
    let control = straddle::arm(experiment, "control")?;
    let of = |name: &str| experiment.comparisons.iter().find(|one| one.arm == name);
    let comparison = of(&control.name)?;
    let high = comparison.high.filter(|_| comparison.low > 0.0)?;
    Some((high.ln() - comparison.low.ln()) / 2.0)
}

/// Whether a run that ended inconclusive could not say that there is no penalty: the criterion of
/// the head of this file.
pub(super) fn is_too_noisy(experiment: &Experiment) -> bool {
    let spread = spread(&experiment.regimes, experiment.pairs);
    let expected = half_width(spread, experiment.pairs, experiment.alpha);
    is_wide(control_half_width(experiment)) && is_wide(expected)
}

/// Whether an interval this wide fits nowhere inside the band of no penalty.
fn is_wide(half_width: Option<f64>) -> bool {
    half_width.is_some_and(|half_width| half_width > Limits::default().same_high.ln())
}

/// A count or nanoseconds as a number to reckon with; all are scaled alike, and only their ratios
/// are used.
fn real(nanoseconds: u64) -> f64 {
    std::time::Duration::from_nanos(nanoseconds).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regime(from_pair: u64, spread_ns: u64) -> Regime {
        Regime { from_pair, median_ns: 1000, spread_ns }
    }

    #[test]
    fn the_spread_is_what_half_of_the_pairs_stay_below() {
        let check = |regimes: &[Regime], expected: f64| {
            assert!((spread(regimes, 100) - expected).abs() < 1e-9, "{regimes:?}");
        };
        check(&[], 0.0);
        check(&[regime(0, 200)], 0.2);
        check(&[regime(0, 900), regime(40, 100)], 0.1);
        check(&[regime(0, 100), regime(40, 900)], 0.9);
        check(&[regime(0, 900), regime(30, 300), regime(60, 100)], 0.3);
    }

    #[test]
    fn a_change_of_pace_between_regimes_is_no_spread() {
        let slow = Regime { from_pair: 50, median_ns: 50_000, spread_ns: 5000 };
        assert!((spread(&[regime(0, 100), slow], 100) - 0.1).abs() < 1e-9);
    }

    #[test]
    fn a_width_that_is_not_known_is_no_noise() {
        assert!(!is_wide(None) && !is_wide(Some(0.04)) && is_wide(Some(0.05)));
    }

    #[test]
    fn the_width_falls_with_pairs_and_rises_with_the_spread() {
        let width = |spread, pairs| half_width(spread, pairs, 0.05).unwrap();
        assert!(width(0.2, 1000) < width(0.2, 100));
        assert!(width(0.4, 100) > width(0.2, 100));
        assert_eq!(half_width(0.2, 5, 0.05), None);
    }

    /// Normal logarithms: the width that is expected is near the one that is found.
    #[test]
    fn the_expected_width_is_about_that_of_the_experiment_itself() {
        let mut random = testkit::random(3);
        let mut uniform =
            || f64::from(u32::try_from(random.below(1 << 32)).unwrap()) / 2f64.powi(32);
        // A sum of twelve is near a normal one with a deviation of 1.
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let deviation = 0.1;
        let mut ratios = measure::statistics::Ratios::new(0.05, 1000);
        for _ in 0..1000 {
            ratios.record(deviation * (normal() - normal()));
        }
        let found = ratios.median();
        let found = (found.high.ln() - found.low.ln()) / 2.0;
        let expected = half_width(f64::exp_m1(1.349 * deviation), 1000, 0.05).unwrap();
        assert!((0.75..1.35).contains(&(expected / found)), "{expected} {found}");
    }
}
