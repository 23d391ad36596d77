//! Verdicts of an experiment, and what is known on the way.

use serde::{Deserialize, Serialize};

use crate::VerdictLimits;
use crate::statistics::Interval;

/// Verdict of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CostVerdict {
    /// The interval is wholly above the limit.
    Penalty,
    /// The interval holds 1 and ends at or below the limit, or is wholly within the band around 1.
    NoPenalty,
    /// The interval excludes 1, and ends at or below the limit.
    Small,
    /// The budget ended while the interval reached across the limit.
    #[default]
    Inconclusive,
    /// Something was wrong with the measurement, so nothing is said.
    Void,
}

units::words!(CostVerdict);

/// Why an experiment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// Its own rule: [`LastLook::is_done`].
    Rule,
    /// The pairs, seconds or bytes that it was given are used up.
    Budget,
    /// Whoever started it wants no more.
    Interrupted,
}

/// An arm against the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmVerdict {
    /// The arm's place in the plan.
    pub arm: usize,
    /// The baseline's place in the plan.
    pub against: usize,
    /// The median of the pairs' ratios, with its interval: the headline.
    pub median: Interval,
    /// Their clipped mean, a second figure; `None` before its pilot ended.
    pub clipped: Option<Interval>,
}

/// Knowledge at the last look.
#[derive(Clone, Debug, PartialEq)]
pub struct LastLook {
    /// The pairs that count.
    pub pairs: u64,
    /// The pairs before those that were left out: warm-up.
    pub discarded: u64,
    /// Times of 0 ns that were taken as 1 ns.
    pub clamped: u64,
    /// Each other arm against the baseline, in the order of the plan.
    pub comparisons: Vec<ArmVerdict>,
    /// The certain verdict, which stands when nothing more is measured. `None` while it is
    /// open; [`CostVerdict::Inconclusive`] is no certainty and never stands here.
    pub verdict: Option<CostVerdict>,
    /// True if to stop: the verdict is certain, and precise enough or not worth more.
    pub is_done: bool,
}

/// Knowledge after so many pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairStep {
    /// The pairs that count.
    pub pairs: u64,
    /// The median of their ratios, of the first shifted arm to the baseline.
    #[serde(flatten)]
    pub median: Interval,
}

/// End of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// The verdict.
    pub verdict: CostVerdict,
    /// The verdict as one sentence with its figures, or why there is none.
    pub reason: String,
}

/// Returns what an interval says while more pairs may come: no penalty is asked first; small only
/// where it can become neither of the others.
pub(crate) fn certain(limits: &VerdictLimits, interval: &Interval) -> Option<CostVerdict> {
    if interval.is_within(limits.same_low, limits.same_high) {
        Some(CostVerdict::NoPenalty)
    } else if interval.low > limits.penalty_above {
        Some(CostVerdict::Penalty)
    } else if interval.high < limits.same_low
        || (interval.low > limits.same_high && interval.high <= limits.penalty_above)
    {
        Some(CostVerdict::Small)
    } else {
        None
    }
}

/// Returns what an interval says when no more pairs come.
pub(crate) fn last(limits: &VerdictLimits, interval: &Interval) -> CostVerdict {
    match certain(limits, interval) {
        Some(verdict) => verdict,
        None if interval.high > limits.penalty_above => CostVerdict::Inconclusive,
        None if interval.contains(1.0) => CostVerdict::NoPenalty,
        None => CostVerdict::Small,
    }
}

/// The factor by which more pairs are likely to take an interval off the limit, when its width
/// falls with the root of their number: 2 to 100, and 4 where nothing is known of it.
pub(crate) fn more(limits: &VerdictLimits, interval: &Interval) -> f64 {
    let apart = (interval.ratio / limits.penalty_above).ln().abs();
    let half = (interval.high / interval.low).ln() / 2.0;
    let times = (half / apart).powi(2);
    if half.is_finite() { times.clamp(2.0, 100.0) } else { 4.0 }
}

/// That a ratio is of the two operations of a pair: it need not be that of both medians.
const PAIRED: &str = "pair by pair";

/// The sentence for a verdict that is not void.
pub(crate) fn sentence(
    verdict: CostVerdict,
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
    let figures = format!("{}, {} to {}, {counted}", figure(ratio), figure(low), figure(high));
    match verdict {
        CostVerdict::Penalty => {
            format!("{arm} takes {} times as long as {baseline} ({figures})", figure(ratio))
        }
        CostVerdict::NoPenalty if high > 1.0 => {
            format!(
                "{PAIRED}, {arm} is at most {} than {baseline} ({figures})",
                slower(high, f64::ceil)
            )
        }
        CostVerdict::NoPenalty | CostVerdict::Small => {
            format!("{PAIRED}, {arm} is {} than {baseline} ({figures})", between(low, high))
        }
        CostVerdict::Inconclusive | CostVerdict::Void => {
            let between = between(low, high);
            format!("{PAIRED}, {arm} is {between} than {baseline} ({figures}){}", end(stop))
        }
    }
}

/// `between 3 % faster and 6 % slower`, rounded away from each other; an end that [`figure`] shows
/// as 1 is no bound to name.
fn between(low: f64, high: f64) -> String {
    let is_one = |end: f64| figure(end) == figure(1.0);
    match (low < 1.0, high > 1.0) {
        (true, true) if is_one(low) => format!("at most {}", slower(high, f64::ceil)),
        (true, true) if is_one(high) => format!("at most {}", faster(low, f64::ceil)),
        (true, true) => {
            format!("between {} and {}", faster(low, f64::ceil), slower(high, f64::ceil))
        }
        (false, _) => {
            format!("between {} % and {}", percent(low - 1.0, f64::floor), slower(high, f64::ceil))
        }
        (true, false) => {
            format!("between {} % and {}", percent(1.0 - high, f64::floor), faster(low, f64::ceil))
        }
    }
}

