//! The log ratios of one comparison, in order, with both figures.

use super::clipped::Clipped;
use super::interval::Interval;
use super::sign::SignBound;

/// Number of values that wait to be sorted in, at least and as a part of all.
const PENDING_LEAST: usize = 64;
const PENDING_PART: usize = 32;

/// The log ratios of the pairs of two arms. All memory is taken at the start.
#[derive(Clone, Debug)]
pub struct Ratios {
    /// In order.
    sorted: Vec<f64>,
    /// Newer ones, as they came.
    pending: Vec<f64>,
    pairs_max: usize,
    sign: SignBound,
    clipped: Clipped,
}

impl Ratios {
    /// None seen, room for `pairs_max`; the intervals ever miss with probability `alpha` at most.
    #[must_use]
    pub fn new(alpha: f64, pairs_max: usize) -> Ratios {
        let pending = pairs_max.div_ceil(PENDING_PART).max(PENDING_LEAST);
        Ratios {
            sorted: Vec::with_capacity(pairs_max),
            pending: Vec::with_capacity(pending),
            pairs_max,
            sign: SignBound::new(alpha),
            clipped: Clipped::new(alpha, pairs_max),
        }
    }

    /// Returns how many were recorded.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.sorted.len() + self.pending.len()
    }

    /// Takes ln(time of the arm / time of the baseline). Allocates nothing; what exceeds the room
    /// is left out.
    pub fn record(&mut self, log_ratio: f64) {
        if self.pairs() >= self.pairs_max {
            return;
        }
        if self.pending.len() == self.pending.capacity() {
            self.settle();
        }
        self.pending.push(log_ratio);
        self.sign.advance();
        self.clipped.record(log_ratio);
    }

    /// The median ratio with its interval. Sorts in what is new: about as many moves as there are
    /// pairs.
    pub fn median(&mut self) -> Interval {
        self.settle();
        let pairs = self.sorted.len();
        if pairs == 0 {
            return Interval::UNKNOWN;
        }
        let middle = f64::midpoint(self.sorted[(pairs - 1) / 2], self.sorted[pairs / 2]);
        let bounds = self.sign.places().map(|(low, high)| (self.sorted[low], self.sorted[high]));
        let (low, high) = bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        Interval::of_logarithms(middle, low, high)
    }

    /// The clipped mean with its interval; `None` before its pilot ended.
    pub fn clipped_mean(&mut self) -> Option<Interval> {
        self.settle();
        let (middle, low, high) = self.clipped.interval(&self.sorted)?;
        Some(Interval::of_logarithms(middle, low, high))
    }

    /// Sorts in what is pending, from the end, within the room there is.
    fn settle(&mut self) {
        self.pending.sort_unstable_by(f64::total_cmp);
        let mut old = self.sorted.len();
        self.sorted.resize(old + self.pending.len(), 0.0);
        let mut place = self.sorted.len();
        while let Some(new) = self.pending.last().copied() {
            place -= 1;
            if old > 0 && self.sorted[old - 1] > new {
                old -= 1;
                self.sorted[place] = self.sorted[old];
            } else {
                self.sorted[place] = new;
                self.pending.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sorted_in_however_often_one_looks() {
        let mut random = testkit::random(7);
        for _ in 0..20 {
            let mut ratios = Ratios::new(0.05, 1000);
            let mut all = Vec::new();
            for _ in 0..random.below(1200) {
                let value = units::number::real(random.below(100)) / 100.0;
                ratios.record(value);
                if all.len() < 1000 {
                    all.push(value);
                }
                if random.below(10) == 0 {
                    ratios.median();
                }
            }
            ratios.settle();
            all.sort_unstable_by(f64::total_cmp);
            assert_eq!(ratios.sorted, all);
            assert_eq!(ratios.sorted.capacity(), 1000);
        }
    }

    #[test]
    fn ties_belong_to_the_interval() {
        let mut ratios = Ratios::new(0.05, 100);
        (0..100).for_each(|_| ratios.record(0.0));
        let interval = ratios.median();
        assert_eq!((interval.ratio, interval.low, interval.high), (1.0, 1.0, 1.0));
        assert!(interval.contains(1.0));
        assert!(interval.half_width() <= f64::EPSILON);
    }

    #[test]
    fn nothing_is_known_of_no_pairs_and_of_few() {
        let mut ratios = Ratios::new(0.05, 100);
        assert_eq!(ratios.median(), Interval::UNKNOWN);
        ratios.record(2.0_f64.ln());
        let interval = ratios.median();
        assert!((interval.ratio - 2.0).abs() < 1e-12);
        assert_eq!((interval.low, interval.high), (0.0, f64::INFINITY));
        assert_eq!(interval.half_width(), f64::INFINITY);
        assert_eq!(ratios.clipped_mean(), None);
    }
}
