//! How many runs on identical arms ended in what, and whether that is what was promised.

use std::collections::BTreeMap;

/// Of a hundred runs on identical arms, the most that may end in penalty or small, and the least
/// that must end in no penalty: 4 and 150 of 200.
const FALSE_PERCENT_MAX: u64 = 2;
const SAME_PERCENT_MIN: u64 = 75;
/// The verdicts, in the order in which they are printed.
pub(super) const VERDICTS: [&str; 5] = ["penalty", "small", "no-penalty", "inconclusive", "void"];

/// How many runs ended in what.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) runs: u64,
    verdicts: BTreeMap<String, u64>,
    /// Inconclusive runs that were too noisy by their own spread.
    pub(super) noisy: u64,
}

/// What a tally says of the promises.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Finding {
    /// Promises that were broken, each as a line.
    pub(super) misses: Vec<String>,
    /// That the drive was too noisy to keep one; as a line.
    pub(super) excuse: Option<String>,
}

impl Tally {
    /// Counts a run that ended in `verdict`, and whether it was too noisy by its own spread; that
    /// counts only where it was inconclusive.
    pub(super) fn add(&mut self, verdict: &str, is_too_noisy: bool) {
        self.runs += 1;
        *self.verdicts.entry(verdict.to_owned()).or_default() += 1;
        self.noisy += u64::from(is_too_noisy && verdict == "inconclusive");
    }

    /// How many runs ended in `verdict`.
    pub(super) fn count(&self, verdict: &str) -> u64 {
        self.verdicts.get(verdict).copied().unwrap_or(0)
    }

    /// Which promises were broken. That too few runs end in no penalty is none where those that
    /// were too noisy by their own spread would have made up for it.
    pub(super) fn finding(&self) -> Finding {
        let mut finding = Finding::default();
        let (runs, found) = (self.runs, self.count("penalty") + self.count("small"));
        if found * 100 > runs * FALSE_PERCENT_MAX {
            finding.misses.push(format!(
                "{found} of {runs} runs end in penalty or small, more than {FALSE_PERCENT_MAX} %"
            ));
        }
        let (same, noisy) = (self.count("no-penalty"), self.noisy);
        if same * 100 < runs * SAME_PERCENT_MIN {
            let few = format!(
                "{same} of {runs} runs end in no penalty, fewer than {SAME_PERCENT_MIN} %; {noisy} \
                 of the others were too noisy by their own spread"
            );
            if (same + noisy) * 100 >= runs * SAME_PERCENT_MIN {
                finding.excuse = Some(few);
            } else {
                finding.misses.push(few);
            }
        }
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tally of penalties, small ones, none, inconclusive ones of which so many were noisy, and
    /// void ones.
    fn finding(counts: [u64; 5], noisy: u64) -> Finding {
        let mut tally = Tally::default();
        for (verdict, count) in VERDICTS.iter().zip(counts) {
            (0..count).for_each(|number| tally.add(verdict, number < noisy));
        }
        tally.finding()
    }

    #[test]
    fn four_false_ones_of_two_hundred_are_allowed_and_five_are_not() {
        assert_eq!(finding([2, 2, 196, 0, 0], 0), Finding::default());
        let misses = finding([3, 2, 195, 0, 0], 0).misses;
        assert_eq!(misses, ["5 of 200 runs end in penalty or small, more than 2 %"]);
        assert_eq!(finding([0, 1, 49, 0, 0], 0), Finding::default());
        assert_eq!(finding([0, 2, 48, 0, 0], 0).misses.len(), 1);
    }

    #[test]
    fn a_hundred_and_fifty_of_two_hundred_must_end_in_no_penalty() {
        assert_eq!(finding([0, 0, 150, 50, 0], 0), Finding::default());
        assert_eq!(finding([0, 0, 149, 51, 0], 0).misses.len(), 1);
    }

    #[test]
    fn noise_excuses_inconclusive_runs_only() {
        let noisy = finding([0, 0, 140, 60, 0], 10);
        assert!(noisy.misses.is_empty() && noisy.excuse.is_some(), "{noisy:?}");
        assert_eq!(finding([0, 0, 140, 60, 0], 9).misses.len(), 1);
        assert_eq!(finding([0, 0, 140, 0, 60], 60).misses.len(), 1);
        assert_eq!(finding([60, 0, 140, 0, 0], 60).misses.len(), 2);
    }
}
