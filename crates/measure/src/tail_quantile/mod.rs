//! A quantile of a latency series with an interval that stays valid when neighbors are alike.
//!
//! # The interval
//!
//! Of n independent values the number at or below the true quantile q is binomial with n and p, so
//! the values at two ranks hold q between them with a probability that no distribution changes
//! (David and Nagaraja, "Order Statistics", 3rd edition, section 7.1). Latencies depend on each
//! other: a slow sync is followed by slow ones. Then that number is as uncertain as that of fewer
//! independent values. How many fewer is what the batch means of the exceedances say: with v the
//! variance of the mean of m neighboring values of "is above the quantile", and s that of one
//! value, the series is worth n s / (m v) values (Schmeiser, "Batch size effects in the analysis
//! of simulation output", 1982; Alexopoulos, Goldsman, Mokashi and Wilson, "Sequest: a sequential
//! procedure for estimating quantiles in steady-state simulations", 2019). The ranks are those of
//! so many values.
//!
//! v rests on few batches. That is paid for twice: the number is divided by (t / z)², with t of
//! Student's distribution with one degree of freedom less than batches and z of the normal one; and
//! of three numbers of batches (`BATCHES`) the one counts that says the least.
//!
//! A bootstrap of blocks was the other choice. It never gives a value beyond the greatest one seen,
//! so it has no way to say "not known" where a p99 rests on 300 syncs; the binomial ranks do.
//!
//! # What it cannot do
//!
//! A pace that the drive did not show while it was watched is in no interval. A series that holds
//! one slow phase, or none, of a drive that has one every minute is too short, and nothing in it
//! says so. `cargo xtask soak tails` prints how often that goes wrong.

mod binomial;

use serde::{Deserialize, Serialize};
use units::number::{count, real, whole, wide};

/// Largest share of intervals that miss: 5 %, half of it on either side.
pub const ALPHA: f64 = 0.05;

/// The numbers of batches, each with (t / z)² at 97.5 %: t is 2.2622, 2.0930 and 2.0227 with 9, 19
/// and 39 degrees of freedom (tables of Student's distribution), z is 1.9600.
const BATCHES: [(usize, f64); 3] = [(10, 1.3322), (20, 1.1404), (40, 1.0651)];

/// The method of the interval, in words.
pub const METHOD: &str = "interval from order statistics; slow writes come in groups, so the \
     sample size is corrected (batch means)";

/// A quantile of latencies, with the interval that it lies in: by nearest rank, the interval from
/// ranks of the binomial for the effective number of samples, which batch means of the exceedances
/// give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tail {
    /// Quantile in percent: 99.
    pub quantile_percent: f64,
    /// The quantile of the latencies seen, in nanoseconds.
    pub value_ns: u64,
    /// The lower end, part of the interval, in nanoseconds; `null` while it is not known.
    pub low_ns: Option<u64>,
    /// The upper end, part of the interval, in nanoseconds; `null` while it is not known.
    pub high_ns: Option<u64>,
    /// The probability that the interval misses the truth, at most.
    pub alpha: f64,
    /// Number of latencies it comes from.
    pub samples: u64,
    /// Effective sample size: so many independent latencies would tell as much; at most `samples`.
    pub effective_samples: u64,
    /// Number of independent latencies an upper end needs.
    pub needed_samples: u64,
}

impl Tail {
    /// The quantile `share` of `series`, in the order in which it was measured. `None` when there
    /// is no value, or the share is not between 0 and 1.
    #[must_use]
    pub fn of(series: &[u64], share: f64) -> Option<Tail> {
        Tail::with(series, share, ALPHA)
    }

    /// The same with an interval that misses the truth with a probability of `alpha` at most.
    #[must_use]
    pub fn with(series: &[u64], share: f64, alpha: f64) -> Option<Tail> {
        let needed_samples = needed_for(share, alpha)?;
        let mut sorted = series.to_vec();
        sorted.sort_unstable();
        let value_ns = quantile(&sorted, share)?;
        let effective_samples = effective(series, value_ns);
        let (low, high) = binomial::ranks(effective_samples, share, alpha);
        let scaled = |rank: u64| real(rank) * count(series.len()) / real(effective_samples.max(1));
        let at = |place: Option<usize>| place.and_then(|place| sorted.get(place).copied());
        // Between two ranks of fewer values the farther one is taken.
        let below = |rank: u64| whole(scaled(rank)).checked_sub(1)?.try_into().ok();
        let above = |rank: u64| self::rank(scaled(rank), series.len());
        Some(Tail {
            // To a thousandth of a percent: 0.999 in binary is not 99.9 %.
            quantile_percent: (share * 100_000.0).round() / 1000.0,
            value_ns,
            low_ns: at(low.and_then(below)),
            high_ns: at(high.and_then(above)),
            alpha,
            samples: wide(series.len()),
            effective_samples,
            needed_samples,
        })
    }

