//! The point at which a sustained run becomes slower for good: the end of a drive's write buffer.
//!
//! The run is cut into [`WINDOWS`] windows of equal length, each with the mean of ln(time), which a
//! few stumbles do not move. A knee is a window after which all is slower: of all places, the one
//! at which the windows before and after differ most by rank (Pettitt, "A non-parametric approach
//! to the change-point problem", 1979). It is believed only where
//!
//! - the windows after it take at least [`TIMES_LEAST`] as long as those before, in the median;
//! - they stay so: at least [`STAYS_LEAST`] of either side lie on their side of the middle, so that
//!   a drive that changes its pace to and fro has no knee;
//! - a step explains the windows better than a slope does, so that a slow drift is none;
//! - orders of the windows that are drawn at random, `BLOCK` neighbors kept together, show so
//!   strong a difference in at most [`AS_STRONG_MOST`] of [`DRAWS`] draws (1 %). Neighbors are
//!   kept together since they are alike (Politis and Romano, "A circular block-resampling procedure
//!   for stationary data", 1992).
//!
//! The limits are ours.

use units::random::Random;

use units::number::{count, real};

/// The windows.
pub const WINDOWS: usize = 64;
/// The least number of points: two in each window.
pub const POINTS_LEAST: usize = 2 * WINDOWS;
/// The windows before a knee, and after it, at least.
const SIDE_LEAST: usize = 5;
/// Least ratio of the times after and before.
pub const TIMES_LEAST: f64 = 1.5;
/// The share of either side that lies on its side of the middle.
pub const STAYS_LEAST: f64 = 0.8;
/// The windows that are kept together.
const BLOCK: usize = 4;
/// The orders that are drawn.
pub const DRAWS: u32 = 999;
/// Most of them that may be as strong.
pub const AS_STRONG_MOST: u32 = 9;

/// A stretch of a sustained run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The bytes written in all when it ended.
    pub at_bytes: u64,
    /// The time that one operation took in it, in nanoseconds; for a rate, its inverse.
    pub ns: u64,
}

/// Place where a run becomes slower for good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// The bytes written by then.
    pub at_bytes: u64,
    /// The least that it may be: a window before.
    pub low_bytes: u64,
    /// The most that it may be: a window later.
    pub high_bytes: u64,
    /// The mean time of a stretch before it, in nanoseconds.
    pub before_ns: f64,
    /// The mean time of a stretch after it, in nanoseconds.
    pub after_ns: f64,
    /// Number of the [`DRAWS`] random orders that show as strong a difference.
    pub as_strong: u32,
}

/// Why there is no knee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoKnee {
    /// Fewer than [`POINTS_LEAST`] stretches.
    TooShort,
    /// No place is much slower after than before.
    Flat,
    /// It becomes slower and faster again.
    Unsteady,
    /// It becomes slower little by little.
    Drift,
    /// A random order shows as much.
    Chance,
}

impl NoKnee {
    /// Why, as a sentence for people.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            NoKnee::TooShort => "the run is too short to tell where a write buffer ends",
            NoKnee::Flat => "the pace stayed the same: no end of a write buffer was reached",
            NoKnee::Unsteady => "the pace went up and down: no end of a write buffer is visible",
            NoKnee::Drift => "the pace fell little by little: no end of a write buffer is visible",
            NoKnee::Chance => {
                "no change of pace beyond chance: no end of a write buffer is visible"
            }
        }
    }
}

