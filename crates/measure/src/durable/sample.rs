//! Values of a run in their order, as many as memory is there for.

use units::random::Random;

use units::number::wide;

/// Number of latencies kept at least of a run that has as many: half of the most.
pub const SERIES_MAX: usize = 1 << 16;
/// Number of rounds kept at least of a run that has as many.
pub(super) const ROUNDS_KEPT: usize = 1 << 13;
/// Decides which stay. It is drawn by chance and not every second one: where pages and blocks end,
/// latencies repeat with a power of two.
const SEED: u64 = 1;

/// The values of a run in their order, evenly from all of it. Where the list is full, each of it
/// stays with a probability of one half, and so does what comes. What stays follows from the number
/// of values alone: two lists that took as many have those of the same places.
#[derive(Clone, Debug)]
pub struct ValueSample<T> {
    list: Vec<T>,
    /// Number that stay when the list is full.
    least: usize,
    /// One of so many stays.
    share: u64,
    random: Random,
}

impl<T> ValueSample<T> {
    /// None so far; `least` are kept of a longer run.
    pub(crate) fn new(least: usize) -> ValueSample<T> {
        let list = Vec::with_capacity(2 * least);
        ValueSample { list, least, share: 1, random: Random::new(SEED) }
    }

    /// Returns what is kept.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.list
    }

    pub(crate) fn record(&mut self, value: T) {
        if self.share > 1 && self.random.below(self.share) > 0 {
            return;
        }
        if self.list.len() >= 2 * self.least {
            // Exactly half of them, each as likely (Knuth 3.4.2, algorithm S).
            let (mut wanted, mut left) = (wide(self.least), wide(self.list.len()));
            let random = &mut self.random;
            self.list.retain(|_| {
                let stays = random.below(left) < wanted;
                (wanted, left) = (wanted - u64::from(stays), left - 1);
                stays
            });
            self.share = self.share.saturating_mul(2);
            if self.random.below(2) > 0 {
                return;
            }
        }
        self.list.push(value);
    }
}
