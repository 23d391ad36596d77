//! Trials that are made, what must come out, and what did.

use measure::CostVerdict;

use super::trial::{ExtraTime, Trial, TrialOutcome};

/// Trials that differ in nothing but their seed, and what must hold of all of them together.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrialRow {
    /// Cost of the shifted arm, for people.
    pub(super) name: &'static str,
    /// True if the drive switches between two paces.
    pub(super) switches: bool,
    /// Cost of the shifted arm.
    pub(super) effect: ExtraTime,
    /// The pairs within which nine of ten trials must find that the arms differ.
    pub(super) found_within: Option<u64>,
}

const fn row(
    name: &'static str,
    switches: bool,
    (times, plus_ns): (f64, f64),
    found_within: Option<u64>,
) -> TrialRow {
    TrialRow { name, switches, effect: ExtraTime { times, plus_ns }, found_within }
}

const STEADY: bool = false;
const SWITCHING: bool = true;

/// All rows. What is added is 2 and 0.2 times the fast pace: on a switching drive that is 3 and 1.2
/// times as long at the one pace and next to nothing at the other, so no number of pairs is asked.
pub(super) const ROWS: &[TrialRow] = &[
    row("none (A/A)", STEADY, (1.0, 0.0), None),
    row("none (A/A)", SWITCHING, (1.0, 0.0), None),
    row("3x", STEADY, (3.0, 0.0), Some(20)),
    row("3x", SWITCHING, (3.0, 0.0), Some(20)),
    row("1.5x", SWITCHING, (1.5, 0.0), None),
    row("1.2x", STEADY, (1.2, 0.0), Some(150)),
    row("1.2x", SWITCHING, (1.2, 0.0), Some(150)),
    row("1.05x", SWITCHING, (1.05, 0.0), None),
    row("+240 us", STEADY, (1.0, 240_000.0), Some(20)),
    row("+240 us", SWITCHING, (1.0, 240_000.0), None),
    row("+24 us", STEADY, (1.0, 24_000.0), Some(150)),
    row("+24 us", SWITCHING, (1.0, 24_000.0), None),
];

/// Results of a row's trials.
#[derive(Clone, Debug, Default)]
pub(super) struct TrialResults {
    /// The trials.
    pub(super) trials: u64,
    /// Those whose last interval holds the truth.
    pub(super) covered: u64,
    /// Those that ended in each verdict: penalty, no penalty, small, inconclusive, void.
    pub(super) verdicts: [u64; 5],
    /// The pairs at which each that found a difference did so, sorted.
    found_at: Vec<u64>,
    /// The pairs that each ran, sorted.
    pairs: Vec<u64>,
}

impl TrialRow {
    /// Returns one trial of this row.
    pub(super) fn trial(&self, seed: u64) -> TrialOutcome {
        Trial { switches: self.switches, effect: self.effect, seed }.run()
    }

    /// Returns the row's name with that of its drive.
    pub(super) fn title(&self) -> String {
        format!("{:<11} {}", self.name, if self.switches { "switching" } else { "steady" })
    }

    /// Returns whether the arms do not differ.
    pub(super) fn is_same(&self) -> bool {
        self.effect == ExtraTime::NONE
    }

    /// Returns what `tally` misses of what must hold, one sentence each: the truth inside 97 % of
    /// all intervals, at most 2 % of trials without an effect end in penalty or small, and nine of
    /// ten effects found in time. Below some 200 trials chance alone may miss them.
    pub(super) fn misses(&self, tally: &TrialResults) -> Vec<String> {
        let mut misses = Vec::new();
        let trials = tally.trials;
        let share = |of_200: u64| (trials * of_200).div_euclid(200);
        let covered_least = share(194);
        if tally.covered < covered_least {
            let covered = tally.covered;
            misses.push(format!(
                "{covered} of {trials} intervals hold the truth, not {covered_least}"
            ));
        }
        let false_most = share(4);
        if self.is_same() && tally.penalty_or_small() > false_most {
            let wrong = tally.penalty_or_small();
            misses.push(format!("{wrong} of {trials} end in penalty or small, over {false_most}"));
        }
        if let Some(within) = self.found_within {
            let (found, found_least) = (tally.found_within(within), share(180));
            if found < found_least {
                misses.push(format!(
                    "{found} of {trials} are found within {within} pairs, not {found_least}"
                ));
            }
        }
        misses
    }
}

impl TrialResults {
    pub(super) fn add(&mut self, outcome: &TrialOutcome) {
        self.trials += 1;
        self.covered += u64::from(outcome.interval.contains(outcome.truth));
        let place = match outcome.conclusion.verdict {
            CostVerdict::Penalty => 0,
            CostVerdict::NoPenalty => 1,
            CostVerdict::Small => 2,
            CostVerdict::Inconclusive => 3,
            CostVerdict::Void => 4,
        };
        self.verdicts[place] += 1;
        self.found_at.extend(outcome.found_at);
        self.found_at.sort_unstable();
        self.pairs.push(outcome.pairs);
        self.pairs.sort_unstable();
    }

    /// Those that ended in penalty or small: false where there is no effect.
    pub(super) fn penalty_or_small(&self) -> u64 {
        self.verdicts[0] + self.verdicts[2]
    }

    /// The pairs within which so many percent of all trials found a difference (nearest rank);
    /// `None` when fewer ever did.
    pub(super) fn found_at(&self, percent: u64) -> Option<u64> {
        self.found_at.get(rank(self.trials, percent)).copied()
    }

    /// Returns how many trials found a difference within so many pairs.
    pub(super) fn found_within(&self, pairs: u64) -> u64 {
        self.found_at.partition_point(|found| *found <= pairs) as u64
    }

    /// The pairs that so many percent of all trials ran at most; 0 without trials.
    pub(super) fn pairs(&self, percent: u64) -> u64 {
        self.pairs.get(rank(self.trials, percent)).copied().unwrap_or(0)
    }
}

/// The place, from 0, of the value that `percent` % of all stay at or below.
fn rank(count: u64, percent: u64) -> usize {
    let rank = (count * percent).div_ceil(100).max(1);
    usize::try_from(rank - 1).unwrap_or(usize::MAX)
}
