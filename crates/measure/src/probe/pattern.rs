//! Patterns of readings that a drive of the class has. Pure, and small enough to be tried
//! in full.

use super::slower_threshold::Reading;

/// A pattern in the readings of shifts, which grow by two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShiftPattern {
    /// Slower up to this place, which is the first that is not.
    Step(usize),
    /// None is slower, and none faster.
    Flat,
    /// None is slower, and some are faster: the baseline is not where it should be.
    Elsewhere,
    /// Some are not decided.
    Open,
    /// Nothing of the class.
    Odd,
}

/// Returns what shifts say of the alignment. An arm at `may_be_faster` or after may be faster than
/// the baseline, since it crosses fewer boundaries of chunks.
pub(super) fn of_shifts(readings: &[Reading], may_be_faster: usize) -> ShiftPattern {
    if readings.contains(&Reading::Open) {
        return ShiftPattern::Open;
    }
    let slower = readings.iter().take_while(|one| **one == Reading::Slower).count();
    let rest = &readings[slower..];
    let faster = rest.contains(&Reading::Faster);
    if rest.contains(&Reading::Slower) {
        return if faster { ShiftPattern::Elsewhere } else { ShiftPattern::Odd };
    }
    let early = readings.iter().take(may_be_faster).any(|one| *one == Reading::Faster);
    match () {
        () if early || (slower == 0 && faster) => ShiftPattern::Elsewhere,
        () if slower == 0 => ShiftPattern::Flat,
        () if rest.is_empty() => ShiftPattern::Odd,
        () => ShiftPattern::Step(slower),
    }
}

/// Returns what parts of whole lengths say, the lengths growing by two: not slower below a place,
/// slower from there to the end.
pub(super) fn of_lengths(readings: &[Reading]) -> ShiftPattern {
    if readings.contains(&Reading::Open) {
        return ShiftPattern::Open;
    }
    let below = readings.iter().take_while(|one| one.is_not_slower()).count();
    let is_step = readings[below..].iter().all(|one| *one == Reading::Slower);
    match () {
        () if below == readings.len() => ShiftPattern::Flat,
        () if is_step => ShiftPattern::Step(below),
        () => ShiftPattern::Odd,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Reading::{Faster as F, NotSlower as N, Open as O, Same as S, Slower as X};

    #[test]
    fn shifts_are_slower_up_to_one_place_and_never_behind_it() {
        let check = |readings: &[Reading], expected: ShiftPattern| {
            assert_eq!(of_shifts(readings, 3), expected, "{readings:?}");
        };
        check(&[X, X, S, S, S], ShiftPattern::Step(2));
        check(&[X, X, S, F, S], ShiftPattern::Step(2));
        check(&[X, X, F, S, S], ShiftPattern::Elsewhere);
        check(&[S, S, S, S, S], ShiftPattern::Flat);
        check(&[S, S, S, F, S], ShiftPattern::Elsewhere);
        check(&[X, X, X, X, X], ShiftPattern::Odd);
        check(&[X, S, X, S, S], ShiftPattern::Odd);
        check(&[X, F, X, X, X], ShiftPattern::Elsewhere);
        check(&[X, O, S, S, S], ShiftPattern::Open);
    }

    #[test]
    fn lengths_are_slower_from_one_place_on() {
        assert_eq!(of_lengths(&[S, N, X, X]), ShiftPattern::Step(2));
        assert_eq!(of_lengths(&[X, X]), ShiftPattern::Step(0));
        assert_eq!(of_lengths(&[S, F]), ShiftPattern::Flat);
        assert_eq!(of_lengths(&[S, X, S]), ShiftPattern::Odd);
        assert_eq!(of_lengths(&[S, O, X]), ShiftPattern::Open);
        assert_eq!(of_lengths(&[]), ShiftPattern::Flat);
    }
}
