//! Patterns of readings that a drive of the class has. Pure, and small enough to be tried
//! in full.

use super::answer::Reading;

/// A pattern in the readings of shifts, which grow by two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
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
pub(super) fn of_shifts(readings: &[Reading], may_be_faster: usize) -> Pattern {
    if readings.contains(&Reading::Open) {
        return Pattern::Open;
    }
    let slower = readings.iter().take_while(|one| **one == Reading::Slower).count();
    let rest = &readings[slower..];
    let faster = rest.contains(&Reading::Faster);
    if rest.contains(&Reading::Slower) {
        return if faster { Pattern::Elsewhere } else { Pattern::Odd };
    }
    let early = readings.iter().take(may_be_faster).any(|one| *one == Reading::Faster);
    match () {
        () if early || (slower == 0 && faster) => Pattern::Elsewhere,
        () if slower == 0 => Pattern::Flat,
        () if rest.is_empty() => Pattern::Odd,
        () => Pattern::Step(slower),
    }
}

/// Returns what parts of whole lengths say, the lengths growing by two: not slower below a place,
/// slower from there to the end.
pub(super) fn of_lengths(readings: &[Reading]) -> Pattern {
    if readings.contains(&Reading::Open) {
        return Pattern::Open;
    }
    let below = readings.iter().take_while(|one| one.is_not_slower()).count();
    let is_step = readings[below..].iter().all(|one| *one == Reading::Slower);
    match () {
        () if below == readings.len() => Pattern::Flat,
        () if is_step => Pattern::Step(below),
        () => Pattern::Odd,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Reading::{Faster as F, NotSlower as N, Open as O, Same as S, Slower as X};

    #[test]
    fn shifts_are_slower_up_to_one_place_and_never_behind_it() {
        let check = |readings: &[Reading], expected: Pattern| {
            assert_eq!(of_shifts(readings, 3), expected, "{readings:?}");
        };
        check(&[X, X, S, S, S], Pattern::Step(2));
        check(&[X, X, S, F, S], Pattern::Step(2));
        check(&[X, X, F, S, S], Pattern::Elsewhere);
        check(&[S, S, S, S, S], Pattern::Flat);
        check(&[S, S, S, F, S], Pattern::Elsewhere);
        check(&[X, X, X, X, X], Pattern::Odd);
        check(&[X, S, X, S, S], Pattern::Odd);
        check(&[X, F, X, X, X], Pattern::Elsewhere);
        check(&[X, O, S, S, S], Pattern::Open);
    }

    #[test]
    fn lengths_are_slower_from_one_place_on() {
        assert_eq!(of_lengths(&[S, N, X, X]), Pattern::Step(2));
        assert_eq!(of_lengths(&[X, X]), Pattern::Step(0));
        assert_eq!(of_lengths(&[S, F]), Pattern::Flat);
        assert_eq!(of_lengths(&[S, X, S]), Pattern::Odd);
        assert_eq!(of_lengths(&[S, O, X]), Pattern::Open);
        assert_eq!(of_lengths(&[]), Pattern::Flat);
    }
}