    /// Returns how many more values are likely to give an upper end, when they are as alike as
    /// these; 0 where there is one.
    #[must_use]
    pub(crate) fn more_for_an_end(&self) -> u64 {
        if self.high_ns.is_some() {
            return 0;
        }
        let each = real(self.samples) / real(self.effective_samples.max(1));
        whole((real(self.needed_samples) * each).ceil()).saturating_sub(self.samples).max(1)
    }

    /// Returns how many values, these included, are likely to hold the interval apart from
    /// `limit_ns`, when its width falls with the root of their number, and the figure moves by as
    /// much as the interval is wide. `None` where the figure is at the limit, so that no number is.
    #[must_use]
    pub(crate) fn samples_to_leave(&self, limit_ns: u64) -> Option<u64> {
        let apart = real(self.value_ns.abs_diff(limit_ns));
        let end = if self.value_ns < limit_ns { self.high_ns } else { self.low_ns };
        let Some(end) = end else { return Some(self.samples + self.more_for_an_end()) };
        let times = 2.0 * real(end.abs_diff(self.value_ns)) / apart;
        times.is_finite().then(|| whole((real(self.samples) * times * times).ceil()))
    }
}

/// The quantile `share` of `sorted`, by nearest rank: the least value that at least so many of all
/// are at or below. `None` without values.
#[must_use]
pub fn quantile(sorted: &[u64], share: f64) -> Option<u64> {
    sorted.get(rank(share * count(sorted.len()), sorted.len())?).copied()
}

/// The least number of independent values whose greatest one is an upper end of the quantile
/// `share`: the chance that all of n stay below the quantile is share^n, which must not be above
/// half of [`ALPHA`]. 368 for p99, 6 for the median, 3688 for p99.9. `None` when the share is not
/// between 0 and 1.
#[must_use]
pub fn needed(share: f64) -> Option<u64> {
    needed_for(share, ALPHA)
}

fn needed_for(share: f64, alpha: f64) -> Option<u64> {
    let is_share = 0.0 < share && share < 1.0;
    is_share.then(|| whole(((alpha / 2.0).ln() / share.ln()).ceil()))
}

/// The place, from 0, of the value of a rank that may lie between two: of the upper one. `None`
/// when there are no values.
fn rank(rank: f64, values: usize) -> Option<usize> {
    // What rounding adds to a product that should be whole is taken off again.
    let place = whole((rank - rank * 1e-12).ceil()).max(1) - 1;
    Some(usize::try_from(place).ok()?.min(values.checked_sub(1)?))
}

/// The number of independent values that `series` is worth where its quantile is `value_ns`.
fn effective(series: &[u64], value_ns: u64) -> u64 {
    let is_above = |ns: &u64| *ns > value_ns;
    let above = count(series.iter().filter(|ns| is_above(ns)).count());
    let share = above / count(series.len().max(1));
    let one = share * (1.0 - share);
    let mut worst = 1.0_f64;
    for (batches, doubt) in BATCHES {
        let length = series.len() / batches;
        if length < 2 || one <= 0.0 {
            // Too few to say how alike they are: the doubt alone is paid.
            worst = worst.max(doubt);
            continue;
        }
        let recent = &series[series.len() - length * batches..];
        let means = recent
            .chunks_exact(length)
            .map(|batch| count(batch.iter().filter(|ns| is_above(ns)).count()) / count(length));
        worst = worst.max(doubt * count(length) * variance(means) / one);
    }
    whole(count(series.len()) / worst)
}

/// The sample variance.
fn variance(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let number = count(values.clone().count());
    let mean = values.clone().sum::<f64>() / number;
    values.map(|value| (value - mean).powi(2)).sum::<f64>() / (number - 1.0)
}

#[cfg(test)]
mod tests;
