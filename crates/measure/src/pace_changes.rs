//! Course of the baseline's latency: a drive may change its pace for seconds, and a figure means
//! little without the pace at which it was seen.
//!
//! Regimes are shown and decide nothing.

use serde::{Deserialize, Serialize};

use crate::Histogram;

/// The pairs of a window.
const WINDOW: usize = 32;
/// Distance of a window's median from the regime's when a new one begins, in percent. The median of
/// 32 values with a spread of 20 % is off by 25 % once in many thousand windows.
const CHANGE_PERCENT: u128 = 25;
/// The most regimes that are kept; the last holds the rest.
pub const REGIMES_MAX: usize = 64;

/// A part of the run in which the baseline's latency stayed about the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Regime {
    /// Its first pair, from 0, of those that count.
    pub from_pair: u64,
    /// The baseline's median in it, in nanoseconds.
    pub median_ns: u64,
    /// The baseline's interquartile range in it, in nanoseconds.
    pub spread_ns: u64,
}

/// Finds regimes in fixed memory.
#[derive(Clone, Debug)]
pub(crate) struct Regimes {
    ended: Vec<Regime>,
    from_pair: u64,
    current: Histogram,
    window: Vec<u64>,
}

impl Regimes {
    pub(crate) fn new() -> Regimes {
        Regimes {
            ended: Vec::with_capacity(REGIMES_MAX),
            from_pair: 0,
            current: Histogram::new(),
            window: Vec::with_capacity(WINDOW),
        }
    }

    /// Takes the baseline's latency in the next pair.
    pub(crate) fn record(&mut self, ns: u64) {
        self.window.push(ns);
        if self.window.len() < WINDOW {
            return;
        }
        self.window.sort_unstable();
        let (now, before) = (self.window[(WINDOW - 1) / 2], self.current.median());
        let room = self.ended.len() + 1 < REGIMES_MAX;
        if self.current.count() > 0 && differ(now, before) && room {
            self.ended.push(regime(self.from_pair, &self.current));
            self.from_pair += self.current.count();
            self.current.clear();
        }
        for ns in self.window.drain(..) {
            self.current.record(ns);
        }
    }

    /// The regimes so far, in order; none before the first pair.
    pub(crate) fn list(&self) -> Vec<Regime> {
        let mut list = self.ended.clone();
        let mut current = self.current.clone();
        self.window.iter().for_each(|ns| current.record(*ns));
        if current.count() > 0 {
            list.push(regime(self.from_pair, &current));
        }
        list
    }
}

fn regime(from_pair: u64, seen: &Histogram) -> Regime {
    Regime { from_pair, median_ns: seen.median(), spread_ns: seen.spread() }
}

/// Returns whether the greater is more than [`CHANGE_PERCENT`] above the less.
fn differ(one: u64, other: u64) -> bool {
    let (less, greater) = (u128::from(one.min(other)), u128::from(one.max(other)));
    greater * 100 > less * (100 + CHANGE_PERCENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_that_slows_down_for_a_while_has_three_regimes() {
        let mut regimes = Regimes::new();
        for pair in 0..320_u64 {
            let pace = if (96..192).contains(&pair) { 4_000_000 } else { 120_000 };
            regimes.record(pace + (pair % 8) * 1000);
        }
        let list = regimes.list();
        let from: Vec<u64> = list.iter().map(|regime| regime.from_pair).collect();
        assert_eq!(from, [0, 96, 192]);
        assert!(list[1].median_ns.abs_diff(4_003_000) <= 4_003_000 / 64);
        assert!((2000..8000).contains(&list[0].spread_ns), "{list:?}");
    }

    #[test]
    fn a_steady_drive_has_one_and_no_pairs_have_none() {
        let mut regimes = Regimes::new();
        assert_eq!(regimes.list(), []);
        (0..1000_u64).for_each(|pair| regimes.record(100 + pair % 20));
        assert_eq!(regimes.list().len(), 1);
    }

    #[test]
    fn memory_stays_bounded_when_every_window_differs() {
        let mut regimes = Regimes::new();
        (0..100_000_u64).for_each(|pair| regimes.record(1000 << (2 * (pair / 32 % 2))));
        assert_eq!(regimes.list().len(), REGIMES_MAX);
        assert_eq!(regimes.ended.capacity(), REGIMES_MAX);
    }
}
