//! Latencies in their order, as many as memory is there for.

use units::random::Random;

use crate::number::wide;

/// How many are kept at least of a run that has as many: half of the most. Where the list is full,
/// each of it stays with a probability of one half, and so does what comes.
pub const SERIES_MAX: usize = 1 << 16;
/// Decides which stay. It is drawn by chance and not every second one: where pages and blocks end,
/// latencies repeat with a power of two.
const SEED: u64 = 1;

/// The latencies of a run in their order, evenly from all of it.
#[derive(Clone, Debug)]
pub struct Kept {
    list: Vec<u64>,
    /// One of so many stays.
    share: u64,
    random: Random,
}

impl Kept {
    pub(super) fn new() -> Kept {
        let list = Vec::with_capacity(2 * SERIES_MAX);
        Kept { list, share: 1, random: Random::new(SEED) }
    }

    /// What is kept, in nanoseconds.
    #[must_use]
    pub fn latencies(&self) -> &[u64] {
        &self.list
    }

    pub(super) fn record(&mut self, took_ns: u64) {
        if self.share > 1 && self.random.below(self.share) > 0 {
            return;
        }
        if self.list.len() >= 2 * SERIES_MAX {
            // Exactly half of them, each as likely (Knuth 3.4.2, algorithm S).
            let (mut wanted, mut left) = (wide(SERIES_MAX), wide(self.list.len()));
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
        self.list.push(took_ns);
    }
}
