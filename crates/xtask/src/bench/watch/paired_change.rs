//! The median of changes within pairs, with the sign test's interval.

/// A median with its interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairedChange {
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl PairedChange {
    /// Of the changes `of` between each of `before` and its partner in `after`. From six pairs on
    /// the interval is the sign test's: between the order statistics that miss the true median
    /// with a chance of at most 5 %. Of fewer it has no bounds.
    pub(super) fn of(before: &[f64], after: &[f64], of: fn(f64, f64) -> f64) -> PairedChange {
        let both = before.iter().zip(after);
        let mut changes: Vec<f64> = both.map(|(&before, &after)| of(before, after)).collect();
        changes.sort_by(f64::total_cmp);
        let median = crate::bench::ratio::median(&changes);
        let (low, high) = match outer_rank(changes.len()) {
            0 => (f64::NEG_INFINITY, f64::INFINITY),
            rank => (changes[rank - 1], changes[changes.len() - rank]),
        };
        PairedChange { median, low, high }
    }
}

/// The greatest rank k, from 1 on, for which fewer than k of `count` fair coins show heads with a
/// chance of at most 2.5 %; 0 where there is none.
fn outer_rank(count: usize) -> usize {
    let total = count as f64;
    let mut chance = 0.5_f64.powf(total);
    let (mut sum, mut rank) = (0.0, 0);
    loop {
        sum += chance;
        if sum > 0.025 || rank == count {
            return rank;
        }
        chance *= (total - rank as f64) / (rank as f64 + 1.0);
        rank += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_are_those_of_the_tables_of_the_sign_test() {
        // Critical values for two sides and 5 %, plus one: any table of the sign test.
        let ranks = [(0, 0), (5, 0), (6, 1), (9, 2), (15, 4), (20, 6), (25, 8)];
        for (count, expected) in ranks {
            assert_eq!(outer_rank(count), expected, "{count}");
        }
    }

    #[test]
    fn changes_are_taken_within_pairs() {
        let before = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0];
        let after = [11.0, 22.0, 33.0, 44.0, 55.0, 66.0];
        let change = PairedChange::of(&before, &after, |before, after| after - before);
        let PairedChange { median, low, high } = change;
        assert!((median - 3.5).abs() < 1e-9 && (low - 1.0).abs() < 1e-9, "{change:?}");
        assert!((high - 6.0).abs() < 1e-9);
        let few = PairedChange::of(&before[..5], &after[..5], |before, after| after / before);
        assert!((few.median - 1.1).abs() < 1e-9 && few.low.is_infinite(), "{few:?}");
    }
}
