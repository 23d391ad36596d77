//! The loop of all that is tried many times: cases and seeds, shared out among threads.

use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::thread;

use anyhow::bail;

/// Number of processors.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Makes a `trial` of each of `cases` with each of `seeds`, on so many threads; gives the place of
/// the case, the seed and what came out to `add`, one at a time and in any order.
///
/// # Errors
/// When a trial fails or panics.
pub(crate) fn trials<Case: Sync, Outcome>(
    cases: &[Case],
    seeds: RangeInclusive<u64>,
    workers: usize,
    trial: impl Fn(&Case, u64) -> anyhow::Result<Outcome> + Sync,
    add: impl FnMut(usize, u64, Outcome) + Send,
) -> anyhow::Result<()> {
    let all = (0..cases.len()).flat_map(|place| seeds.clone().map(move |seed| (place, seed)));
    let (ahead, add) = (Mutex::new(all), Mutex::new(add));
    let work = || -> anyhow::Result<()> {
        while let Some((place, seed)) = { ahead.lock().expect("no iterator panics").next() } {
            let outcome = trial(&cases[place], seed)?;
            let mut add = add.lock().expect("nothing panics while it counts");
            (*add)(place, seed, outcome);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            match worker.join() {
                Ok(done) => done?,
                Err(_) => bail!("a trial panicked; what it said stands above"),
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_tried_with_every_seed_and_a_failure_is_given_back() {
        let mut made = Vec::new();
        let trial = |case: &u64, seed| Ok(case * seed);
        trials(&[10, 20], 1..=3, 2, trial, |place, seed, product| {
            made.push((place, seed, product));
        })
        .unwrap();
        made.sort_unstable();
        assert_eq!(made[..2], [(0, 1, 10), (0, 2, 20)]);
        assert_eq!((made.len(), made[5]), (6, (1, 3, 60)));
        let trial = |_: &u64, seed| if seed == 2 { bail!("two") } else { Ok(seed) };
        assert!(trials(&[1], 1..=3, 1, trial, |_, _, _| ()).is_err());
    }
}
