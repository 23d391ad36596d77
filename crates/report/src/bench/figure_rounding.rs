//! Figures as people read them: three digits and a unit, and never a digit that lies.

use measure::{Interval, Tail};

use crate::quantity_words::ViewWords;

/// Mark for a figure that is not known.
pub(crate) const UNKNOWN: &str = "-";

/// Nanoseconds of each unit of time, the least first.
const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// A time to three digits: `835 ns`, `8.35 ms`, `25.0 ms`, `3600 s`.
pub(crate) fn time(nanoseconds: u64, words: ViewWords<'_>) -> String {
    if nanoseconds < MICRO {
        return format!("{nanoseconds} ns");
    }
    let micro = format!("{}s", words.glyphs().micro);
    for (unit, name) in [(MICRO, micro.as_str()), (MILLI, "ms")] {
        // What rounds to 1000 of one unit is 1.00 of the next.
        if let Some(digits) = three(nanoseconds, unit) {
            return format!("{digits} {name}");
        }
    }
    let seconds = three(nanoseconds, SECOND).unwrap_or_else(|| rounded(nanoseconds, SECOND, 1));
    format!("{seconds} s")
}

/// A time that was chosen and not measured: without digits after the point that say nothing.
pub(crate) fn chosen_time(nanoseconds: u64, words: ViewWords<'_>) -> String {
    let text = time(nanoseconds, words);
    match text.split_once(' ') {
        Some((digits, unit)) if digits.contains('.') => {
            format!("{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// `value` in `unit` with three digits; `None` from 999.5 on.
fn three(value: u64, unit: u64) -> Option<String> {
    for (places, factor) in [(2, 100), (1, 10), (0, 1)] {
        let scaled = scaled(value, unit, factor);
        if scaled < 1000 {
            let (whole, part) = (scaled.div_euclid(factor), scaled.rem_euclid(factor));
            let point = if places == 0 { String::new() } else { format!(".{part:0places$}") };
            return Some(format!("{whole}{point}"));
        }
    }
    None
}

fn rounded(value: u64, unit: u64, factor: u128) -> String {
    scaled(value, unit, factor).to_string()
}

fn scaled(value: u64, unit: u64, factor: u128) -> u128 {
    (u128::from(value) * factor + u128::from(unit).div_euclid(2)).div_euclid(u128::from(unit))
}

/// A positive number to three digits: `39.9`, `1200`; [`UNKNOWN`] for what is no number.
pub(crate) fn number(value: f64) -> String {
    match value {
        _ if !value.is_finite() => UNKNOWN.to_owned(),
        0.0 => "0".to_owned(),
        _ if !(0.01..1e9).contains(&value) => format!("{value:.2e}"),
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A number of turns of the platter: `1`, `3`, `2.5`.
pub(crate) fn turns(value: f64) -> String {
    if !(0.05..1e9).contains(&value) {
        return number(value);
    }
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A ratio: `3.00`, with as many places as each end of the interval needs to stay on
/// its side of 1.
pub(crate) fn ratio_figure(interval: Interval) -> String {
    factor(interval.ratio, places(interval))
}

/// A ratio with its interval: `3.00 (2.97 to 3.03)`.
pub(crate) fn ratio_text(interval: Interval) -> String {
    format!("{} ({})", ratio_figure(interval), ratio_bounds(interval))
}

/// Its interval: `2.97 to 3.03`, `over 1.20`, or `not known yet`.
pub(crate) fn ratio_bounds(interval: Interval) -> String {
    let Interval { low, high, .. } = interval;
    let places = places(interval);
    match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{} to {}", factor(low, places), factor(high, places)),
        (false, true) => format!("under {}", factor(high, places)),
        (true, false) if low > 0.0 => format!("over {}", factor(low, places)),
        (_, false) => "not known yet".to_owned(),
    }
}

/// The interval of a latency, with what is not known of it: `3.0 ms to 6.0 ms`.
pub(crate) fn time_bounds(tail: &Tail, words: ViewWords<'_>) -> String {
    match [tail.low_ns, tail.high_ns].map(|end| end.map(|end| time(end, words))) {
        [Some(low), Some(high)] => format!("{low} to {high}"),
        [Some(low), None] => format!("at least {low}, upper limit not known yet"),
        [None, Some(high)] => format!("at most {high}, lower limit not known yet"),
        [None, None] => "interval not known".to_owned(),
    }
}

/// Returns whether 1 is inside; `None` while an end is missing.
pub(crate) fn holds_one(interval: Interval) -> Option<bool> {
    let is_whole = interval.low.is_finite() && interval.high.is_finite();
    is_whole.then_some(interval.contains(1.0))
}

/// The decimal places: two, or as many more (up to four) as keep an end that is not 1 from being
/// printed as 1; two where four would not.
fn places(interval: Interval) -> usize {
    let hides = |places: usize| {
        let one = factor(1.0, places);
        [interval.low, interval.high].iter().any(|&end| end != 1.0 && factor(end, places) == one)
    };
    (2..=4).find(|&places| !hides(places)).unwrap_or(2)
}

fn factor(value: f64, places: usize) -> String {
    match value {
        _ if !value.is_finite() => UNKNOWN.to_owned(),
        0.0 => "0".to_owned(),
        _ if !(0.01..1e6).contains(&value) => format!("{value:.2e}"),
        _ if value < 9.995 => format!("{value:.places$}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// `95 % interval`: how sure an interval is that misses the truth with probability `alpha`, never
/// rounded up; without a figure where `alpha` is no probability.
pub(crate) fn interval_title(alpha: f64) -> String {
    confidence(alpha).map_or("interval".to_owned(), |percent| format!("{percent} % interval"))
}

pub(super) fn confidence(alpha: f64) -> Option<String> {
    if !(alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    // A hair is added so that 0.05, which no binary number is, gives 95.
    let hundredths = ((1.0 - alpha) * 10_000.0 + 1e-6).floor().min(9_999.0);
    let text = format!("{:.2}", hundredths / 100.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_options::Look;

    #[test]
    fn times_have_three_digits_and_the_unit_that_fits() {
        let look = Look::default();
        for (nanoseconds, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (9_994, "9.99 µs"),
            (9_996, "10.0 µs"),
            (99_960, "100 µs"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (8_350_000, "8.35 ms"),
            (25_000_000, "25.0 ms"),
            (999_600_000, "1.00 s"),
            (1_420_000_000, "1.42 s"),
            (3_600_400_000_000, "3600 s"),
            (u64::MAX, "18446744074 s"),
        ] {
            assert_eq!(time(nanoseconds, ViewWords { look: &look }), text);
        }
        let ascii = Look { ascii: true, ..look };
        assert_eq!(time(1_500, ViewWords { look: &ascii }), "1.50 us");
    }

    #[test]
    fn numbers_that_are_none_are_unknown() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(number(value), "-");
            assert_eq!(turns(value), "-");
            assert_eq!(factor(value, 2), "-");
        }
        assert_eq!([39.94, 119.76, 0.004, 2e12].map(number), ["39.9", "120", "4.00e-3", "2.00e12"]);
        assert_eq!([1.0, 2.96, 2.5, 0.01].map(turns), ["1", "3", "2.5", "0.01"]);
    }

    #[test]
    fn rounding_never_puts_an_end_of_an_interval_on_one() {
        let shown = |low, high| ratio_bounds(Interval { ratio: 1.0, low, high });
        assert_eq!(shown(2.97, 3.03), "2.97 to 3.03");
        assert_eq!(shown(1.003, 1.2), "1.003 to 1.200");
        assert_eq!(shown(0.9996, 1.01), "0.9996 to 1.0100");
        assert_eq!(shown(1.0, 1.01), "1.00 to 1.01");
        assert_eq!(shown(0.999_999, 1.1767), "1.00 to 1.18");
        assert_eq!(shown(0.0, 1e9), "0 to 1.00e9");
        let open = |low| ratio_bounds(Interval { ratio: 1.0, low, high: f64::INFINITY });
        assert_eq!((open(0.0).as_str(), open(1.2).as_str()), ("not known yet", "over 1.20"));
        assert_eq!(open(f64::NAN), "not known yet");
    }

    #[test]
    fn confidence_is_never_rounded_up() {
        assert_eq!(interval_title(0.05), "95 % interval");
        assert_eq!(interval_title(0.05 / 18.0), "99.72 % interval");
        assert_eq!(interval_title(0.1), "90 % interval");
        assert_eq!(interval_title(1e-9), "99.99 % interval");
        assert_eq!(interval_title(1e-20), "99.99 % interval");
        for alpha in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(interval_title(alpha), "interval");
        }
    }
}
