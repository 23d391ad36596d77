//! Every test, with the skipped ones counted and nothing left behind.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use anyhow::Context as _;

use crate::cargo::cargo;
use crate::guest;
use crate::leftovers::RunDirectory;
use crate::packages;

/// Installs missing tools unless `arguments` begin with `--no-install`, runs the full tier of
/// `cargo test` with the other arguments added, and prints as the last line `N passed, N failed, N
/// skipped`. True if all was well.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<bool> {
    let own = arguments.iter().position(|word| *word == "--").unwrap_or(arguments.len());
    let is_no_install = |(place, word): &(usize, &&str)| *place < own && **word == "--no-install";
    match arguments.iter().enumerate().any(|word| is_no_install(&word)) {
        true => packages::name_missing(),
        false => packages::install(),
    }
    let arguments: Vec<&str> = (arguments.iter().enumerate())
        .filter(|word| !is_no_install(word))
        .map(|(_, word)| *word)
        .collect();
    let room = RunDirectory::new()?;
    let notes = tempfile::tempdir().context("cannot make a directory for notes")?;
    let skips = notes.path().join("skips");
    let threads = std::env::var("RUST_TEST_THREADS").unwrap_or_else(|_| threads().to_string());
    let guests = if arguments.is_empty() { guest::results() } else { Vec::new() };
    let mut child = cargo(&["test", "--workspace", "--locked", "--no-fail-fast"])
        .args(&arguments)
        .env("STRADDLE_TESTS", "full")
        .env("STRADDLE_SKIPS", &skips)
        .env("TMPDIR", room.path())
        .env("RUST_TEST_THREADS", threads)
        .envs(guests)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let output = child.stdout.take().context("cargo's output is piped")?;
    let mut counts = TestCounts::default();
    for line in BufReader::new(output).lines() {
        let line = line.context("cannot read cargo's output")?;
        println!("{line}");
        if counts.add(&line) {
            counts.skips(&skips);
        }
    }
    let status = child.wait().context("cannot wait for cargo")?;
    counts.skips(&skips);
    if !status.success() && counts.failed == 0 {
        println!("\ncargo test failed outside a test: {status}");
        counts.failed = 1;
    }
    let left = room.leftovers()?;
    for line in &left {
        println!("LEFT BEHIND: {line}");
    }
    if !left.is_empty() {
        counts.failed += 1;
    }
    println!();
    for reason in &counts.reasons {
        println!("skipped: {reason}");
    }
    println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    Ok(counts.failed == 0 && status.success())
}

/// Returns how many tests of a program run at once: two for each processor, since half of a test's
/// time is spent waiting for disks and for the seconds of a measurement.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, |processors| processors.get() * 2)
}

/// Results counted so far.
#[derive(Debug, Default)]
struct TestCounts {
    passed: u64,
    failed: u64,
    skipped: u64,
    /// Each skipped test and why.
    reasons: Vec<String>,
    /// Lines of the file of skips that are counted already.
    seen: usize,
}

impl TestCounts {
    /// Adds a result line of the test harness; whether it was one.
    fn add(&mut self, line: &str) -> bool {
        let Some(result) = line.strip_prefix("test result: ") else { return false };
        let count = |what: &str| -> u64 {
            let number = result.split([';', '.']).find_map(|part| part.trim().strip_suffix(what));
            number.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        self.passed += count("passed");
        self.failed += count("failed");
        self.skipped += count("ignored");
        true
    }

    /// Counts what was added to the file of skips. A test that skipped counts as passed for the
    /// harness, so it is taken off there; one that named several reasons is one test.
    fn skips(&mut self, file: &Path) {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let mut tests = BTreeSet::new();
        for line in text.lines().skip(self.seen) {
            self.seen += 1;
            let (test, reason) = line.split_once('\t').unwrap_or((line, "no reason given"));
            tests.insert(test.to_owned());
            self.reasons.push(format!("{test}: {reason}"));
        }
        let skipped = u64::try_from(tests.len()).unwrap_or(0);
        self.skipped += skipped;
        self.passed = self.passed.saturating_sub(skipped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_summed_and_skips_are_taken_off() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("skips");
        let mut counts = TestCounts::default();
        assert!(!counts.add("test a ... ok"));
        assert!(
            counts.add("test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered")
        );
        std::fs::write(&file, "a\tneeds x\na\tneeds y\nb\tneeds x\n").unwrap();
        counts.skips(&file);
        counts.skips(&file);
        assert!(
            counts.add("test result: FAILED. 10 passed; 2 failed; 0 ignored; finished in 0.1s")
        );
        assert_eq!((counts.passed, counts.failed, counts.skipped), (13, 2, 3));
        assert_eq!(counts.reasons, ["a: needs x", "a: needs y", "b: needs x"]);
    }
}
