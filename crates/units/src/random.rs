//! Seeded randomness whose sequence stays the same across upgrades.
//!
//! PCG XSL RR 128/64 (O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
//! Algorithms for Random Number Generation", 2014) from `rand_pcg`, which promises stable values.

use rand_core::Rng as _;
use rand_pcg::Pcg64;

use crate::number::wide;

/// A stream of random numbers that its seed alone decides.
#[derive(Clone, Debug)]
pub struct Random {
    generator: Pcg64,
}

impl Random {
    /// The stream that `seed` names.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random {
            generator: Pcg64::new(u128::from(seed), 0x0a02_bdbf_7bb3_c0a7_ac28_fa16_a64a_bf96),
        }
    }

    /// The next number, uniform over all of `u64`.
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A number below `bound`, or 0 when `bound` is 0. The bias is below `bound / 2^64`.
    pub fn below(&mut self, bound: u64) -> u64 {
        u64::try_from((u128::from(self.next_u64()) * u128::from(bound)) >> 64).unwrap_or(0)
    }

    /// One of `choices`.
    ///
    /// # Panics
    /// When `choices` is empty.
    pub fn choose<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let count = u64::try_from(choices.len()).expect("a slice's length fits in 64 bits");
        let index = self.below(count);
        &choices[usize::try_from(index).expect("an index below a slice's length fits in usize")]
    }

    /// Puts `order` into an order that is drawn, each equally likely (Durstenfeld, "Algorithm 235:
    /// Random permutation", 1964).
    pub fn shuffle<T>(&mut self, order: &mut [T]) {
        for last in (1..order.len()).rev() {
            let other = self.below(wide(last) + 1);
            order.swap(last, usize::try_from(other).expect("it is at most a place"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_for_ever() {
        let mut random = Random::new(7);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        let mut again = Random::new(7);
        assert_eq!(first, (0..3).map(|_| again.next_u64()).collect::<Vec<_>>());
        assert_ne!(first, (0..3).map(|_| Random::new(8).next_u64()).collect::<Vec<_>>());
    }

    #[test]
    fn below_stays_below() {
        let mut random = Random::new(1);
        assert!((0..1000).all(|_| random.below(3) < 3));
        assert_eq!(random.below(0), 0);
    }
    #[test]
    fn a_shuffle_gives_each_order_about_as_often() {
        let (mut random, mut times) = (Random::new(1), std::collections::BTreeMap::new());
        for _ in 0..6000 {
            let mut order = [1, 2, 3];
            random.shuffle(&mut order);
            *times.entry(order).or_insert(0) += 1;
        }
        assert_eq!(times.len(), 6, "{times:?}");
        assert!(times.values().all(|times| (800..1200).contains(times)), "{times:?}");
    }
}