fn slower(ratio: f64, rounded: fn(f64) -> f64) -> String {
    format!("{} % slower", percent(ratio - 1.0, rounded))
}

fn faster(ratio: f64, rounded: fn(f64) -> f64) -> String {
    format!("{} % faster", percent(1.0 - ratio, rounded))
}

/// A share in percent, `rounded`: below 1 % to a tenth.
fn percent(share: f64, rounded: fn(f64) -> f64) -> String {
    /// Error of arithmetic in a whole number.
    const NOISE: f64 = 1e-9;
    let percent = share * 100.0;
    let sign = if rounded(0.5) > 0.5 { -NOISE } else { NOISE };
    match percent < 0.95 {
        true => format!("{:.1}", rounded(percent * 10.0 + sign).max(0.0) / 10.0),
        false => format!("{:.0}", rounded(percent + sign)),
    }
}

/// Returns what ended it, after a sentence that says nothing certain.
fn end(stop: Stop) -> &'static str {
    match stop {
        Stop::Rule => "",
        Stop::Budget => "; stopped at the limit of the run",
        Stop::Interrupted => "; it was interrupted",
    }
}

/// A ratio in three digits after the point near 1, and two elsewhere.
pub(crate) fn figure(ratio: f64) -> String {
    if (0.9..1.1).contains(&ratio) { format!("{ratio:.3}") } else { format!("{ratio:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(low: f64, high: f64, open: Option<CostVerdict>, end: CostVerdict) {
        let interval = Interval { ratio: f64::midpoint(low, high), low, high };
        assert_eq!(certain(&VerdictLimits::default(), &interval), open, "{low} to {high}");
        assert_eq!(last(&VerdictLimits::default(), &interval), end, "{low} to {high}");
    }

    #[test]
    fn an_interval_across_the_limit_needs_the_more_pairs_the_wider_and_nearer_it_is() {
        let times =
            |ratio, low, high| more(&VerdictLimits::default(), &Interval { ratio, low, high });
        assert!((times(1.0, 0.8, 1.25) - 5.48).abs() < 0.01);
        assert!(times(1.0, 0.7, 1.4) > times(1.0, 0.8, 1.25));
        assert_eq!((times(1.10, 1.0, 1.2), times(1.0, 0.95, 1.11)), (100.0, 2.0));
        assert_eq!(times(1.0, 0.0, f64::INFINITY), 4.0);
    }

    #[test]
    fn each_place_of_the_interval_has_its_verdict() {
        check(1.11, 1.30, Some(CostVerdict::Penalty), CostVerdict::Penalty);
        check(1.10, 1.30, None, CostVerdict::Inconclusive);
        check(1.06, 3.16, None, CostVerdict::Inconclusive);
        check(0.973, 1.056, None, CostVerdict::NoPenalty);
        check(0.40, 1.10, None, CostVerdict::NoPenalty);
        check(0.95, 1.05, Some(CostVerdict::NoPenalty), CostVerdict::NoPenalty);
        check(1.01, 1.04, Some(CostVerdict::NoPenalty), CostVerdict::NoPenalty);
        check(1.06, 1.10, Some(CostVerdict::Small), CostVerdict::Small);
        check(1.01, 1.09, None, CostVerdict::Small);
        check(0.80, 0.94, Some(CostVerdict::Small), CostVerdict::Small);
        check(0.90, 0.99, None, CostVerdict::Small);
        check(0.90, 1.20, None, CostVerdict::Inconclusive);
        check(0.0, f64::INFINITY, None, CostVerdict::Inconclusive);
    }

    #[test]
    fn a_sentence_says_the_bounds_first() {
        let said = |ratio, low, high, stop| {
            let interval = Interval { ratio, low, high };
            let verdict = last(&VerdictLimits::default(), &interval);
            sentence(verdict, ("shifted", "aligned"), &interval, 41, stop)
        };
        for ([ratio, low, high], text) in [
            ([1.01, 0.973, 1.056], "is at most 6 % slower than aligned (1.010, 0.973 to 1.056,"),
            ([1.004, 0.998, 1.004], "is at most 0.4 % slower than aligned (1.004, 0.998 to"),
            ([1.0, 0.95, 1.05], "is at most 5 % slower than aligned (1.000, 0.950 to 1.050,"),
            ([0.98, 0.96, 0.99], "is between 1 % and 4 % faster than aligned (0.980, 0.960 to"),
            ([1.07, 1.06, 1.09], "is between 6 % and 9 % slower than aligned (1.070, 1.060 to"),
            ([1.0, 0.97, 1.16], "is between 3 % faster and 16 % slower than aligned (1.000,"),
            ([1.4, 1.06, 3.16], "is between 6 % and 216 % slower than aligned (1.40, 1.060 to"),
            ([1.08, 0.999_999, 1.18], "is at most 18 % slower than aligned (1.080, 1.000 to"),
        ] {
            let said = said(ratio, low, high, Stop::Rule);
            let wanted = format!("pair by pair, shifted {text}");
            assert_eq!(said.get(..wanted.len()), Some(&*wanted), "{said}");
            assert!(said.ends_with(", 41 pairs)"), "{said}");
        }
        let penalty = said(3.0, 2.97, 3.03, Stop::Rule);
        let wanted = "shifted takes 3.00 times as long as aligned (3.00, 2.97 to 3.03, 41 pairs)";
        assert_eq!(penalty, wanted);
        assert!(said(1.0, 0.9, 1.2, Stop::Budget).ends_with("; stopped at the limit of the run"));
        assert!(said(1.0, 0.0, f64::INFINITY, Stop::Budget).contains("too few to bound"));
    }
}
