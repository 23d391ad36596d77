//! The change from one value to another, its interval, and its words.

use measure::Interval;

use super::{CompareAnswer, ComparedRow, LIMIT, Measure, NO_INTERVAL, RunValue};
use crate::bench::figure_rounding::{UNKNOWN, number, ratio_text};

/// Rounding of a product that should be the limit is no difference.
const SLACK: f64 = 1.0 + 1e-9;
/// A change of which nothing is known.
pub(super) const NONE: Interval = Interval { ratio: f64::NAN, low: f64::NAN, high: f64::INFINITY };
/// The change in words of two files that hold one run.
pub(super) const SAME_RUN: &str = "none, the same run";
/// Words for the interval of a change whose ends are more than this many times apart.
pub(super) const TOO_WIDE: &str = "interval too wide";
const VAST: f64 = 100.0;
/// Changes up to this are said in percent, greater ones as a multiple.
const PERCENT_MAX: f64 = 2.0;

/// A value and the ends of its interval.
fn ends(measured: &RunValue) -> Interval {
    match measured {
        RunValue::Latency { value_ns, low_ns, high_ns } => {
            let [ratio, low, high] =
                [value_ns, low_ns, high_ns].map(|end| end.map_or(f64::NAN, |end| end as f64));
            Interval { ratio, low, high }
        }
        RunValue::Ratio { interval } => *interval,
        RunValue::Said { .. } => NONE,
    }
}

/// The later value as a multiple of the earlier one.
pub(super) fn change(before: &RunValue, after: &RunValue) -> Interval {
    let (before, after) = (ends(before), ends(after));
    let over = |after: f64, before: f64| {
        let times = after / before;
        let is_known = before > 0.0 && before.is_finite() && times.is_finite() && times > 0.0;
        is_known.then_some(times)
    };
    Interval {
        ratio: over(after.ratio, before.ratio).unwrap_or(NONE.ratio),
        low: over(after.low, before.high).unwrap_or(NONE.low),
        high: over(after.high, before.low).unwrap_or(NONE.high),
    }
}

/// Returns what an interval of a change says.
pub(super) fn answer(change: Interval) -> CompareAnswer {
    let [low, high] = change.ends();
    let (low, high) = (low.unwrap_or(0.0), high.unwrap_or(f64::INFINITY));
    let is_within = low * LIMIT * SLACK >= 1.0 && high <= LIMIT * SLACK;
    match (is_within, low > 1.0 || high < 1.0) {
        (true, _) => CompareAnswer::Same,
        (false, true) => CompareAnswer::Differs,
        (false, false) => CompareAnswer::CannotTell,
    }
}

/// Returns how far the end that is farther from "no change" lies from it: what a verdict names
/// first.
pub(super) fn reach(change: Option<Interval>) -> f64 {
    let Some(change) = change else { return 0.0 };
    let end = |end: Option<f64>| end.map_or(0.0, |end| end.ln().abs());
    match change.ends() {
        [None, None] => end(Some(change.ratio).filter(|ratio| ratio.is_finite())),
        [low, high] => end(low).max(end(high)),
    }
}

/// A direction of change: its word, and how a multiple of it is said.
#[derive(Clone, Copy)]
struct Side {
    word: &'static str,
    multiple: &'static str,
    /// Size of a change that way, as a factor of 1 and more, relative to the earlier value.
    factor: fn(f64) -> f64,
    /// True for a change that takes away, of which 100 % is all.
    is_less: bool,
}

/// The words for more and for less of a measure.
fn sides(measure: Measure) -> [Side; 2] {
    let (more, less, multiple) = match measure {
        Measure::Ratio => ("higher", "lower", "as high"),
        _ => ("longer", "shorter", "as long"),
    };
    // "50 % shorter" is half the earlier value, so percents agree with the ratio after / before.
    [
        Side { word: more, multiple, factor: |times| times, is_less: false },
        Side { word: less, multiple, factor: |times| 2.0 - times, is_less: true },
    ]
}

