//! `cargo xtask soak drives`: bench's experiment and the probe on every built-in drive, and on
//! variants of them, against what their profiles say. `cargo xtask soak probe`: the probe on drives
//! whose truth is exact. A slice of both is among the tests.
//!
//! | file | what it is |
//! |---|---|
//! | `cases` | built-in drives with their variants, and a stretch of one behind a queue |
//! | `exact` | drives of which it is known exactly what a write costs |
//! | `exact_cases` | exact drives that are probed |
//! | `truth` | what a profile says that may be found |
//! | `probed` | the probe, and how it did |
//! | `paired` | the experiment, and how it did |
//! | `reference` | the ratio by the model's own account |
//! | `table` | what came out |

mod cases;
mod exact;
mod exact_cases;
mod paired;
mod probed;
mod reference;
mod table;
mod truth;

use anyhow::ensure;

use self::cases::DriveCase;
use self::table::DriveResults;
use crate::options::Options;
use crate::trials::{processors, trials};

/// Probes every built-in drive with seeds 1 to `seeds` and makes the experiment on it; how many
/// bounds were missed.
///
/// # Errors
/// When there is no such drive, or something fails.
pub(super) fn run(options: &Options<'_>, seeds: u64) -> anyhow::Result<usize> {
    report(cases::all()?, options, seeds, true)
}

/// Probes every exact drive with seeds 1 to `seeds`; how many bounds were missed.
///
/// # Errors
/// When there is no such drive, or something fails.
pub(super) fn run_exact(options: &Options<'_>, seeds: u64) -> anyhow::Result<usize> {
    report(exact_cases::all(), options, seeds, false)
}

/// Tries all of `cases`, or the one that was named, and prints what came out.
fn report(
    mut cases: Vec<DriveCase>,
    options: &Options<'_>,
    seeds: u64,
    has_bench: bool,
) -> anyhow::Result<usize> {
    let name = options.word("--drive");
    cases.retain(|case| name.is_none_or(|name| case.name == name));
    ensure!(!cases.is_empty(), "no such drive: {}", name.unwrap_or_default());
    println!("{}", table::head(seeds, has_bench));
    let tallies = tallies(&cases, seeds, has_bench)?;
    let mut missed = 0;
    for tally in &tallies {
        println!("{}", tally.line());
        let misses = tally.misses(seeds);
        missed += misses.len();
        for miss in misses {
            println!("    MISSED: {miss}");
        }
        if name.is_some() || tally.has_wrong() {
            println!("{}", tally.details());
        }
    }
    println!("\n{}", table::found_head(seeds));
    for tally in &tallies {
        println!("{}", tally.found());
    }
    Ok(missed)
}

/// Returns what came out of each drive.
fn tallies(cases: &[DriveCase], seeds: u64, has_bench: bool) -> anyhow::Result<Vec<DriveResults>> {
    let new = |case: &DriveCase| {
        let reference = has_bench.then(|| reference::ratio(case)).transpose()?;
        anyhow::Ok(DriveResults::new(case, reference))
    };
    let mut tallies: Vec<DriveResults> = cases.iter().map(new).collect::<Result<_, _>>()?;
    let trial = |case: &DriveCase, seed| {
        let paired = has_bench.then(|| paired::run(case, seed)).transpose()?;
        Ok((probed::probe(case, seed)?, paired))
    };
    trials(cases, 1..=seeds, processors(), trial, |place, seed, (found, paired)| {
        tallies[place].add_probe(seed, found);
        if let Some(paired) = paired {
            tallies[place].add_experiment(seed, paired);
        }
    })?;
    Ok(tallies)
}

#[cfg(test)]
mod tests {
    use super::probed::Score;
    use super::*;

    fn check(cases: &[DriveCase], seeds: u64, has_bench: bool) {
        for tally in tallies(cases, seeds, has_bench).expect("every trial ends") {
            assert!(!tally.has_wrong(), "{}\n{}", tally.line(), tally.details());
            assert!(tally.misses(seeds).is_empty(), "{}: {:?}", tally.line(), tally.misses(seeds));
        }
    }

    #[test]
    fn bench_and_probe_find_of_every_built_in_drive_what_its_profile_says_and_nothing_else() {
        // More seeds: `cargo xtask soak drives`.
        check(&cases::all().expect("every variant can be"), 1, true);
    }

    #[test]
    fn no_probe_of_an_exact_drive_is_wrong_and_nearly_all_of_what_can_be_found_is() {
        // Of what is hard nothing must be wrong, and nothing need be right. More seeds:
        // `cargo xtask soak probe`.
        let is_hard = |case: &DriveCase| case.right_percent == 0;
        let (hard, sure): (Vec<DriveCase>, Vec<DriveCase>) =
            exact_cases::all().into_iter().partition(is_hard);
        check(&hard, 1, false);
        for tally in tallies(&sure, 1, false).expect("every trial ends") {
            assert_eq!(tally.probes(Score::Right), 1, "{}\n{}", tally.line(), tally.details());
        }
    }

    #[test]
    fn one_drive_may_be_named_and_one_that_is_not_known_is_refused() {
        let reported = |name| {
            let words = ["--drive", name];
            report(exact_cases::all(), &Options::parse(&words, &["--drive"])?, 1, false)
        };
        assert_eq!(reported("granule of 512").unwrap(), 0);
        assert!(reported("granule of 513").is_err());
    }

    #[test]
    fn a_drive_whose_profile_says_something_else_is_wrong() {
        let mut cases = cases::all().expect("every variant can be");
        cases.retain(|case| case.name == "hdd-7200-512e");
        cases[0].truth.turns = Some(2);
        cases[0].truth.has_penalty = false;
        let tallies = tallies(&cases, 1, true).expect("every trial ends");
        assert_eq!((tallies[0].probes(Score::Wrong), tallies[0].benches(Score::Wrong)), (1, 1));
    }
}
