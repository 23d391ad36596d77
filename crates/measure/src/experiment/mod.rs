//! The paired experiment: arms in a random order in each pair, an interval that may be looked at
//! after any of them, and a rule that says when to stop.
//!
//! It knows times only. Whether a time is that of one write, of a block of them, of a command or of
//! a step of a suite is the caller's business, as are seconds and bytes.
//!
//! # When it stops
//!
//! In this order, at each look: the control's interval excludes 1 (void); the first shifted arm's
//! lies within the band around 1 (no penalty); it lies above the limit (penalty), and is narrow
//! enough, or has taken a few times the pairs that made it certain; it lies between band and limit,
//! or below the band (small, whatever comes); the pairs are used up. Since the intervals hold at
//! all numbers of pairs at once, looking and stopping by what was seen costs nothing.

use units::random::Random;

use crate::Histogram;
use crate::cost_verdict::{
    ArmVerdict, Conclusion, CostVerdict, LastLook, PairStep, Stop, certain, figure, last, more,
    sentence,
};
use crate::durable::ValueSample;
use crate::experiment_plan::{ArmPlan, ExperimentPlan, PlanError, Role};
use crate::pace_changes::{Regime, Regimes};
use crate::statistics::{Interval, Ratios};
use crate::warmup::Warmup;
use units::number::{real, wide};

/// A paired experiment on its way.
#[derive(Clone, Debug)]
pub struct Experiment {
    plan: ExperimentPlan,
    baseline: usize,
    judged: usize,
    random: Random,
    order: Vec<usize>,
    warmup: Warmup,
    ratios: Vec<Ratios>,
    logs: Vec<ValueSample<f64>>,
    times: Vec<Histogram>,
    regimes: Regimes,
    pairs: u64,
    next_look: u64,
    is_due: bool,
    penalty_since: Option<u64>,
    void: Option<String>,
    narrowing: Vec<PairStep>,
    next_step: u64,
    standing: LastLook,
}

/// Up to here there is a look at every pair; from here they grow apart by about 3 %.
const LOOK_ALWAYS: u64 = 64;
/// Number of pairs of which the ratio is kept in order, at least: half of the most.
const PAIRS_KEPT: usize = 128;
/// The most steps of the narrowing that are kept; the last is always the newest look.
const STEPS_MAX: usize = 64;

impl Experiment {
    /// One that has seen nothing.
    ///
    /// # Errors
    /// When the plan has not exactly one baseline, nothing shifted, no pairs, or an alpha that is
    /// no probability.
    pub fn new(plan: ExperimentPlan) -> Result<Experiment, PlanError> {
        let baselines = || places(&plan.arms, Role::Baseline);
        let (Some(baseline), 1) = (baselines().next(), baselines().count()) else {
            return Err(PlanError::Baselines(baselines().count()));
        };
        let Some(judged) = places(&plan.arms, Role::Shifted).next() else {
            return Err(PlanError::NothingShifted);
        };
        if !(plan.alpha > 0.0 && plan.alpha < 1.0) {
            return Err(PlanError::Alpha(plan.alpha));
        }
        if plan.pairs_max == 0 {
            return Err(PlanError::NoPairs);
        }
        let others = (0..plan.arms.len()).filter(|arm| *arm != baseline);
        let comparisons: Vec<ArmVerdict> = others
            .map(|arm| ArmVerdict {
                arm,
                against: baseline,
                median: Interval::UNKNOWN,
                clipped: None,
            })
            .collect();
        Ok(Experiment {
            baseline,
            judged,
            random: Random::new(plan.seed),
            order: (0..plan.arms.len()).collect(),
            warmup: Warmup::new(plan.arms.len(), plan.pairs_max),
            ratios: comparisons.iter().map(|_| Ratios::new(plan.alpha, plan.pairs_max)).collect(),
            logs: comparisons.iter().map(|_| ValueSample::new(PAIRS_KEPT)).collect(),
            times: plan.arms.iter().map(|_| Histogram::new()).collect(),
            regimes: Regimes::new(),
            pairs: 0,
            next_look: 1,
            is_due: false,
            penalty_since: None,
            void: None,
            narrowing: Vec::with_capacity(STEPS_MAX),
            next_step: 1,
            standing: LastLook {
                pairs: 0,
                discarded: 0,
                clamped: 0,
                comparisons,
                verdict: None,
                is_done: false,
            },
            plan,
        })
    }

