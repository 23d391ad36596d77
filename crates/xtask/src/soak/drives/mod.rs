//! `cargo xtask soak drives`: bench's experiment and the probe on every built-in drive, and on
//! shapes made of them, against what their profiles say; a slice of it is among the tests.
//!
//! | file | what it is |
//! |---|---|
//! | `cases` | the drives |
//! | `truth` | what a profile says that may be found |
//! | `ground` | a stretch of a drive behind a queue |
//! | `probed` | the probe, and how it did |
//! | `paired` | the experiment, and how it did |
//! | `own` | the ratio by the model's own account |
//! | `table` | what came out |

mod cases;
mod ground;
mod own;
mod paired;
mod probed;
mod table;
mod truth;

use std::sync::Mutex;
use std::thread;

use anyhow::{anyhow, bail, ensure};
use measure::Interval;

use self::cases::Case;
use self::paired::Paired;
use self::probed::Found;
use self::table::Tally;

/// Tries every drive with seeds 1 to `seeds`, or only that called `name`; whether none was wrong
/// and every bound held.
///
/// # Errors
/// When the chores cannot be built for release, there is no such drive, or something fails.
pub(super) fn run(seeds: u64, name: Option<&str>) -> anyhow::Result<bool> {
    if cfg!(debug_assertions) {
        let seeds = seeds.to_string();
        let only = name.map_or(Vec::new(), |name| vec!["--drive", name]);
        return super::models::released(
            &[&["soak", "drives", "--seeds", &seeds], &only[..]].concat(),
        );
    }
    let mut cases = cases::all()?;
    cases.retain(|case| name.is_none_or(|name| case.name == name));
    ensure!(!cases.is_empty(), "there is no drive {}", name.unwrap_or_default());
    println!("{}", table::head(seeds));
    let mut is_held = true;
    let tallies = tallies(&cases, seeds)?;
    for tally in &tallies {
        println!("{}", tally.line());
        for miss in tally.misses(seeds) {
            println!("    MISSED: {miss}");
            is_held = false;
        }
        if name.is_some() || tally.has_wrong() {
            println!("{}", tally.told());
        }
    }
    println!("\n{}", table::found_head(seeds));
    for tally in &tallies {
        println!("{}", tally.found());
    }
    println!("soak drives: {} drives, {}", cases.len(), if is_held { "held" } else { "MISSED" });
    Ok(is_held)
}

/// What came out of a seed.
struct Trial {
    seed: u64,
    found: Found,
    paired: Paired,
}

/// Returns what came out of each drive, the drives and seeds shared out among the processors.
fn tallies(cases: &[Case], seeds: u64) -> anyhow::Result<Vec<Tally>> {
    let owns: Vec<Interval> = cases.iter().map(own::ratio).collect::<anyhow::Result<_>>()?;
    let tallies = cases.iter().zip(owns).map(|(case, own)| Tally::new(case, own)).collect();
    let of = |case| (1..=seeds).map(move |seed| (case, seed));
    let (next, tallies) = (Mutex::new((0..cases.len()).flat_map(of)), Mutex::new(tallies));
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let work = || -> anyhow::Result<()> {
        loop {
            let taken = next.lock().map_err(|_| anyhow!("another worker panicked"))?.next();
            let Some((case, seed)) = taken else { return Ok(()) };
            let found = probed::probe(&cases[case], seed)?;
            let paired = paired::run(&cases[case], seed)?;
            let mut all = tallies.lock().map_err(|_| anyhow!("another worker panicked"))?;
            let all: &mut Vec<Tally> = &mut all;
            all[case].add(Trial { seed, found, paired });
        }
    };
    thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in started {
            match worker.join() {
                Ok(done) => done?,
                Err(_) => bail!("a trial panicked; what it said stands above"),
            }
        }
        Ok(())
    })?;
    tallies.into_inner().map_err(|_| anyhow!("a worker panicked"))
}

#[cfg(test)]
mod tests {
    use super::probed::Score;
    use super::*;

    /// The seeds of which a slice is a test; the chore takes more.
    const SEEDS: u64 = 2;

    #[test]
    fn bench_and_probe_find_of_every_drive_of_the_house_what_its_profile_says_and_nothing_else() {
        let cases = cases::all().expect("every shape can be");
        for tally in tallies(&cases, SEEDS).expect("every trial ends") {
            assert!(!tally.has_wrong(), "{}\n{}", tally.line(), tally.told());
            assert!(tally.misses(SEEDS).is_empty(), "{}: {:?}", tally.line(), tally.misses(SEEDS));
        }
    }

    #[test]
    fn a_drive_whose_profile_says_something_else_is_wrong() {
        let mut cases = cases::all().expect("every shape can be");
        cases.retain(|case| case.name == "hdd-7200-512e");
        cases[0].truth.turns = Some(2);
        cases[0].truth.has_penalty = false;
        let tallies = tallies(&cases, 1).expect("every trial ends");
        assert_eq!((tallies[0].probes(Score::Wrong), tallies[0].benches(Score::Wrong)), (1, 1));
    }
}