/// The knee of `run`, whose stretches are in order. `seed` decides the random orders.
///
/// # Errors
/// With the reason, when there is none.
pub fn knee(run: &[Stretch], seed: u64) -> Result<Knee, NoKnee> {
    let length = run.len() / WINDOWS;
    if run.len() < POINTS_LEAST {
        return Err(NoKnee::TooShort);
    }
    // What does not fill a window is left out at the beginning.
    let run = &run[run.len() - length * WINDOWS..];
    let mean = |window: &[Stretch]| {
        let sum: f64 = window.iter().map(|stretch| real(stretch.ns.max(1)).ln()).sum();
        sum / count(window.len())
    };
    let windows: Vec<f64> = run.chunks_exact(length).map(mean).collect();
    let (split, strength) = strongest(&ranks(&windows));
    let (before, after) = windows.split_at(split);
    let (slow, fast) = (median(after), median(before));
    if slow - fast < TIMES_LEAST.ln() {
        return Err(NoKnee::Flat);
    }
    let middle = f64::midpoint(slow, fast);
    let share = |side: &[f64], is_own: &dyn Fn(f64) -> bool| {
        count(side.iter().filter(|value| is_own(**value)).count()) / count(side.len())
    };
    let stays = share(before, &|value| value < middle).min(share(after, &|value| value > middle));
    if stays < STAYS_LEAST {
        return Err(NoKnee::Unsteady);
    }
    if slope_error(&windows) <= step_error(before) + step_error(after) {
        return Err(NoKnee::Drift);
    }
    let as_strong = as_strong(&windows, strength, seed);
    if as_strong > AS_STRONG_MOST {
        return Err(NoKnee::Chance);
    }
    let at = |place: usize| run[place.clamp(1, run.len()) - 1].at_bytes;
    let place = sharpest(run, split, length);
    Ok(Knee {
        at_bytes: at(place),
        low_bytes: at((split - 1) * length),
        high_bytes: at((split + 1) * length),
        before_ns: mean_ns(&run[..place]),
        after_ns: mean_ns(&run[place..]),
        as_strong,
    })
}

fn mean_ns(side: &[Stretch]) -> f64 {
    side.iter().map(|stretch| real(stretch.ns)).sum::<f64>() / count(side.len().max(1))
}

/// The place of each value among all, from 1; equal values share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: &f64, is_below: fn(&f64, &f64) -> bool| {
        count(values.iter().filter(|other| is_below(other, value)).count())
    };
    let rank = |value: &f64| {
        f64::midpoint(
            below(value, |other, own| other < own) + 1.0,
            below(value, |other, own| other <= own),
        )
    };
    values.iter().map(rank).collect()
}

/// The place at which what is after has higher ranks than what is before, most clearly, and how
/// clearly: the rank sum's distance from its mean, in standard deviations (Mann and Whitney, 1947).
fn strongest(ranks: &[f64]) -> (usize, f64) {
    let number = count(ranks.len());
    let mut sum: f64 = ranks[..SIDE_LEAST].iter().sum();
    let mut best = (SIDE_LEAST, f64::NEG_INFINITY);
    for split in SIDE_LEAST..=ranks.len() - SIDE_LEAST {
        let before = count(split);
        let mean = before * (number + 1.0) / 2.0;
        let deviation = (before * (number - before) * (number + 1.0) / 12.0).sqrt();
        let strength = (mean - sum) / deviation;
        if strength > best.1 {
            best = (split, strength);
        }
        sum += ranks.get(split).copied().unwrap_or(0.0);
    }
    best
}

/// Returns how many random orders of the windows are as strong.
fn as_strong(windows: &[f64], strength: f64, seed: u64) -> u32 {
    let ranks = ranks(windows);
    let mut random = Random::new(seed);
    let mut blocks: Vec<&[f64]> = ranks.chunks(BLOCK).collect();
    let mut number = 0;
    for _ in 0..DRAWS {
        random.shuffle(&mut blocks);
        number += u32::from(strongest(&blocks.concat()).1 >= strength);
    }
    number
}

/// The place among the stretches of the two windows around the split at which a step of ln(time)
/// leaves the least error.
fn sharpest(run: &[Stretch], split: usize, length: usize) -> usize {
    let (from, to) = ((split - 1) * length, (split + 1) * length);
    let values: Vec<f64> =
        run[from..to].iter().map(|stretch| real(stretch.ns.max(1)).ln()).collect();
    let error = |at: &usize| step_error(&values[..*at]) + step_error(&values[*at..]);
    let best = (1..values.len()).min_by(|one, other| error(one).total_cmp(&error(other)));
    from + best.unwrap_or(length)
}

