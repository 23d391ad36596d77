//! Two programs measured in pairs, and the ratio of their times.
//!
//! A ratio is taken within a pair, whose two runs see the same state of the machine, and the median
//! of the ratios is what is said.

use std::fmt;
use std::time::Duration;

use units::random::Random;

use super::rounds::rounds;

/// The ratios of pairs of runs.
#[derive(Clone, Debug)]
pub(super) struct Ratios {
    /// In the order measured.
    all: Vec<f64>,
    spread: Spread,
    /// The median times of the first and the second program.
    pub(super) medians: [Duration; 2],
}

/// Runs `first` and `second` in `count` pairs; how often the second's time goes into the first's.
///
/// # Errors
/// When a run fails.
pub(super) fn pairs(
    count: u64,
    random: &mut Random,
    mut first: impl FnMut() -> anyhow::Result<Duration>,
    mut second: impl FnMut() -> anyhow::Result<Duration>,
) -> anyhow::Result<Ratios> {
    let times = rounds(count, random, |place| if place == 0 { first() } else { second() })?;
    Ok(Ratios::of(&times))
}

impl Ratios {
    /// Of the times of both programs, of which there are as many and some.
    fn of(times: &[Vec<Duration>; 2]) -> Ratios {
        let [first, second] =
            times.each_ref().map(|times| times.iter().map(Duration::as_secs_f64).collect());
        let seconds: [Vec<f64>; 2] = [first, second];
        let both = seconds[0].iter().zip(&seconds[1]);
        let all: Vec<f64> = both.map(|(first, second)| first / second.max(1e-9)).collect();
        let medians = seconds.map(|seconds| Duration::from_secs_f64(Spread::of(&seconds).median()));
        Ratios { spread: Spread::of(&all), all, medians }
    }

    /// Each ratio, in the order measured.
    pub(super) fn each(&self) -> String {
        let each: Vec<String> = self.all.iter().map(|ratio| format!("{ratio:.1}")).collect();
        each.join(" ")
    }

    /// The median of the ratios.
    pub(super) fn median(&self) -> f64 {
        self.spread.median()
    }
}

impl fmt::Display for Ratios {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, .., last] = self.spread.sorted.as_slice() else {
            return write!(formatter, "{:.2} times (one pair)", self.median());
        };
        let count = self.all.len();
        write!(
            formatter,
            "{:.2} times (median of {count} pairs; {first:.2} to {last:.2})",
            self.median()
        )
    }
}

/// The middle of some values, and how far they reach.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    sorted: Vec<f64>,
}

impl Spread {
    pub(super) fn of(values: &[f64]) -> Spread {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Spread { sorted }
    }

    pub(super) fn median(&self) -> f64 {
        median(&self.sorted)
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Numbers of some hundreds and more have digits enough.
        let digits = if self.median() >= 100.0 { 0 } else { 2 };
        let number = |value: f64| format!("{value:.digits$}");
        let (Some(least), Some(greatest)) = (self.sorted.first(), self.sorted.last()) else {
            return formatter.write_str("nothing");
        };
        write!(formatter, "{} ({} to {})", number(self.median()), number(*least), number(*greatest))
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
        let ratios = Ratios::of(&[[10, 20, 300], [1, 10, 100]].map(|all| all.map(ms).to_vec()));
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
    fn a_spread_says_the_median_and_both_ends() {
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]).to_string(), "2.00 (1.00 to 3.00)");
        assert_eq!(Spread::of(&[300.4, 100.0]).to_string(), "200 (100 to 300)");
    }
}
