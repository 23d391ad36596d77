//! Counts of times, in fixed memory and with a bounded error.
//!
//! Buckets are log-linear, as in HdrHistogram (Tene, 2012) and DDSketch's cubic and linear
//! mappings (Masson, Rim and Lee, VLDB 2019): each power of two is cut into 64 equal buckets, so a
//! bucket is at most 1/64 of its values wide, and its middle is off by at most 1/128 (0.8 %).
//! Below 128 ns each value has its own bucket. All of `u64` fits; nothing is clamped.

use units::number::{real, whole};

/// Buckets in each power of two, as a power of two.
const FINE_BITS: u32 = 6;
/// Buckets in each power of two.
const FINE: u64 = 1 << FINE_BITS;
/// All buckets: 64 for the values below 64, and 64 for each power of two from there.
const BUCKETS: usize = 64 + 58 * 64;

/// Times in nanoseconds, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64; BUCKETS]>,
    count: u64,
    least_ns: u64,
    greatest_ns: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

/// The bucket of `ns`. Free of branches: values below 64 are treated as those of the first power
/// of two that is cut.
#[inline]
fn bucket(ns: u64) -> usize {
    let shift = (63 - FINE_BITS) - (ns | FINE).leading_zeros();
    let index = u64::from(shift << FINE_BITS) + (ns >> shift);
    usize::try_from(index).unwrap_or(BUCKETS - 1)
}

/// The least value of a bucket, and how many values share it.
fn span(bucket: usize) -> (u64, u64) {
    let bucket = units::number::wide(bucket);
    let shift = (bucket >> FINE_BITS).saturating_sub(1);
    ((bucket - (shift << FINE_BITS)) << shift, 1 << shift)
}

impl Histogram {
    /// One without any value. The only allocation: 30 KiB.
    #[must_use]
    pub fn new() -> Histogram {
        let counts = vec![0; BUCKETS].into_boxed_slice();
        let counts = counts.try_into().expect("it was made with this length");
        Histogram { counts, count: 0, least_ns: u64::MAX, greatest_ns: 0 }
    }

    /// Counts one value. Counts stop at the greatest number that fits.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let count = &mut self.counts[bucket(ns)];
        *count = count.saturating_add(1);
        self.count = self.count.saturating_add(1);
        self.least_ns = self.least_ns.min(ns);
        self.greatest_ns = self.greatest_ns.max(ns);
    }

    /// Returns how many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least value, exactly; 0 when there is none.
    #[must_use]
    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.least_ns }
    }

    /// The greatest value, exactly; 0 when there is none.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.greatest_ns
    }

    /// The value that `percent` % of all values stay at or below (nearest rank), off by at most
    /// 1/128; 0 when there is none.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        // The least rank of which at least so many percent are at or below. What rounding adds to
        // a product that should be whole is taken off again.
        let share = percent.clamp(0.0, 100.0) / 100.0 * real(self.count);
        let rank = whole((share - share * 1e-12).ceil()).clamp(1, self.count.max(1));
        let mut below = 0_u64;
        for (bucket, count) in self.counts.iter().enumerate() {
            below = below.saturating_add(*count);
            if *count > 0 && below >= rank {
                let (low, width) = span(bucket);
                return (low + (width >> 1)).clamp(self.least_ns, self.greatest_ns);
            }
        }
        self.greatest_ns
    }

    /// The value that half of all values stay at or below; 0 when there is none.
    #[must_use]
    pub fn median(&self) -> u64 {
        self.percentile(50.0)
    }

    /// The values between the lower and the upper quarter: how wide they are spread.
    #[must_use]
    pub fn spread(&self) -> u64 {
        self.percentile(75.0).saturating_sub(self.percentile(25.0))
    }

    /// Counts what `other` counted too.
    pub fn merge(&mut self, other: &Histogram) {
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            *count = count.saturating_add(*more);
        }
        self.count = self.count.saturating_add(other.count);
        self.least_ns = self.least_ns.min(other.least_ns);
        self.greatest_ns = self.greatest_ns.max(other.greatest_ns);
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.count, self.least_ns, self.greatest_ns) = (0, u64::MAX, 0);
    }

    /// The buckets that hold something, in order: the least value of each in nanoseconds, and how
    /// many values are in it.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counts.map(|(bucket, count)| (span(bucket).0, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value whose length in bits is as likely to be any.
    fn value(random: &mut units::random::Random) -> u64 {
        let bits = random.below(64);
        random.next_u64() >> bits
    }

    #[test]
    fn every_value_lies_in_a_bucket_at_most_a_64th_of_it_wide() {
        let mut random = testkit::random(1);
        let edges = (0..64).flat_map(|bit| {
            let power = 1_u64 << bit;
            [power - 1, power, power + 1]
        });
        let drawn: Vec<u64> = (0..20_000).map(|_| value(&mut random)).collect();
        for ns in edges.chain(drawn).chain([u64::MAX]) {
            let (low, width) = span(bucket(ns));
            assert!(low <= ns && ns - low < width, "{ns}: {low} + {width}");
            assert!(width == 1 || u128::from(width) * 64 <= u128::from(low), "{ns}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        for bucket in 1..BUCKETS {
            let (low, width) = span(bucket - 1);
            assert_eq!(span(bucket).0, low + width);
        }
    }

    #[test]
    fn percentiles_of_random_values_are_off_by_at_most_a_128th() {
        let mut random = testkit::random(2);
        for _ in 0..50 {
            let count = 1 + random.below(500);
            let mut values: Vec<u64> = (0..count).map(|_| value(&mut random)).collect();
            let mut histogram = Histogram::new();
            values.iter().for_each(|ns| histogram.record(*ns));
            values.sort_unstable();
            for percent in [0.0, 1.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 100.0] {
                let rank = (percent * real(count) / 100.0 - 1e-9).ceil().max(1.0);
                let exact = values[usize::try_from(whole(rank)).unwrap() - 1];
                let off = histogram.percentile(percent).abs_diff(exact);
                assert!(u128::from(off) * 128 <= u128::from(exact), "p{percent}: {exact}");
            }
            assert_eq!((histogram.min(), histogram.max()), (values[0], *values.last().unwrap()));
        }
    }

    #[test]
    fn small_values_are_exact_and_none_is_zero() {
        let mut histogram = Histogram::new();
        assert_eq!((histogram.median(), histogram.min(), histogram.max()), (0, 0, 0));
        for ns in 1..=100 {
            histogram.record(ns);
        }
        assert_eq!((histogram.median(), histogram.percentile(99.0)), (50, 99));
        assert_eq!(histogram.spread(), 50);
    }

    #[test]
    fn what_is_merged_equals_what_was_recorded_together() {
        let mut random = testkit::random(3);
        let (mut one, mut other, mut both) = (Histogram::new(), Histogram::new(), Histogram::new());
        for number in 0..1000 {
            let ns = value(&mut random);
            if number % 3 == 0 {
                one.record(ns)
            } else {
                other.record(ns)
            }
            both.record(ns);
        }
        one.merge(&other);
        assert_eq!(one, both);
        one.clear();
        assert_eq!(one, Histogram::new());
    }

    #[test]
    fn counts_stop_at_the_greatest_number() {
        let mut histogram = Histogram::new();
        histogram.record(5);
        (histogram.counts[bucket(5)], histogram.count) = (u64::MAX, u64::MAX);
        histogram.record(5);
        assert_eq!(histogram.buckets().collect::<Vec<_>>(), [(5, u64::MAX)]);
        assert_eq!(histogram.count(), u64::MAX);
    }
}
