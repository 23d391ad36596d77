//! Two programs measured in pairs, and the ratio of their times.
//!
//! A ratio is taken within a pair, whose two runs see the same state of the machine, and the median
//! of the ratios is what is said. A coin decides which of the two runs first.

use std::fmt;
use std::time::Duration;

/// The ratios of pairs of runs.
#[derive(Clone, Debug)]
pub(super) struct Ratios {
    /// In the order measured.
    all: Vec<f64>,
    sorted: Vec<f64>,
    /// The median times of the first and the second program.
    pub(super) medians: [Duration; 2],
}

/// Runs `first` and `second` in `count` (at least 1) pairs, the order as `coin` says; how often the
/// second's time goes into the first's.
///
/// # Errors
/// When a run fails.
pub(super) fn pairs(
    count: usize,
    mut coin: impl FnMut() -> bool,
    mut first: impl FnMut() -> anyhow::Result<Duration>,
    mut second: impl FnMut() -> anyhow::Result<Duration>,
) -> anyhow::Result<Ratios> {
    let mut times = Vec::new();
    for _ in 0..count.max(1) {
        times.push(if coin() {
            let first = first()?;
            (first, second()?)
        } else {
            let second = second()?;
            (first()?, second)
        });
    }
    Ok(Ratios::of(&times))
}

impl Ratios {
    /// Of `times`, which is not empty.
    fn of(times: &[(Duration, Duration)]) -> Ratios {
        let all: Vec<f64> = times
            .iter()
            .map(|(first, second)| first.as_secs_f64() / second.as_secs_f64().max(1e-9))
            .collect();
        let mut sorted = all.clone();
        sorted.sort_by(f64::total_cmp);
        let seconds = |pick: fn(&(Duration, Duration)) -> Duration| {
            let mut seconds: Vec<f64> = times.iter().map(|pair| pick(pair).as_secs_f64()).collect();
            seconds.sort_by(f64::total_cmp);
            Duration::from_secs_f64(median(&seconds))
        };
        Ratios { all, sorted, medians: [seconds(|pair| pair.0), seconds(|pair| pair.1)] }
    }

    /// Each ratio, in the order measured.
    pub(super) fn each(&self) -> String {
        let each: Vec<String> = self.all.iter().map(|ratio| format!("{ratio:.1}")).collect();
        each.join(" ")
    }

    /// The median of the ratios.
    pub(super) fn median(&self) -> f64 {
        median(&self.sorted)
    }
}

impl fmt::Display for Ratios {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, .., last] = self.sorted.as_slice() else {
            return write!(formatter, "{:.2} times (one pair)", self.median());
        };
        let count = self.sorted.len();
        write!(
            formatter,
            "{:.2} times (median of {count} pairs; {first:.2} to {last:.2})",
            self.median()
        )
    }
}

/// The middle of `sorted`, or the mean of its two middle ones; 0 when it is empty.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let upper = sorted.len().div_euclid(2);
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[upper],
        _ => f64::midpoint(sorted[upper - 1], sorted[upper]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_the_median_over_pairs_not_the_ratio_of_medians() {
        let ms = Duration::from_millis;
        let ratios = Ratios::of(&[(ms(10), ms(1)), (ms(20), ms(10)), (ms(300), ms(100))]);
        assert!((ratios.median() - 3.0).abs() < 1e-9);
        assert_eq!(ratios.medians, [ms(20), ms(10)]);
        assert_eq!(ratios.to_string(), "3.00 times (median of 3 pairs; 2.00 to 10.00)");
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        assert!((median(&[1.0, 2.0, 4.0, 9.0]) - 3.0).abs() < 1e-9);
        assert!(median(&[]).abs() < 1e-9);
    }

    #[test]
    fn the_coin_decides_which_runs_first_and_never_which_is_which() {
        use std::cell::RefCell;
        let order = RefCell::new(String::new());
        let mut coins = [true, false, true].into_iter();
        let run = |letter, ms| {
            order.borrow_mut().push(letter);
            Ok(Duration::from_millis(ms))
        };
        let ratios = pairs(3, || coins.next().unwrap(), || run('a', 8), || run('b', 2)).unwrap();
        assert_eq!(*order.borrow(), "abbaab");
        assert!((ratios.median() - 4.0).abs() < 1e-9);
    }
}
