//! Logarithmic axes: each step is so many times the one before. A time of twice as long is as far
//! away everywhere, and so is a ratio.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

/// An axis as it is drawn: its ends, and the places that are named on it.
pub(super) struct Axis {
    pub(super) ends: Range<f64>,
    pub(super) ticks: Vec<f64>,
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    #[expect(clippy::cast_possible_truncation, reason = "clamped to the pixels of a chart")]
    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let share = (value - self.ends.start) / (self.ends.end - self.ends.start);
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        first + (f64::from(last - first) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.ends.clone()
    }
}

/// The most values named on an axis.
const TICKS_MAX: usize = 5;
/// The least and the greatest value that is told apart.
const LEAST: f64 = 1e-6;
const GREATEST: f64 = 1e20;

/// A part of a logarithmic axis: finite, positive, wider than nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::html) struct Span {
    low: f64,
    high: f64,
}

impl Span {
    /// The least span that holds `values`, at least `factor` wide; `None` where none of them is a
    /// positive number.
    pub(in crate::html) fn of(values: impl Iterator<Item = f64>, factor: f64) -> Option<Span> {
        let usable = values.filter(|value| value.is_finite() && *value > 0.0);
        let ends = usable.map(|value| value.clamp(LEAST, GREATEST)).fold(None, |ends, value| {
            let (low, high): (f64, f64) = ends.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (low, high) = ends?;
        let missing = (factor / (high / low)).max(1.0).sqrt();
        Some(Span { low: low / missing, high: high * missing })
    }

    /// The span with some room at its ends.
    pub(super) fn roomy(self) -> Span {
        let room = (self.high / self.low).powf(0.05);
        Span { low: self.low / room, high: self.high * room }
    }

    /// Returns where `value` is drawn: inside, whatever it is.
    pub(super) fn at(self, value: f64) -> f64 {
        match value.is_nan() {
            true => self.low.ln(),
            false => value.clamp(self.low, self.high).ln(),
        }
    }

    /// The axis of this span.
    pub(super) fn axis(self) -> Axis {
        self.axis_of(TICKS_MAX)
    }

    /// The axis of this span with at most `most` values named.
    pub(super) fn axis_of(self, most: usize) -> Axis {
        let ticks = self.ticks(most);
        let stride = ticks.len().div_ceil(most).max(1);
        Axis { ends: self.ends(), ticks: ticks.into_iter().step_by(stride).collect() }
    }

    /// The ends of the axis, as they are drawn.
    pub(super) fn ends(self) -> Range<f64> {
        self.low.ln()..self.high.ln()
    }

    /// Returns where the values that are named stand.
    fn ticks(self, most: usize) -> Vec<f64> {
        let is_narrow = self.high / self.low < 6.0;
        let round = if is_narrow { even(self.low, self.high) } else { self.decades(most) };
        round.into_iter().map(f64::ln).collect()
    }

    /// 1, 2 and 5 of each power of ten, or powers of ten alone, or some of these.
    fn decades(self, most: usize) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
        for (factors, stride) in [
            (&[1.0, 2.0, 5.0][..], 1.0),
            (&[1.0, 3.0], 1.0),
            (&[1.0], 1.0),
            (&[1.0], 2.0),
            (&[1.0], 3.0),
            (&[1.0], 6.0),
            (&[1.0], 12.0),
        ] {
            let mut values = Vec::new();
            let mut power = first;
            while power <= last {
                values.extend(factors.iter().map(|factor| factor * 10_f64.powf(power)));
                power += stride;
            }
            values.retain(|value| (self.low..=self.high).contains(value));
            if values.len() <= most {
                return values;
            }
        }
        Vec::new()
    }
}

/// Round values at one distance, five at most.
pub(super) fn even(low: f64, high: f64) -> Vec<f64> {
    let width = high - low;
    let decade = 10_f64.powf((width / 4.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade);
    let step = step.into_iter().find(|step| width / step <= 4.0).unwrap_or(width);
    let first = (low / step).ceil() * step;
    let values = [0.0, 1.0, 2.0, 3.0, 4.0].map(|number| first + number * step);
    values.into_iter().filter(|value| (low..=high).contains(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: &[f64]) -> Vec<f64> {
        let span = Span::of(values.iter().copied(), 1.2).unwrap();
        let shown = |value: f64| (value.exp() * 1000.0).round() / 1000.0;
        span.axis().ticks.into_iter().map(shown).collect()
    }

    #[test]
    fn an_axis_names_a_few_round_values() {
        assert_eq!(ticks(&[1.0, 10.0]), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ticks(&[8.35, 33.4]), [10.0, 20.0, 30.0]);
        assert_eq!(ticks(&[0.9, 1.3]), [0.9, 1.0, 1.1, 1.2, 1.3]);
        assert_eq!(ticks(&[1.0, 1e9]), [1.0, 1e2, 1e4, 1e6, 1e8]);
        let few = |high| Span::of([1.0, high].into_iter(), 1.2).unwrap().axis_of(3).ticks.len();
        assert_eq!([few(2.0), few(10.0), few(1e4)], [3, 3, 3]);
    }

    #[test]
    fn values_that_are_no_numbers_have_no_axis_and_stay_on_one() {
        assert_eq!(Span::of([f64::NAN, f64::INFINITY, 0.0, -1.0].into_iter(), 2.0), None);
        let span = Span::of([1.0, 2.0].into_iter(), 1.2).unwrap();
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0] {
            assert!((0.0..=2_f64.ln()).contains(&span.at(value)), "{value}");
        }
        for values in [[1e300, f64::MIN_POSITIVE], [1.0, 1.0], [1e19, 1e19]] {
            let span = Span::of(values.into_iter(), 1.2).unwrap().roomy();
            assert!(span.ends().start.is_finite() && span.ends().start < span.ends().end);
            assert!(span.axis().ticks.len() <= TICKS_MAX + 1, "{values:?}");
        }
    }
}
