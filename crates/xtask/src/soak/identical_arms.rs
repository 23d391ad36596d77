//! `cargo xtask soak bench`: `straddle bench` on identical arms of this machine's disk, many times:
//! each difference that it finds is false.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context as _, bail};
use report::bench::bench_parse;

use super::soak_directory::SoakSite;
use crate::bench::tools;
use crate::options::Options;
use crate::trials::trials;

/// Of a hundred runs, the most that may find a difference.
const FALSE_PERCENT_MAX: u64 = 2;

/// Makes so many runs and prints how many ended in which verdict; 1 where too many found a
/// difference.
///
/// # Errors
/// When straddle cannot be built, or a run does not measure.
pub(super) fn run(options: &Options<'_>, runs: u64) -> anyhow::Result<usize> {
    let first = options.count("--seed", 1)?;
    let place = SoakSite::of(options)?;
    tools::print_load();
    let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
    // One after the other, since they share the disk.
    let run = |place: &SoakSite, seed| bench(place, seed);
    trials(&[place], first..=first + runs - 1, 1, run, |_, seed, (verdict, reason)| {
        if verdict != "no-penalty" {
            println!("seed {seed}: {verdict}: {reason}");
        }
        *verdicts.entry(verdict).or_default() += 1;
    })?;
    let counts: Vec<String> =
        verdicts.iter().map(|(verdict, count)| format!("{verdict} {count}")).collect();
    println!("{runs} runs of identical arms: {}", counts.join(", "));
    Ok(usize::from(!is_honest(&verdicts, runs)))
}

fn is_honest(verdicts: &BTreeMap<String, u64>, runs: u64) -> bool {
    let wrong: u64 = ["penalty", "small"].iter().filter_map(|word| verdicts.get(*word)).sum();
    wrong * 100 <= runs * FALSE_PERCENT_MAX
}

/// The verdict of one run, and its reason.
fn bench(place: &SoakSite, seed: u64) -> anyhow::Result<(String, String)> {
    let mut command = Command::new(&place.program);
    command.arg("bench").arg(&place.directory);
    command.args(["--shift", "0", "--json", "--seed", &seed.to_string()]);
    let output = tools::output(&mut command)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let document = bench_parse(&String::from_utf8(output.stdout)?)
        .with_context(|| format!("straddle bench: {}: {}", output.status, said.trim()))?;
    match document.experiments.first() {
        Some(experiment) if document.envelope.refusal.is_none() => {
            Ok((experiment.verdict.word().to_owned(), experiment.reason.clone()))
        }
        _ => bail!("straddle bench did not measure: {}: {}", output.status, said.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_four_false_verdicts_of_two_hundred_and_not_five() {
        let verdicts = |penalty, small| {
            [("penalty".to_owned(), penalty), ("small".to_owned(), small)].into_iter().collect()
        };
        assert!(is_honest(&verdicts(2, 2), 200));
        assert!(!is_honest(&verdicts(3, 2), 200));
        assert!(!is_honest(&verdicts(0, 2), 50));
    }
}