    /// The order of the arms in the next pair: places in the plan, every order equally likely (for
    /// two arms a fair coin). To be asked once for each pair.
    pub fn order(&mut self) -> &[usize] {
        self.random.shuffle(&mut self.order);
        &self.order
    }

    /// Takes the times of a pair in nanoseconds, in the order of the plan's arms, not in that of
    /// the pair. A time of 0 counts as 1, since it has no logarithm. Allocates nothing. Pairs
    /// after the last planned one are left out.
    ///
    /// # Panics
    /// When there is not one time for each arm.
    pub fn record(&mut self, times_ns: &[u64]) {
        assert_eq!(times_ns.len(), self.plan.arms.len(), "one time for each arm");
        self.is_due = false;
        if self.pairs >= wide(self.plan.pairs_max) {
            return;
        }
        if self.warmup.is_over() {
            self.count(times_ns);
        } else if self.warmup.hold(times_ns) {
            self.end_warmup();
        }
        if self.pairs >= self.next_look {
            self.look();
        }
    }

    /// Returns whether the last pair was looked at, so that the standing is new: every pair to 64,
    /// then about every 33rd part.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// Returns what was known at the last look.
    #[must_use]
    pub fn standing(&self) -> &LastLook {
        &self.standing
    }

    /// Says that something was wrong with the measurement; the first reason is kept.
    pub fn void(&mut self, reason: impl Into<String>) {
        self.void.get_or_insert(reason.into());
        (self.standing.verdict, self.standing.is_done) = (Some(CostVerdict::Void), true);
    }

    /// Ends it: looks once more, and says what was found. Pairs that the warm-up still held back
    /// count.
    pub fn finish(&mut self, stop: Stop) -> Conclusion {
        self.end_warmup();
        self.look();
        let interval = self.judged_interval();
        if let Some(reason) = &self.void {
            return Conclusion { verdict: CostVerdict::Void, reason: reason.clone() };
        }
        let verdict = last(&self.plan.limits, &interval);
        let names = (self.name(self.judged), self.name(self.baseline));
        let reason = sentence(verdict, names, &interval, self.pairs, stop);
        Conclusion { verdict, reason }
    }

    /// The factor by which more pairs are likely to settle an inconclusive result: 2 to 100.
    #[must_use]
    pub fn more(&self) -> f64 {
        more(&self.plan.limits, &self.judged_interval())
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &ExperimentPlan {
        &self.plan
    }

    /// The times of an arm in the pairs that count.
    ///
    /// # Panics
    /// When there is no such arm.
    #[must_use]
    pub fn times(&self, arm: usize) -> &Histogram {
        &self.times[arm]
    }

    /// Returns how the baseline's time went, in order; at most
    /// [`crate::pace_changes::REGIMES_MAX`].
    #[must_use]
    pub fn regimes(&self) -> Vec<Regime> {
        self.regimes.list()
    }

    /// Returns the ratio of each pair that counts in their order, for the comparison at `number` of
    /// the standing: all, or of a run of more than 256 pairs at least 128, drawn evenly, the same
    /// pairs for every comparison; none where there is no such comparison.
    pub fn pair_ratios(&self, number: usize) -> impl Iterator<Item = f64> + '_ {
        let logs = self.logs.get(number).map(ValueSample::values).unwrap_or_default();
        logs.iter().map(|log| log.exp())
    }

    /// Returns how the interval of the first shifted arm narrowed, at growing distances; at most 64
    /// steps, the last of which is the last look.
    #[must_use]
    pub fn narrowing(&self) -> &[PairStep] {
        &self.narrowing
    }

    /// The place of the baseline in the plan.
    #[must_use]
    pub fn baseline(&self) -> usize {
        self.baseline
    }

    /// The place in the plan of the arm that the verdict is on.
    #[must_use]
    pub fn judged(&self) -> usize {
        self.judged
    }

    fn name(&self, arm: usize) -> &str {
        &self.plan.arms[arm].name
    }

    /// Counts what the warm-up held back, and all that follows.
    fn end_warmup(&mut self) {
        let held = self.warmup.release();
        for pair in held.chunks_exact(self.plan.arms.len()) {
            self.count(pair);
        }
    }

