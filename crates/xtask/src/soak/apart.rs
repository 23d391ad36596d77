//! Intervals that should overlap, and what explains those that do not.

/// From how far apart two medians of the baseline are another pace, in percent: as `measure` draws
/// the line between two regimes of one run.
const CHANGE_PERCENT: u64 = 25;

/// What one run says, as far as other runs should agree.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    /// The run's number as it is printed.
    pub(super) run: u64,
    pub(super) low: f64,
    /// Infinite where it is not known.
    pub(super) high: f64,
    /// The baseline's median over the whole run.
    pub(super) median_ns: u64,
    /// The baseline's median in each of its regimes, in their order.
    pub(super) regimes_ns: Vec<u64>,
}

/// Two runs whose intervals do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Apart {
    pub(super) runs: (u64, u64),
    /// The change of regime that explains it; `None` where none was printed.
    pub(super) change: Option<String>,
}

/// Each pair of `said`, all of one kind, whose intervals do not overlap.
pub(super) fn apart(said: &[Said]) -> Vec<Apart> {
    let mut found = Vec::new();
    for (number, one) in said.iter().enumerate() {
        for other in &said[number + 1..] {
            if !overlap(one, other) {
                found.push(Apart { runs: (one.run, other.run), change: change(one, other) });
            }
        }
    }
    found
}

/// Whether two intervals, ends included, have a ratio in common.
fn overlap(one: &Said, other: &Said) -> bool {
    one.low <= other.high && other.low <= one.high
}

/// The change of regime between two runs or within one of them: medians of the baseline that are
/// [`CHANGE_PERCENT`] apart, or more regimes than one.
fn change(one: &Said, other: &Said) -> Option<String> {
    let (slow, fast) = if one.median_ns >= other.median_ns { (one, other) } else { (other, one) };
    if slow.median_ns.saturating_mul(100) >= fast.median_ns.saturating_mul(100 + CHANGE_PERCENT) {
        let (fast_us, slow_us) = (us(fast.median_ns), us(slow.median_ns));
        return Some(format!(
            "aligned takes {fast_us} in run {} and {slow_us} in run {}",
            fast.run, slow.run
        ));
    }
    let changed = [one, other].into_iter().find(|said| said.regimes_ns.len() > 1)?;
    Some(format!("the pace changes within run {}: {}", changed.run, regimes(&changed.regimes_ns)))
}

/// Medians of regimes in their order, the first few of them: `118 us, 402 us`.
pub(super) fn regimes(medians_ns: &[u64]) -> String {
    const SHOWN: usize = 6;
    let mut words: Vec<String> = medians_ns.iter().take(SHOWN).map(|&median| us(median)).collect();
    if medians_ns.len() > SHOWN {
        words.push(format!("{} more", medians_ns.len() - SHOWN));
    }
    words.join(", ")
}

/// Microseconds, as text.
pub(super) fn us(nanoseconds: u64) -> String {
    format!("{:.0} us", std::time::Duration::from_nanos(nanoseconds).as_secs_f64() * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(run: u64, low: f64, high: f64, regimes_us: &[u64]) -> Said {
        let regimes_ns: Vec<u64> = regimes_us.iter().map(|us| us * 1000).collect();
        Said { run, low, high, median_ns: regimes_ns[0], regimes_ns }
    }

    #[test]
    fn intervals_that_share_an_end_overlap() {
        let check = |low: f64, high: f64, expected: usize| {
            let all = [said(1, 0.98, 1.02, &[100]), said(2, low, high, &[100])];
            assert_eq!(apart(&all).len(), expected, "{low} to {high}");
        };
        check(1.02, 1.10, 0);
        check(1.03, 1.10, 1);
        check(0.90, 0.97, 1);
        check(0.90, 1.10, 0);
        check(1.00, 1.01, 0);
        check(0.0, f64::INFINITY, 0);
    }

    #[test]
    fn each_pair_is_named_once_and_unexplained_without_a_change() {
        let all = [said(1, 1.0, 1.1, &[100]), said(2, 1.2, 1.3, &[124]), said(3, 1.4, 1.5, &[100])];
        let found = apart(&all);
        let runs: Vec<(u64, u64)> = found.iter().map(|apart| apart.runs).collect();
        assert_eq!(runs, [(1, 2), (1, 3), (2, 3)]);
        assert!(found.iter().all(|apart| apart.change.is_none()), "{found:?}");
    }

    #[test]
    fn another_pace_between_the_runs_or_within_one_is_what_explains() {
        let change = |one: &[u64], other: &[u64]| {
            apart(&[said(1, 1.0, 1.1, one), said(2, 1.2, 1.3, other)]).remove(0).change
        };
        let between = "aligned takes 100 us in run 2 and 125 us in run 1";
        assert_eq!(change(&[125], &[100]).as_deref(), Some(between));
        let within = "the pace changes within run 2: 100 us, 400 us";
        assert_eq!(change(&[100], &[100, 400]).as_deref(), Some(within));
    }
}