/// The sum of squared distances from the mean.
fn step_error(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / count(values.len().max(1));
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// The sum of squared distances from the straight line that leaves the least of it.
fn slope_error(values: &[f64]) -> f64 {
    let number = count(values.len());
    let center = (number - 1.0) / 2.0;
    let places = || (0..values.len()).map(|place| count(place) - center);
    let squares: f64 = places().map(|place| place * place).sum();
    let products: f64 = places().zip(values).map(|(place, value)| place * value).sum();
    step_error(values) - products * products / squares
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::latency_series::{Pace, Series, whole};

    const STEP_BYTES: u64 = 1 << 20;

    fn run(times_ns: impl IntoIterator<Item = u64>) -> Vec<Stretch> {
        let stretch = |(place, ns): (u64, u64)| Stretch { at_bytes: (place + 1) * STEP_BYTES, ns };
        (0..).zip(times_ns).map(stretch).collect()
    }

    /// Returns what a drive without a knee does, in five kinds.
    fn flat(seed: u64) -> Vec<Stretch> {
        let mut pace = Pace::new(false, seed);
        match seed % 5 {
            0 => run(Series::Alike(0.0).values(seed, 2000)),
            1 => run(Series::Alike(0.35).values(seed, 2000)),
            2 => run(Series::Alike(0.9).values(seed, 2000)),
            3 => run((0..2000).map(|_| whole(pace.next_ns(0)))),
            _ => run(Series::Regimes { slow_down: 0.01, speed_up: 0.02 }.values(seed, 2000)),
        }
    }

    #[test]
    fn a_flat_run_has_no_knee_in_any_of_200() {
        for seed in 1..=200 {
            let found = knee(&flat(seed), seed);
            assert!(found.is_err(), "seed {seed}: {found:?}");
        }
    }

    #[test]
    fn a_knee_is_found_within_ten_percent_of_its_place() {
        let mut missed = Vec::new();
        for seed in 1..=200_u64 {
            // Between a fifth and four fifths of the run, 3 times as slow, over noise.
            let at = 400 + usize::try_from(Random::new(seed).below(1200)).unwrap();
            let mut run = flat(seed - seed % 5 + seed % 4);
            run[at..].iter_mut().for_each(|stretch| stretch.ns *= 3);
            let truth = real(run[at - 1].at_bytes);
            match knee(&run, seed) {
                Ok(knee) if (real(knee.at_bytes) / truth - 1.0).abs() <= 0.1 => {}
                other => missed.push((seed, at, other)),
            }
        }
        println!("{} of 200 knees within 10 %", 200 - missed.len());
        assert!(missed.len() <= 4, "{missed:?}");
    }

    #[test]
    fn without_noise_a_knee_is_where_it_is_and_its_bounds_hold_it() {
        let times = |place: usize| if place < 777 { 100_000 } else { 400_000 };
        let knee = knee(&run((0..1280).map(times)), 1).unwrap();
        assert_eq!(knee.at_bytes, 777 * STEP_BYTES);
        assert!(knee.low_bytes <= knee.at_bytes && knee.at_bytes <= knee.high_bytes);
        assert!((knee.after_ns / knee.before_ns - 4.0).abs() < 1e-9);
    }

    #[test]
    fn drifts_bursts_short_runs_and_runs_that_become_faster_have_none() {
        let times = |time: fn(u64) -> u64| knee(&run((0..1280).map(time)), 1);
        assert_eq!(times(|place| 100_000 + 300 * place), Err(NoKnee::Drift));
        let burst = |place| if (600..700).contains(&place) { 9 } else { 1 };
        assert!(times(|_| 5).is_err());
        assert!(knee(&run((0..1280).map(burst)), 1).is_err());
        let to_and_fro = |place: u64| if (place / 200).is_multiple_of(2) { 100 } else { 1000 };
        assert!(times(to_and_fro).is_err());
        assert!(times(|place| if place < 640 { 400 } else { 100 }).is_err());
        assert_eq!(knee(&run(0..127), 1), Err(NoKnee::TooShort));
        assert_eq!(knee(&[], 1), Err(NoKnee::TooShort));
        assert!(knee(&run((0..200).map(|_| u64::MAX)), 1).is_err());
    }
}