/// The change in words: `4 to 7 % longer`, `between 3 % shorter and 6 % longer`, `at least 20 %
/// longer`, `2.5 to 3.1 times as long`; empty without an interval.
pub(super) fn words(change: Interval, measure: Measure) -> String {
    let [more, less] = sides(measure);
    match change.ends() {
        [Some(low), Some(high)] if low >= 1.0 => more.range(low, high),
        [Some(low), Some(high)] if high <= 1.0 => less.range(high, low),
        [Some(low), Some(high)] => format!("between {} and {}", less.up(low), more.up(high)),
        [Some(low), None] if low > 1.0 => format!("at least {}", more.down(low)),
        [None, Some(high)] if high < 1.0 => format!("at least {}", less.down(high)),
        [Some(low), None] => format!("up to {} or any amount {}", less.up(low), more.word),
        [None, Some(high)] => format!("up to {} or any amount {}", more.up(high), less.word),
        [None, None] => String::new(),
    }
}

/// The later value as a multiple of the earlier one, with its interval: `1.05 (0.97 to 1.13)`;
/// [`UNKNOWN`] without a value.
pub(crate) fn multiple(row: &ComparedRow) -> String {
    match row.change {
        Some(_) if row.words == SAME_RUN => SAME_RUN.to_owned(),
        Some(change) if !change.ratio.is_finite() => UNKNOWN.to_owned(),
        Some(change) if change.ends() == [None, None] => {
            format!("{} ({NO_INTERVAL})", number(change.ratio))
        }
        Some(change) if is_vast(change) => format!("{} ({TOO_WIDE})", number(change.ratio)),
        Some(change) => ratio_text(change),
        None => UNKNOWN.to_owned(),
    }
}

/// Returns whether an interval holds "no change" and is so wide that its ends say nothing.
pub(super) fn is_vast(change: Interval) -> bool {
    change.contains(1.0) && change.high / change.low > VAST && change.high.is_finite()
}

/// The bound of a change that is no difference: `at most 6 % longer`.
pub(super) fn bound(change: Interval, measure: Measure) -> String {
    let [more, less] = sides(measure);
    let [low, high] = change.ends().map(|end| end.unwrap_or(1.0));
    match high >= low.recip() {
        true => format!("at most {}", more.up(high)),
        false => format!("at most {}", less.up(low)),
    }
}

impl Side {
    /// `4 to 7 % longer`, `2.5 to 3.1 times as long`.
    fn range(self, near: f64, far: f64) -> String {
        let (from, to) = ((self.factor)(near), (self.factor)(far));
        let is_multiple = to > PERCENT_MAX;
        let (from, to) = (self.rounded(from, is_multiple, down), self.rounded(to, is_multiple, up));
        match from == to {
            true => self.said(&from, is_multiple),
            false => self.said(&format!("{from} to {to}"), is_multiple),
        }
    }

    /// A change, rounded so that an upper bound stays one.
    fn up(self, times: f64) -> String {
        let times = (self.factor)(times);
        self.said(&self.rounded(times, times > PERCENT_MAX, up), times > PERCENT_MAX)
    }

    /// A change, rounded so that a lower bound stays one.
    fn down(self, times: f64) -> String {
        let times = (self.factor)(times);
        self.said(&self.rounded(times, times > PERCENT_MAX, down), times > PERCENT_MAX)
    }

    /// A factor in words. Less than all is never rounded to 100 %: `99.95`.
    fn rounded(self, factor: f64, is_multiple: bool, whole: fn(f64) -> f64) -> String {
        let percent = (factor - 1.0) * 100.0;
        if !self.is_less || percent <= 99.0 || percent >= 100.0 {
            return rounded(factor, is_multiple, whole);
        }
        let finer = [(10.0, 1), (100.0, 2), (1000.0, 3), (10_000.0, 4)];
        let shown =
            finer.into_iter().map(|(scale, places)| (whole(percent * scale) / scale, places));
        let mut near = shown.filter(|&(value, _)| value < 100.0);
        near.next()
            .map_or_else(|| "over 99.99".to_owned(), |(value, places)| format!("{value:.places$}"))
    }

    fn said(self, number: &str, is_multiple: bool) -> String {
        match is_multiple {
            true => format!("{number} times {}", self.multiple),
            false => format!("{number} % {}", self.word),
        }
    }
}

