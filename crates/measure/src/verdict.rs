//! What an experiment ends with, and what is known on the way.

use crate::plan::Limits;
use crate::statistics::Interval;

/// What an experiment ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The interval is wholly above the limit.
    Penalty,
    /// The interval is wholly within the band around 1.
    NoPenalty,
    /// The interval excludes 1, and is neither.
    Small,
    /// The budget ended before anything could be said.
    Inconclusive,
    /// Something was wrong with the measurement, so nothing is said.
    Void,
}

impl Verdict {
    /// Its word in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Penalty => "penalty",
            Verdict::NoPenalty => "no-penalty",
            Verdict::Small => "small",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Void => "void",
        }
    }
}

/// Why an experiment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// Its own rule: [`Standing::is_done`].
    Rule,
    /// The pairs, seconds or bytes that it was given are used up.
    Budget,
    /// Whoever started it wants no more.
    Interrupted,
}

/// An arm against the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The arm's place in the plan.
    pub arm: usize,
    /// The baseline's place in the plan.
    pub against: usize,
    /// The median of the pairs' ratios, with its interval: the headline.
    pub median: Interval,
    /// Their clipped mean, a second figure; `None` before its pilot ended.
    pub clipped: Option<Interval>,
}

/// What is known at the last look.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The pairs that count.
    pub pairs: u64,
    /// The pairs before those that were left out: warm-up.
    pub discarded: u64,
    /// Times of 0 ns that were taken as 1 ns.
    pub clamped: u64,
    /// Each other arm against the baseline, in the order of the plan.
    pub comparisons: Vec<Comparison>,
    /// What is certain: the verdict that stands when nothing more is measured. `None` while it is
    /// open; [`Verdict::Inconclusive`] is no certainty and never stands here.
    pub verdict: Option<Verdict>,
    /// Whether to stop: the verdict is certain, and precise enough or not worth more.
    pub is_done: bool,
}

/// What was known after so many pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The pairs that count.
    pub pairs: u64,
    /// The first shifted arm against the baseline.
    pub median: Interval,
}

/// What an experiment ended with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict as one sentence with its figures, or why there is none.
    pub reason: String,
}

/// What an interval says while more pairs may come: no penalty is asked first; small only where it
/// can become neither of the others.
pub(crate) fn certain(limits: &Limits, interval: &Interval) -> Option<Verdict> {
    if interval.is_within(limits.same_low, limits.same_high) {
        Some(Verdict::NoPenalty)
    } else if interval.low > limits.penalty_above {
        Some(Verdict::Penalty)
    } else if interval.high < limits.same_low
        || (interval.low > limits.same_high && interval.high <= limits.penalty_above)
    {
        Some(Verdict::Small)
    } else {
        None
    }
}

/// What an interval says when no more pairs come.
pub(crate) fn last(limits: &Limits, interval: &Interval) -> Verdict {
    match certain(limits, interval) {
        Some(verdict) => verdict,
        None if interval.contains(1.0) => Verdict::Inconclusive,
        None => Verdict::Small,
    }
}

/// The sentence for a verdict that is not void.
pub(crate) fn sentence(
    verdict: Verdict,
    (arm, baseline): (&str, &str),
    interval: &Interval,
    pairs: u64,
    stop: Stop,
) -> String {
    let Interval { ratio, low, high } = *interval;
    let counted = if pairs == 1 { "1 pair".to_owned() } else { format!("{pairs} pairs") };
    if low <= 0.0 || high.is_infinite() {
        return format!(
            "{counted} {} too few to bound the ratio of {arm} to {baseline}{}",
            if pairs == 1 { "is" } else { "are" },
            end(stop)
        );
    }
    let bounds = format!("{} to {}, {counted}", figure(low), figure(high));
    let figure = figure(ratio);
    match verdict {
        Verdict::Penalty => {
            format!("{arm} takes {figure} times as long as {baseline} ({bounds})")
        }
        Verdict::NoPenalty => {
            format!("{arm} takes as long as {baseline}: {figure} times ({bounds})")
        }
        Verdict::Small if high < 1.0 => {
            format!("{arm} is faster than {baseline}: it takes {figure} times as long ({bounds})")
        }
        Verdict::Small if high > Limits::default().penalty_above => format!(
            "{arm} takes longer than {baseline}, and how much is not settled: {figure} times \
             ({bounds}){}",
            end(stop)
        ),
        Verdict::Small => {
            format!("{arm} takes a little longer than {baseline}: {figure} times ({bounds})")
        }
        Verdict::Inconclusive | Verdict::Void => {
            format!(
                "{arm} may take as long as {baseline} or not: {figure} times ({bounds}){}",
                end(stop)
            )
        }
    }
}

/// What ended it, behind a sentence that says nothing certain.
fn end(stop: Stop) -> &'static str {
    match stop {
        Stop::Rule => "",
        Stop::Budget => "; the budget is used up",
        Stop::Interrupted => "; it was interrupted",
    }
}

/// A ratio in three digits behind the point near 1, and two elsewhere.
pub(crate) fn figure(ratio: f64) -> String {
    if (0.9..1.1).contains(&ratio) { format!("{ratio:.3}") } else { format!("{ratio:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(low: f64, high: f64, open: Option<Verdict>, end: Verdict) {
        let interval = Interval { ratio: f64::midpoint(low, high), low, high };
        assert_eq!(certain(&Limits::default(), &interval), open, "{low} to {high}");
        assert_eq!(last(&Limits::default(), &interval), end, "{low} to {high}");
    }

    #[test]
    fn each_place_of_the_interval_has_its_verdict() {
        check(1.11, 1.30, Some(Verdict::Penalty), Verdict::Penalty);
        check(1.10, 1.30, None, Verdict::Small);
        check(0.95, 1.05, Some(Verdict::NoPenalty), Verdict::NoPenalty);
        check(1.01, 1.04, Some(Verdict::NoPenalty), Verdict::NoPenalty);
        check(1.06, 1.10, Some(Verdict::Small), Verdict::Small);
        check(1.01, 1.09, None, Verdict::Small);
        check(0.80, 0.94, Some(Verdict::Small), Verdict::Small);
        check(0.90, 0.99, None, Verdict::Small);
        check(0.90, 1.20, None, Verdict::Inconclusive);
        check(0.0, f64::INFINITY, None, Verdict::Inconclusive);
    }

    #[test]
    fn a_sentence_carries_the_figures() {
        let interval = Interval { ratio: 3.0, low: 2.97, high: 3.03 };
        let said = sentence(Verdict::Penalty, ("shifted", "aligned"), &interval, 41, Stop::Rule);
        assert_eq!(said, "shifted takes 3.00 times as long as aligned (2.97 to 3.03, 41 pairs)");
        let nothing = ("shifted", "aligned");
        let said = sentence(Verdict::Inconclusive, nothing, &Interval::UNKNOWN, 3, Stop::Budget);
        assert!(said.ends_with("; the budget is used up"), "{said}");
    }
}
