//! `cargo xtask soak models`: the experiment on model drives whose truth is computed; a slice of it
//! is among the tests.

use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context as _, bail};
use measure::model::matrix::ROWS;
use measure::model::{Row, Tally, Temper, trial};

/// The rows of the matrix with seeds 1 to `seeds`, in this process when it was built for release,
/// else in one that was; whether every bound held.
///
/// # Errors
/// When the chores cannot be built for release, or a trial panics.
pub(super) fn run(seeds: u64) -> anyhow::Result<bool> {
    if cfg!(debug_assertions) {
        return released(&["soak", "models", "--seeds", &seeds.to_string()]);
    }
    let tallies = tallies(seeds)?;
    println!("{}", table(&tallies, seeds));
    let misses: Vec<String> = tallies.iter().flat_map(|(row, tally)| named(row, tally)).collect();
    for miss in &misses {
        println!("MISSED: {miss}");
    }
    if seeds < 200 && !misses.is_empty() {
        println!("with fewer than 200 seeds a bound may be missed by chance alone");
    }
    println!("soak models: {} rows, {} bounds missed", tallies.len(), misses.len());
    Ok(misses.is_empty())
}

/// Runs these chores again, built for release.
pub(super) fn released(words: &[&str]) -> anyhow::Result<bool> {
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--release", "--package", "xtask", "--"])
        .args(words)
        .current_dir(crate::root())
        .stdin(Stdio::null())
        .status()
        .context("cargo cannot be started")?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => bail!("the chores built for release failed: {status}"),
    }
}

/// Returns what came out of each row, the rows shared out among the processors.
fn tallies(seeds: u64) -> anyhow::Result<Vec<(&'static Row, Tally)>> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let share = |worker: usize| ROWS.iter().enumerate().skip(worker).step_by(workers);
    thread::scope(|scope| {
        let started: Vec<_> = (0..workers)
            .map(|worker| {
                scope.spawn(move || {
                    let rows = share(worker);
                    rows.map(|(place, row)| (place, row.tally(1..=seeds))).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut all = Vec::new();
        for worker in started {
            match worker.join() {
                Ok(tallies) => all.extend(tallies),
                Err(_) => bail!("a trial panicked; what it said stands above"),
            }
        }
        all.sort_by_key(|(place, _)| *place);
        Ok(all.into_iter().map(|(place, tally)| (&ROWS[place], tally)).collect())
    })
}

/// Returns what a row misses, with its name.
fn named(row: &Row, tally: &Tally) -> Vec<String> {
    let misses = row.misses(tally);
    misses.iter().map(|miss| format!("{}, {}: {miss}", row.name, temper(row.temper))).collect()
}

fn temper(temper: Temper) -> &'static str {
    match temper {
        Temper::Steady => "steady",
        Temper::Switching => "switching",
    }
}

/// The table of all rows.
fn table(tallies: &[(&Row, Tally)], seeds: u64) -> String {
    let mut text = format!(
        "The paired experiment on model drives: seeds 1 to {seeds}, at most {} pairs that count.\n\
         found: pairs run until the interval excluded 1, half of all trials and 90 % of them;\n\
         in time: trials that found it within the bound, of which 90 % must;\n\
         pairs: those run until the end; truth: trials whose last interval holds it;\n\
         false: trials without an effect that end in penalty or small.\n\n\
         {:<11} {:<10} {:>6} {:>6} {:>6} {:>8} {:>6} {:>6} {:>8} {:>5}   {}\n",
        trial::PAIRS_MAX,
        "effect",
        "drive",
        "found",
        "90 %",
        "bound",
        "in time",
        "pairs",
        "90 %",
        "truth",
        "false",
        "penalty, none, small, open, void",
    );
    for (row, tally) in tallies {
        let pairs = |pairs: Option<u64>| pairs.map_or("-".to_owned(), |pairs| pairs.to_string());
        let wrong = row.is_same().then(|| tally.penalty_or_small());
        let in_time = row.found_within.map(|within| tally.found_within(within));
        let verdicts: Vec<String> = tally.verdicts.iter().map(ToString::to_string).collect();
        text += &format!(
            "{:<11} {:<10} {:>6} {:>6} {:>6} {:>8} {:>6} {:>6} {:>8} {:>5}   {}\n",
            row.name,
            temper(row.temper),
            pairs(tally.found_at(50)),
            pairs(tally.found_at(90)),
            pairs(row.found_within),
            in_time.map_or("-".to_owned(), |found| format!("{found}/{}", tally.trials)),
            tally.pairs(50),
            tally.pairs(90),
            format!("{}/{}", tally.covered, tally.trials),
            pairs(wrong),
            verdicts.join(", "),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_each_row_and_a_missed_bound_is_named() {
        let row = Row { found_within: Some(1), ..ROWS[2] };
        let tallies = [(&row, row.tally(1..=3))];
        let text = table(&tallies, 3);
        assert!(text.lines().last().unwrap().starts_with("3x          steady"), "{text}");
        let misses = named(&row, &tallies[0].1);
        assert!(
            misses[0].starts_with("3x, steady: 0 of 3 are found within 1 pairs, not 2"),
            "{misses:?}"
        );
    }
}
