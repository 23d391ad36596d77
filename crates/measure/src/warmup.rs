//! Pairs at the start that are left out: those seen before the drive's pace settled.
//!
//! Ten pairs are held back. When the paces of their two halves agree they count, all ten; else the
//! older half is left out, five more are waited for, and so on up to a bound.
//!
//! # Why leaving pairs out by their own times does not bend the interval
//!
//! A pair's pace is the sum of ln(time) over all arms. Let u and v be the times that its two places
//! would take under the baseline, and let the arm take θ times as long in either. Whichever arm
//! comes first, the sum is ln u + ln v + ln θ: the coin that decides the order does not change it.
//! So what is left out is decided by the places' times alone, and given those the coins, and with
//! them the signs of d − ln θ in the pairs that count, are as fair as before. The same holds of k
//! arms, each with its θ, and permutations. It would not hold of the baseline's times, nor of sums
//! or medians of times: under θ ≠ 1 they tell which arm came first.

/// The pairs of one half.
const HALF: usize = 5;
/// The pairs that are held back.
const HELD: usize = 2 * HALF;
/// Largest ratio of the paces of the two halves.
const AGREE: f64 = 1.25;
/// The most pairs that are left out, whatever the budget.
const DISCARDED_MAX: usize = 100;
/// The most that are left out, as a part of the budget: a fifth.
const DISCARDED_PART: usize = 5;

/// The pairs that are held back.
#[derive(Clone, Debug)]
pub(crate) struct Warmup {
    arms: usize,
    held: Vec<u64>,
    discarded: usize,
    discarded_max: usize,
    is_over: bool,
}

impl Warmup {
    pub(crate) fn new(arms: usize, pairs_max: usize) -> Warmup {
        Warmup {
            arms,
            held: Vec::with_capacity(HELD * arms),
            discarded: 0,
            discarded_max: pairs_max.div_euclid(DISCARDED_PART).min(DISCARDED_MAX),
            is_over: false,
        }
    }

    /// Returns whether pairs count as they come.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The pairs that were left out.
    pub(crate) fn discarded(&self) -> usize {
        self.discarded
    }

    /// Holds a pair back; whether the warm-up is over now, so that what is held counts.
    pub(crate) fn hold(&mut self, times_ns: &[u64]) -> bool {
        self.held.extend_from_slice(times_ns);
        if self.held.len() < HELD * self.arms {
            return false;
        }
        let (older, newer) = self.held.split_at(HALF * self.arms);
        let apart = (pace(older, self.arms) - pace(newer, self.arms)).abs();
        self.is_over = apart <= AGREE.ln() || self.discarded + HALF > self.discarded_max;
        if !self.is_over {
            self.held.drain(..HALF * self.arms);
            self.discarded += HALF;
        }
        self.is_over
    }

    /// Ends it, whatever was seen, and gives what was held: all arms' times of a pair, then of the
    /// next.
    pub(crate) fn release(&mut self) -> Vec<u64> {
        self.is_over = true;
        std::mem::take(&mut self.held)
    }
}

/// The median over [`HALF`] pairs of the mean of ln(time) over the arms.
fn pace(times_ns: &[u64], arms: usize) -> f64 {
    let mut paces = [0.0; HALF];
    for (pace, pair) in paces.iter_mut().zip(times_ns.chunks_exact(arms)) {
        let sum: f64 = pair.iter().map(|ns| units::number::real((*ns).max(1)).ln()).sum();
        *pace = sum / units::number::count(arms);
    }
    paces.sort_unstable_by(f64::total_cmp);
    paces[HALF / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_drive_leaves_nothing_out() {
        let mut warmup = Warmup::new(2, 1000);
        let over: Vec<bool> = (0..10).map(|n| warmup.hold(&[100 + n, 300])).collect();
        assert_eq!(over.iter().position(|over| *over), Some(9));
        assert_eq!((warmup.discarded(), warmup.release().len()), (0, 20));
    }

    #[test]
    fn a_slow_start_is_left_out_until_the_pace_settles() {
        let mut warmup = Warmup::new(1, 1000);
        let pairs = (0..40).find(|n| warmup.hold(&[if *n < 4 { 900 } else { 100 }]));
        assert_eq!((pairs, warmup.discarded()), (Some(14), 5));
    }

    #[test]
    fn no_more_than_a_fifth_of_the_budget_is_left_out() {
        let mut warmup = Warmup::new(1, 60);
        let pairs = (0..60_u32).find(|n| warmup.hold(&[1 << (n / 5)]));
        assert_eq!((pairs, warmup.discarded()), (Some(19), 10));
    }

    #[test]
    fn the_pace_of_a_pair_does_not_tell_which_arm_came_first() {
        // Places of 100 and 300 ns, an arm that takes 3 times as long in either.
        let first = pace(&[100, 900].repeat(5), 2);
        let last = pace(&[300, 300].repeat(5), 2);
        assert!((first - last).abs() < 1e-12);
    }
}