fn up(value: f64) -> f64 {
    (value - 1e-9).ceil()
}

fn down(value: f64) -> f64 {
    (value + 1e-9).floor()
}

/// A factor as a multiple, or what it adds in percent: `2.5`, `6`, `0.4`.
fn rounded(factor: f64, is_multiple: bool, whole: fn(f64) -> f64) -> String {
    let percent = (factor - 1.0) * 100.0;
    let tenths = |value: f64| whole(value * 10.0) / 10.0;
    match is_multiple {
        true if factor < 99.0 => format!("{:.1}", tenths(factor)),
        true => format!("{:.0}", whole(factor)),
        false if percent > 0.0 && percent < 0.9 => format!("{:.1}", tenths(percent)),
        // Adding 0 makes -0 a 0.
        false => format!("{:.0}", whole(percent).max(0.0) + 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(low: Option<f64>, high: Option<f64>) -> Interval {
        let [low, high] = [low, high].map(|end| end.unwrap_or(f64::NAN));
        Interval { low, high, ..NONE }
    }

    #[test]
    fn a_bound_is_rounded_away_from_no_change() {
        for (low, high, expected) in [
            (Some(1.042), Some(1.063), "4 to 7 % longer"),
            (Some(0.971), Some(1.056), "between 3 % shorter and 6 % longer"),
            (Some(0.5), Some(0.8), "20 to 50 % shorter"),
            (Some(2.51), Some(3.01), "2.5 to 3.1 times as long"),
            (Some(1.2), None, "at least 20 % longer"),
            (None, Some(0.5), "at least 50 % shorter"),
            (Some(0.9), None, "up to 10 % shorter or any amount longer"),
            (Some(0.25), Some(0.4), "60 to 75 % shorter"),
            (Some(0.004), Some(0.006), "99.4 to 99.6 % shorter"),
            (Some(0.0004), Some(0.5), "50 to 99.96 % shorter"),
            (None, Some(0.0004), "at least 99.9 % shorter"),
            (Some(0.9), Some(3.5), "between 10 % shorter and 3.5 times as long"),
            (Some(1.0), Some(1.004), "0 to 0.4 % longer"),
            (Some(1.0), Some(1.0), "0 % longer"),
            (None, None, ""),
        ] {
            assert_eq!(words(of(low, high), Measure::Median), expected);
        }
        assert_eq!(words(of(Some(0.25), Some(0.5)), Measure::Ratio), "50 to 75 % lower");
        assert_eq!(bound(of(Some(0.98), Some(1.056)), Measure::Median), "at most 6 % longer");
        assert_eq!(bound(of(Some(0.95), Some(1.01)), Measure::Ratio), "at most 5 % lower");
    }

    #[test]
    fn a_change_is_judged_by_its_interval_and_the_limit() {
        use CompareAnswer::{CannotTell, Differs, Same};
        for (low, high, expected) in [
            (Some(1.0), Some(1.0), Same),
            (Some(1.02), Some(1.10), Same),
            (Some(1.0 / 1.10), Some(1.10), Same),
            (Some(1.02), Some(1.11), Differs),
            (Some(0.8), Some(0.99), Differs),
            (Some(0.99), Some(1.11), CannotTell),
            (Some(1.5), None, Differs),
            (None, Some(0.5), Differs),
            (Some(0.99), None, CannotTell),
            (None, None, CannotTell),
        ] {
            assert_eq!(answer(of(low, high)), expected, "{low:?} {high:?}");
        }
    }

    #[test]
    fn the_interval_of_a_change_holds_every_pair_of_values() {
        let time = |[value, low, high]: [u64; 3]| RunValue::Latency {
            value_ns: Some(value),
            low_ns: Some(low),
            high_ns: Some(high),
        };
        let found = change(&time([100, 80, 125]), &time([200, 150, 240]));
        assert_eq!(found, Interval { ratio: 2.0, low: 1.2, high: 3.0 });
        let open = RunValue::Latency { value_ns: Some(1), low_ns: None, high_ns: None };
        assert_eq!(change(&open, &time([2, 1, 3])).ends(), [None, None]);
    }
}