    /// Counts a pair.
    fn count(&mut self, times_ns: &[u64]) {
        if self.pairs >= wide(self.plan.pairs_max) {
            return;
        }
        let log = |arm: usize| real(times_ns[arm].max(1)).ln();
        let against = log(self.baseline);
        let seen = self.ratios.iter_mut().zip(&mut self.logs);
        for (comparison, (ratios, logs)) in self.standing.comparisons.iter().zip(seen) {
            ratios.record(log(comparison.arm) - against);
            logs.record(log(comparison.arm) - against);
        }
        for (ns, times) in times_ns.iter().zip(&mut self.times) {
            self.standing.clamped += u64::from(*ns == 0);
            times.record((*ns).max(1));
        }
        self.regimes.record(times_ns[self.baseline].max(1));
        self.pairs += 1;
    }

    /// Brings the standing up to date.
    fn look(&mut self) {
        self.is_due = true;
        let grown = units::number::whole(real(self.pairs) * 0.03).max(1);
        let next = self.pairs + if self.pairs < LOOK_ALWAYS { 1 } else { grown };
        self.next_look = next.min(wide(self.plan.pairs_max)).max(self.pairs + 1);
        self.standing.pairs = self.pairs;
        self.standing.discarded = wide(self.warmup.discarded());
        for (comparison, ratios) in self.standing.comparisons.iter_mut().zip(&mut self.ratios) {
            (comparison.median, comparison.clipped) = (ratios.median(), ratios.clipped_mean());
        }
        self.keep_step();
        self.judge();
    }

    /// Sets the verdict that is certain, and whether to stop.
    fn judge(&mut self) {
        self.check_controls();
        let is_last = self.pairs >= wide(self.plan.pairs_max);
        if self.void.is_some() {
            (self.standing.verdict, self.standing.is_done) = (Some(CostVerdict::Void), true);
            return;
        }
        let (limits, interval) = (&self.plan.limits, self.judged_interval());
        let verdict = certain(limits, &interval);
        if verdict == Some(CostVerdict::Penalty) {
            self.penalty_since.get_or_insert(self.pairs);
        } else {
            self.penalty_since = None;
        }
        let is_enough = match (verdict, self.penalty_since) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(_), Some(since)) => {
                interval.half_width() <= limits.half_width
                    || real(self.pairs) >= real(since) * (1.0 + limits.extra)
            }
        };
        (self.standing.verdict, self.standing.is_done) = (verdict, is_enough || is_last);
    }

    /// Makes the experiment void when a control takes another time than the baseline. One look is
    /// enough, and later ones do not take it back.
    fn check_controls(&mut self) {
        let comparisons = self.standing.comparisons.iter();
        let wrong = comparisons
            .filter(|comparison| self.plan.arms[comparison.arm].role == Role::Control)
            .find(|comparison| !comparison.median.contains(1.0));
        if let Some(ArmVerdict { arm, median, .. }) = wrong {
            let reason = format!(
                "{} must take as long as {}, and takes {} times as long ({} to {}, {} pairs)",
                self.name(*arm),
                self.name(self.baseline),
                figure(median.ratio),
                figure(median.low),
                figure(median.high),
                self.pairs,
            );
            self.void.get_or_insert(reason);
        }
    }

    /// The interval of the arm that the verdict is on.
    fn judged_interval(&self) -> Interval {
        let mut comparisons = self.standing.comparisons.iter();
        let judged = comparisons.find(|comparison| comparison.arm == self.judged);
        judged.expect("each arm but the baseline has a comparison").median
    }

    /// Keeps the newest look at the end of the narrowing, and one at each distance before it.
    fn keep_step(&mut self) {
        let step = PairStep { pairs: self.pairs, median: self.judged_interval() };
        let newest = self.narrowing.last().map(|last| last.pairs);
        let is_far = newest.is_none_or(|pairs| pairs >= self.next_step && pairs < step.pairs);
        if is_far && self.narrowing.len() < STEPS_MAX {
            // Growing by a third: 64 steps reach 2^24 pairs, and the last is then the newest.
            let from = newest.unwrap_or(0);
            self.next_step = from + from.div_ceil(3).max(1);
            self.narrowing.push(step);
        } else if let Some(last) = self.narrowing.last_mut() {
            *last = step;
        }
    }
}

/// The places of the arms with a role.
fn places(arms: &[ArmPlan], role: Role) -> impl Iterator<Item = usize> {
    arms.iter().enumerate().filter(move |(_, arm)| arm.role == role).map(|(place, _)| place)
}

#[cfg(test)]
mod tests;
