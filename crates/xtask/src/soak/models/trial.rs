//! One experiment on times whose true ratio is known, and what it should have found.
//!
//! # The truth
//!
//! The estimand is the median of the pairs' log ratios over both orders that the coin could have
//! given. It is known what each place of a pair takes plainly, u and v, and D, the effect; so
//! each pair has two log ratios, ln(D(v)/u) and ln(D(u)/v), of which the coin picked one. The truth
//! is the median of both of all pairs that counted: no long run is needed, and none would do, since
//! what is added weighs less at a slow pace, and runs meet different paces. Where the effect is a
//! multiplication by θ, the two are ln θ ± ln(u/v), and the truth is θ, whatever the drive did.
//!
//! That the interval holds for this truth where the effect is added: at the truth the chances of
//! the signs differ from pair to pair, but add up to one half, and a sum of such signs spreads no
//! more than one of fair coins.

use measure::{
    ArmPlan, Conclusion, Experiment, ExperimentPlan, Interval, Role, Stop, VerdictLimits,
};
use testkit::latency_series::{Pace, whole};

/// Extra time of an operation of the shifted arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ExtraTime {
    /// So many times as long.
    pub(super) times: f64,
    /// And so many nanoseconds more.
    pub(super) plus_ns: f64,
}

impl ExtraTime {
    /// No effect.
    pub(super) const NONE: ExtraTime = ExtraTime { times: 1.0, plus_ns: 0.0 };

    /// Returns how long an operation takes that would take `plain_ns`.
    fn on(&self, plain_ns: f64) -> f64 {
        plain_ns * self.times + self.plus_ns
    }
}

/// One experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// True if the drive switches between two paces.
    pub(super) switches: bool,
    /// Cost of the shifted arm.
    pub(super) effect: ExtraTime,
    /// Decides the drive's times and the orders.
    pub(super) seed: u64,
}

/// Result of a trial.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TrialOutcome {
    /// The verdict with its sentence.
    pub(super) conclusion: Conclusion,
    /// The pairs that were run, those left out as warm-up included.
    pub(super) pairs: u64,
    /// The pairs that were run when the interval first excluded 1.
    pub(super) found_at: Option<u64>,
    /// The last interval of the median.
    pub(super) interval: Interval,
    /// The ratio that is true: see the head of this file.
    pub(super) truth: f64,
}

/// The most pairs of a trial.
pub(super) const PAIRS_MAX: usize = 2000;

/// Largest share of intervals that miss.
pub(crate) const ALPHA: f64 = 0.05;

/// The place of the shifted arm, between two that are aligned.
const SHIFTED: usize = 1;

impl Trial {
    /// Runs the experiment with the arms aligned, shifted and aligned again.
    pub(super) fn run(&self) -> TrialOutcome {
        let mut experiment =
            Experiment::new(plan(PAIRS_MAX, self.seed)).expect("the plan is sound");
        // Not the stream that decides the orders.
        let mut pace = Pace::new(self.switches, self.seed ^ (1 << 32));
        let (mut now_ns, mut times_ns, mut plain_ns) = (0, [0; 3], [0.0; 3]);
        let (mut both, mut pairs, mut found_at) = (Vec::with_capacity(2 * PAIRS_MAX), 0, None);
        while !experiment.standing().is_done {
            for &arm in experiment.order() {
                plain_ns[arm] = pace.next_ns(now_ns);
                let effect = if arm == SHIFTED { self.effect } else { ExtraTime::NONE };
                times_ns[arm] = whole(effect.on(plain_ns[arm])).max(1);
                now_ns += times_ns[arm];
            }
            experiment.record(&times_ns);
            let ratio =
                |arm: usize, base: usize| (self.effect.on(plain_ns[arm]) / plain_ns[base]).ln();
            both.extend([ratio(SHIFTED, 0), ratio(0, SHIFTED)]);
            pairs += 1;
            if found_at.is_none() && !experiment.standing().comparisons[0].median.contains(1.0) {
                found_at = Some(pairs);
            }
        }
        let conclusion = experiment.finish(Stop::Rule);
        let standing = experiment.standing();
        let discarded = usize::try_from(standing.discarded).expect("a few pairs");
        let interval = standing.comparisons[0].median;
        let mut counted = both.split_off(2 * discarded);
        counted.sort_unstable_by(f64::total_cmp);
        let truth = crate::bench::ratio::median(&counted).exp();
        TrialOutcome { conclusion, pairs, found_at, interval, truth }
    }
}

/// Returns the plan of an experiment with the arms aligned, shifted and aligned again.
pub(crate) fn plan(pairs_max: usize, seed: u64) -> ExperimentPlan {
    let arm = |name: &str, role| ArmPlan { name: name.to_owned(), role };
    ExperimentPlan {
        arms: vec![
            arm("aligned", Role::Baseline),
            arm("shifted", Role::Shifted),
            arm("aligned again", Role::Control),
        ],
        alpha: ALPHA,
        pairs_max,
        limits: VerdictLimits::default(),
        seed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_of_a_multiplied_delay_is_its_factor_and_of_an_added_one_lies_near() {
        let truth = |times, plus_ns, switches| {
            Trial { switches, effect: ExtraTime { times, plus_ns }, seed: 7 }.run().truth
        };
        assert!((truth(3.0, 0.0, true) - 3.0).abs() < 1e-9);
        assert!((truth(1.0, 0.0, true) - 1.0).abs() < 1e-9);
        let added = truth(1.0, 240_000.0, false);
        assert!((2.5..3.5).contains(&added), "{added}");
    }
}
