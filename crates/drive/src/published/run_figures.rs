//! Figures of a run.

use units::number::{count, real};

/// A number of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Figure {
    /// Operations a second.
    Rate,
    /// Time from the begin of an operation to the next one's, in milliseconds.
    Period,
    /// The mean of what operations took, in milliseconds.
    Mean,
    /// Longest time of so many of a thousand operations, in milliseconds.
    Quantile(usize),
    /// The same in whole turns.
    Turns(usize),
}

/// All operations of a run.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    sorted_ns: Vec<u64>,
    elapsed_ns: u64,
    turn_ns: u64,
}

impl Figures {
    /// Returns what operations took, in `elapsed_ns` together, on a drive with this turn, or 0 for
    /// none.
    pub(super) fn new(mut took_ns: Vec<u64>, elapsed_ns: u64, turn_ns: u64) -> Figures {
        took_ns.sort_unstable();
        Figures { sorted_ns: took_ns, elapsed_ns, turn_ns }
    }

    /// The operations of several runs on one drive, one run after the other.
    pub(super) fn together(runs: impl Iterator<Item = Figures>) -> Figures {
        let none = Figures { sorted_ns: Vec::new(), elapsed_ns: 0, turn_ns: 0 };
        let all = runs.fold(none, |mut all, one| {
            all.sorted_ns.extend(one.sorted_ns);
            all.elapsed_ns += one.elapsed_ns;
            Figures { turn_ns: one.turn_ns, ..all }
        });
        Figures::new(all.sorted_ns, all.elapsed_ns, all.turn_ns)
    }

    /// Operations a second.
    pub(super) fn rate(&self) -> f64 {
        count(self.sorted_ns.len()) * 1e9 / real(self.elapsed_ns)
    }

    /// A number of it.
    pub(super) fn figure(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Rate => self.rate(),
            Figure::Period => 1e3 / self.rate(),
            Figure::Mean => real(self.sorted_ns.iter().sum()) / count(self.sorted_ns.len()) / 1e6,
            Figure::Quantile(mille) => real(self.quantile_ns(mille)) / 1e6,
            Figure::Turns(mille) => {
                let turn_ns = self.turn_ns.max(1);
                real((self.quantile_ns(mille) + turn_ns / 2) / turn_ns)
            }
        }
    }

    fn quantile_ns(&self, mille: usize) -> u64 {
        let place = self.sorted_ns.len() * mille / 1000;
        self.sorted_ns[place.min(self.sorted_ns.len() - 1)]
    }
}
