//! The least, the middle and the greatest of some values.

use crate::bench::ratio;

/// The least, the middle and the greatest of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) least: f64,
    pub(super) median: f64,
    pub(super) greatest: f64,
}

impl Spread {
    /// Of `values`; `None` when there are none.
    pub(super) fn of(mut values: Vec<f64>) -> Option<Spread> {
        values.sort_by(f64::total_cmp);
        let (least, greatest) = (*values.first()?, *values.last()?);
        Some(Spread { least, median: ratio::median(&values), greatest })
    }

    /// As text: `0.98, 1.00, 1.04`, with so many `digits` behind the point.
    pub(super) fn text(&self, digits: usize) -> String {
        let Spread { least, median, greatest } = self;
        format!("{least:.digits$}, {median:.digits$}, {greatest:.digits$}")
    }
}

/// [`Spread::text`] of `values`; a dash when there are none.
pub(super) fn text(values: Vec<f64>, digits: usize) -> String {
    Spread::of(values).map_or("-".to_owned(), |spread| spread.text(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_the_least_the_middle_and_the_greatest() {
        assert_eq!(text(vec![3.0, 1.0, 2.25], 2), "1.00, 2.25, 3.00");
        assert_eq!(text(Vec::new(), 2), "-");
    }
}
