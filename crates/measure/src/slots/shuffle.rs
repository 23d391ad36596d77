//! The numbers below a count in a random order, without memory for them.
//!
//! A generalised Feistel network (Black and Rogaway, "Ciphers with Arbitrary Finite Domains",
//! 2002): a number below `width * height` is a column and a row; each round moves one of them by a
//! hash of the other, so every round can be taken back and the whole is a permutation. The
//! rectangle is a little larger than the count: what falls after it goes through once more, as
//! often as needed ("cycle walking"). Since the rectangle exceeds the count by less than its width,
//! that happens once in about √count numbers.

use units::random::Random;

/// The greatest count, so that the rectangle's area fits in 64 bits.
const COUNT_MAX: u64 = 1 << 62;
/// The rounds: three are what Luby and Rackoff ("How to Construct Pseudorandom Permutations from
/// Pseudorandom Functions", 1988) need for an order that looks random to whoever sees it go by.
const ROUNDS: usize = 3;

/// Multipliers that make the rounds' keys of one draw: odd numbers, so that no bit is lost. They
/// are those of SplitMix64 and of Knuth's linear congruential generator.
const KEYS: [u64; ROUNDS] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0x5851_f42d_4c95_7f2d];

/// A random order of the numbers below a count.
#[derive(Clone, Debug)]
pub(super) struct Shuffle {
    random: Random,
    keys: [u64; ROUNDS],
    count: u64,
    width: u64,
    height: u64,
    drawn: u64,
    /// The row and column of the next number, counted rather than divided: a division costs as much
    /// as all rounds.
    next: (u64, u64),
}

impl Shuffle {
    /// An order of the numbers below `count`, which is at least 1, and below 2^62 where there are
    /// more.
    pub(super) fn new(count: u64, random: Random) -> Shuffle {
        let count = count.min(COUNT_MAX);
        let width = (count - 1).isqrt() + 1;
        let height = count.div_ceil(width);
        let keys = [0; ROUNDS];
        let mut shuffle = Shuffle { random, keys, count, width, height, drawn: 0, next: (0, 0) };
        shuffle.restart();
        shuffle
    }

    /// Begins a new order.
    pub(super) fn restart(&mut self) {
        // One draw for all keys: an order is begun with each pair, so this is a part of its cost.
        let drawn = self.random.next_u64();
        self.keys = KEYS.map(|factor| drawn.wrapping_mul(factor));
        (self.drawn, self.next) = (0, (0, 0));
    }

    /// The next number; after the last one a new order begins.
    pub(super) fn next(&mut self) -> u64 {
        if self.drawn == self.count {
            self.restart();
        }
        let (row, column) = self.next;
        let mut number = self.permuted(row, column);
        while number >= self.count {
            let row = number.div_euclid(self.width);
            number = self.permuted(row, number - row * self.width);
        }
        self.drawn += 1;
        self.next = if column + 1 == self.width { (row + 1, 0) } else { (row, column + 1) };
        number
    }

    /// Returns where the number in this row and column of the rectangle goes.
    fn permuted(&self, mut row: u64, mut column: u64) -> u64 {
        for (round, key) in self.keys.iter().enumerate() {
            // The row first, since neighbors differ in their columns.
            if round % 2 == 0 {
                row = moved(row, hash(column ^ key), self.height);
            } else {
                column = moved(column, hash(row ^ key), self.width);
            }
        }
        row * self.width + column
    }
}

/// `place` below `bound` moved on by `by`, around.
fn moved(place: u64, by: u64, bound: u64) -> u64 {
    let by = u64::try_from((u128::from(by) * u128::from(bound)) >> 64).unwrap_or(0);
    let ahead = bound - by;
    if place >= ahead { place - ahead } else { place + by }
}

/// The two halves of a product, folded: one multiplication instead of a whole generator's finish,
/// which is most of what a place costs. The keys are random, so no value meets the same factor
/// twice (Wang, "wyhash", its `mum`).
fn hash(value: u64) -> u64 {
    let product = u128::from(value) * u128::from(0x9e37_79b9_7f4a_7c15_u64);
    let low = u64::try_from(product & u128::from(u64::MAX)).unwrap_or(0);
    let high = u64::try_from(product >> 64).unwrap_or(0);
    low ^ high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_in_each_order_and_orders_differ() {
        for count in [1, 2, 3, 12, 13, 100, 1009, 4096] {
            let mut shuffle = Shuffle::new(count, testkit::random(1));
            let mut orders = Vec::new();
            for _ in 0..2 {
                let order: Vec<u64> = (0..count).map(|_| shuffle.next()).collect();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..count).collect::<Vec<_>>());
                orders.push(order);
            }
            assert!(count < 12 || orders[0] != orders[1], "{count}");
        }
    }

    #[test]
    fn the_first_number_of_an_order_is_any() {
        let mut shuffle = Shuffle::new(10, testkit::random(2));
        let mut seen = [0; 10];
        for _ in 0..10_000 {
            seen[usize::try_from(shuffle.next()).unwrap()] += 1;
            shuffle.restart();
        }
        // Each count has a standard deviation of 30.
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
    }

    #[test]
    fn the_first_two_numbers_of_an_order_lie_anywhere_in_the_whole() {
        let mut shuffle = Shuffle::new(4096, testkit::random(4));
        let mut seen = [[0; 16]; 16];
        for _ in 0..256_000 {
            let [one, two] = [shuffle.next(), shuffle.next()];
            assert_ne!(one, two);
            let part = |number: u64| usize::try_from(number / 256).unwrap();
            seen[part(one)][part(two)] += 1;
            shuffle.restart();
        }
        // Each of 256 counts has a mean of 1000. Three rounds are not perfect, and need not be:
        // what matters is that no part is preferred.
        assert!(seen.as_flattened().iter().all(|count| (750..1250).contains(count)), "{seen:?}");
    }

    #[test]
    fn the_greatest_count_works_too() {
        let mut shuffle = Shuffle::new(u64::MAX, testkit::random(3));
        let first = shuffle.next();
        assert_ne!(first, shuffle.next());
    }
}
