//! Runs of a lane, repeated over as many sittings as it takes.

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

use super::asked::Asked;
use super::executable::TestExecutable;
use super::lane::Lane;
use super::ledger::{Entry, Ledger};
use super::load::Load;
use super::machine::measured;
use super::run_result::{RunResult, TestRunner};
use super::suite::{THREADS, shuffled};
use super::test_run::TestRun;

/// Runs each executable of the lanes that were asked for until the ledger counts so many runs of
/// its content; true if nothing failed.
///
/// # Errors
/// When an executable cannot be started or read, or the ledger cannot be written.
pub(super) fn repeat<Runner: TestRunner + Sync>(
    runner: &Runner,
    executables: &[TestExecutable],
    asked: &Asked,
    seed: u64,
) -> anyhow::Result<bool> {
    let runs = asked.runs.unwrap_or(0);
    let mut ledger = Ledger::open(&asked.ledger)?;
    let commit = head();
    let own = executables.iter().filter(|one| asked.lanes.contains(&one.lane()));
    let hashed = |one| Ok((one, hash(one, &commit)?));
    let own = own.map(hashed).collect::<anyhow::Result<Vec<(&TestExecutable, String)>>>()?;
    let load = if asked.is_loaded { "loaded" } else { "quiet" };
    let _beside = asked.is_loaded.then(Load::start).transpose()?;
    let mut is_good = true;
    for number in 0..runs {
        for (executable, hash) in &own {
            // The one that ran least often comes first, over all sittings.
            if ledger.runs(&executable.name, hash, load) > number {
                continue;
            }
            let seed = seed.wrapping_add(number);
            let result = once(runner, executable, seed)?;
            is_good &= result.failures() == 0;
            let flaky = result.flaky.iter().map(|name| format!("flaky {name}"));
            let failed = result.failed_names().into_iter().map(ToOwned::to_owned);
            let names: Vec<String> = failed.chain(flaky).collect();
            println!(
                "{}: run {} of {runs}, {load}: {} passed, {} failed {}",
                executable.name,
                number + 1,
                result.passed,
                result.failures(),
                names.join(",")
            );
            ledger.add(Entry {
                commit: commit.clone(),
                executable: executable.name.clone(),
                hash: hash.clone(),
                lane: executable.lane().word().to_owned(),
                load: load.to_owned(),
                seed,
                passed: result.passed,
                failed: result.failures(),
                names,
            })?;
        }
    }
    print!("{}", ledger.sums());
    Ok(is_good)
}

/// Runs an executable once, as its lane does; prints the output only where something failed.
fn once<Runner: TestRunner + Sync>(
    runner: &Runner,
    executable: &TestExecutable,
    seed: u64,
) -> anyhow::Result<RunResult> {
    if executable.lane() == Lane::Logic {
        let mut both = RunResult::default();
        for (place, threads) in THREADS.into_iter().enumerate() {
            let run = shuffled(runner, &[executable], threads, seed, 1)?.pop();
            let run = run.context("an executable has a result")?;
            if place == 0 { both = run } else { both.repeated(run) }
        }
        return Ok(both);
    }
    let run = TestRun::of(executable);
    let mut output = String::new();
    let mut show = |line: &str| output += &format!("{line}\n");
    let result = match run.is_measuring() {
        true => measured(runner, &run, &mut show)?,
        false => RunResult::of(runner, &run, &mut show)?,
    };
    if result.failures() > 0 || !result.flaky.is_empty() {
        println!("\n== {}\n{output}", executable.name);
    }
    Ok(result)
}

/// The commit that the checkout is at, as the binary knows it.
fn head() -> String {
    let mut git = std::process::Command::new("git");
    let output = git.args(["rev-parse", "--short=12", "HEAD"]).current_dir(crate::root()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.ok().filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}

/// Returns the hash of an executable and of the programs of its package. The commit, which the
/// binary has in it, is left out, so that a commit that changes no code starts no count again.
fn hash(executable: &TestExecutable, commit: &str) -> anyhow::Result<String> {
    let mut hasher = Sha256::new();
    for path in std::iter::once(&executable.path).chain(&executable.programs) {
        let read = std::fs::read(path);
        let bytes = read.with_context(|| format!("cannot read {}", path.display()))?;
        hasher.update(without(&bytes, commit.as_bytes()));
    }
    let digest = hasher.finalize();
    Ok(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// Returns `bytes` without each occurrence of `word`.
fn without(bytes: &[u8], word: &[u8]) -> Vec<u8> {
    let mut rest = bytes;
    let mut kept = Vec::with_capacity(bytes.len());
    while let Some((first, others)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(word).filter(|_| !word.is_empty()) {
            rest = behind;
        } else {
            kept.push(*first);
            rest = others;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::lane::Standing;
    use crate::test::planned::{PlannedTests, failing, passing};

    #[test]
    fn a_sitting_goes_on_where_the_last_one_ended() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("program");
        let executable = TestExecutable {
            name: "a system".to_owned(),
            path: program.clone(),
            directory: "/".into(),
            standing: Standing { lane: Lane::System, is_serial: false },
            programs: Vec::new(),
        };
        let ledger = directory.path().join("runs.tsv");
        let sitting = |runs: &str, answers: Vec<(String, bool)>| {
            let words = ["--runs", runs, "--lane", "system", "--ledger", ledger.to_str().unwrap()];
            let runner = PlannedTests::of(answers);
            let asked = Asked::read(&words).unwrap();
            let is_good = repeat(&runner, std::slice::from_ref(&executable), &asked, 7).unwrap();
            runner.finished();
            is_good
        };
        std::fs::write(&program, "first").unwrap();
        assert!(!sitting("2", vec![passing(3), failing(&["a"], "x")]));
        assert!(sitting("2", Vec::new()));
        assert!(sitting("3", vec![passing(3)]));
        std::fs::write(&program, "second").unwrap();
        assert!(sitting("2", vec![passing(3), passing(3)]));
    }

    #[test]
    fn a_commit_changes_no_hash() {
        assert_eq!(without(b"version c0ffee c0ffe", b"c0ffee"), b"version  c0ffe");
        assert_eq!(without(b"a", b""), b"a");
    }
}
