//! The loop of all that is measured side by side: rounds, in each of which every contestant runs
//! once, in a new random order.

use units::random::Random;

/// Runs each of `COUNT` contestants once in each of so many rounds; `once` is told whose turn
/// it is. Gives back what each of them did, by round.
///
/// # Errors
/// When a run fails.
pub(super) fn rounds<T, const COUNT: usize>(
    rounds: u64,
    random: &mut Random,
    mut once: impl FnMut(usize) -> anyhow::Result<T>,
) -> anyhow::Result<[Vec<T>; COUNT]> {
    let mut done = [const { Vec::new() }; COUNT];
    for _ in 0..rounds {
        for place in shuffled(COUNT, random) {
            done[place].push(once(place)?);
        }
    }
    Ok(done)
}

/// The numbers below `count`, shuffled (Fisher and Yates).
pub(super) fn shuffled(count: usize, random: &mut Random) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    for end in (1..count).rev() {
        let other = random.below(end as u64 + 1);
        numbers.swap(end, usize::try_from(other).expect("it is at most a place"));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_every_number_once() {
        let mut numbers = shuffled(100, &mut Random::new(7));
        assert_ne!(numbers, (0..100).collect::<Vec<_>>());
        numbers.sort_unstable();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn chance_decides_who_runs_first_and_never_who_is_who() {
        let mut order = String::new();
        let [first, second] = rounds(20, &mut Random::new(1), |place| {
            order.push(if place == 0 { 'a' } else { 'b' });
            Ok(place)
        })
        .unwrap();
        assert_eq!((first, second), (vec![0; 20], vec![1; 20]));
        assert!(order.contains("abba") && order.len() == 40, "{order}");
    }
}
