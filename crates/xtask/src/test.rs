//! Every test, with the skipped ones counted and nothing left behind.
//!
//! Tests that measure run one at a time, after all others. One of those that fails runs once more,
//! alone: where it then passes it is called flaky, and both outputs are shown.

mod harness_output;
mod test_counts;
mod test_run;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context as _;

use self::harness_output::{FailedTest, HarnessOutput};
use self::test_counts::TestCounts;
use self::test_run::TestRun;
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
    let (runs, guests) = match &arguments[..] {
        [] => (TestRun::all()?, guest::results()),
        asked => (vec![TestRun::asked(asked)], Vec::new()),
    };
    let mut cargo = CargoTests { directory: room.path(), skips: &skips, guests };
    let mut counts = TestCounts::default();
    for run in &runs {
        counted(&mut cargo, run, &mut counts, &skips)?;
    }
    let left = room.leftovers()?;
    for line in &left {
        println!("LEFT BEHIND: {line}");
    }
    counts.failed += u64::from(!left.is_empty());
    println!("\n{}", counts.text());
    Ok(counts.failed == 0)
}

/// Runs tests. Cargo does; a test of this file pretends to.
trait TestRunner {
    /// Runs tests and hands on each line that they print; returns whether all was well.
    fn run(&mut self, run: &TestRun, line: &mut dyn FnMut(&str)) -> anyhow::Result<bool>;
}

/// Adds the tests of `run` to `counts`.
fn counted(
    runner: &mut dyn TestRunner,
    run: &TestRun,
    counts: &mut TestCounts,
    skips: &Path,
) -> anyhow::Result<()> {
    let failed_before = counts.failed;
    let mut output = HarnessOutput::default();
    let is_good = runner.run(run, &mut |line| {
        println!("{line}");
        if let Some(result) = output.read(line) {
            counts.add(&result);
            counts.skips(skips);
        }
    })?;
    counts.skips(skips);
    if !is_good && (counts.failed == failed_before || output.unfinished() > 0) {
        println!("\ncargo test failed outside a test");
        counts.failed += 1;
    }
    for test in output.failed.iter().filter(|_| run.is_retried) {
        if is_flaky(runner, run, test)? {
            counts.forgive(&test.name);
            counts.skips(skips);
        }
    }
    Ok(())
}

/// Returns whether `test`, which failed in `run`, passes when it runs alone; shows both outputs if
/// so.
fn is_flaky(runner: &mut dyn TestRunner, run: &TestRun, test: &FailedTest) -> anyhow::Result<bool> {
    let FailedTest { name, output: first } = test;
    println!("\n{name} failed: once more, alone");
    let (mut second, mut passed) = (String::new(), 0);
    let mut output = HarnessOutput::default();
    let is_good = runner.run(&run.alone(name), &mut |line| {
        second += &format!("{line}\n");
        passed += output.read(line).map_or(0, |result| result.passed);
    })?;
    let is_flaky = is_good && passed > 0;
    match is_flaky {
        true => println!("FLAKY {name}\n---- failed ----\n{first}\n---- passed ----\n{second}"),
        false => println!("{second}\n{name} failed twice"),
    }
    Ok(is_flaky)
}

/// Cargo, which runs the project's tests.
struct CargoTests<'a> {
    /// Directory for temporary files.
    directory: &'a Path,
    /// File in which tests note that they were skipped.
    skips: &'a Path,
    /// Results of guests, with the variables that name them.
    guests: Vec<(&'static str, PathBuf)>,
}

impl TestRunner for CargoTests<'_> {
    fn run(&mut self, run: &TestRun, line: &mut dyn FnMut(&str)) -> anyhow::Result<bool> {
        let mut command = cargo(&["test", "--workspace", "--locked", "--no-fail-fast"]);
        command.args(&run.cargo).arg("--").args(&run.harness);
        command.env("STRADDLE_TESTS", "full").env("STRADDLE_SKIPS", self.skips);
        command.env("TMPDIR", self.directory).envs(self.guests.iter().cloned());
        match run.is_serial {
            true => command.env("RUST_TEST_THREADS", "1"),
            false if std::env::var_os("RUST_TEST_THREADS").is_some() => &mut command,
            false => command.env("RUST_TEST_THREADS", threads().to_string()),
        };
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
        let output = child.stdout.take().context("cargo's output is piped")?;
        for read in BufReader::new(output).split(b'\n') {
            line(&String::from_utf8_lossy(&read.context("cannot read cargo's output")?));
        }
        Ok(child.wait().context("cannot wait for cargo")?.success())
    }
}

/// Returns how many tests of a program run at once: two for each processor, since half of a test's
/// time is spent waiting for disks and for the seconds of a measurement.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, |processors| processors.get() * 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints what was planned, one text and one ending for each run.
    struct PlannedTests {
        answers: Vec<(String, bool)>,
        asked: Vec<TestRun>,
    }

    impl TestRunner for PlannedTests {
        fn run(&mut self, run: &TestRun, line: &mut dyn FnMut(&str)) -> anyhow::Result<bool> {
            self.asked.push(run.clone());
            let (text, is_good) = self.answers.remove(0);
            text.lines().for_each(line);
            Ok(is_good)
        }
    }

    fn failing(names: &[&str]) -> (String, bool) {
        let output: String =
            names.iter().map(|name| format!("---- {name} stdout ----\nit was slow\n\n")).collect();
        let list: String = names.iter().map(|name| format!("    {name}\n")).collect();
        let failed = names.len();
        let text = format!(
            "running 3 tests\n\nfailures:\n\n{output}\nfailures:\n{list}\n\
             test result: FAILED. {} passed; {failed} failed; 0 ignored; finished in 0.1s",
            3 - failed
        );
        (text, false)
    }

    fn passing(count: u64) -> (String, bool) {
        let text = format!(
            "running {count} tests\n\ntest result: ok. {count} passed; 0 failed; 0 ignored; x"
        );
        (text, true)
    }

    /// Returns the last lines after `answers`, and the harness's words of each run.
    fn result(line: &[&str], answers: Vec<(String, bool)>) -> (String, Vec<String>) {
        let mut runner = PlannedTests { answers, asked: Vec::new() };
        let mut counts = TestCounts::default();
        let skips = Path::new("/nonexistent/skips");
        counted(&mut runner, &TestRun::asked(line), &mut counts, skips).unwrap();
        assert!(runner.answers.is_empty(), "all were asked for");
        let asked = runner.asked.iter().map(|run| run.harness.join(" ")).collect();
        (counts.text(), asked)
    }

    const MEASURE: [&str; 2] = ["--test", "measure"];

    #[test]
    fn a_test_that_fails_once_is_flaky_and_passes() {
        let (text, asked) = result(&MEASURE, vec![failing(&["a::b"]), passing(1)]);
        assert_eq!(text, "flaky: a::b\n3 passed, 0 failed, 0 skipped");
        assert_eq!(asked, ["", "--exact a::b --show-output"]);
    }

    #[test]
    fn a_test_that_fails_twice_fails() {
        let answers = vec![failing(&["a", "b"]), failing(&["a"]), passing(1)];
        let (text, asked) = result(&MEASURE, answers);
        assert_eq!(text, "flaky: b\n2 passed, 1 failed, 0 skipped");
        assert_eq!(asked.len(), 3);
    }

    #[test]
    fn a_second_try_that_finds_no_test_or_crashes_is_a_failure() {
        for second in [passing(0), ("running 1 test".to_owned(), false)] {
            let (text, _) = result(&MEASURE, vec![failing(&["a"]), second]);
            assert_eq!(text, "2 passed, 1 failed, 0 skipped");
        }
    }

    #[test]
    fn an_executable_that_crashes_is_a_failure_and_does_not_run_again() {
        let crash = || ("running 9 tests\ntest a ... ok".to_owned(), false);
        let (text, _) = result(&MEASURE, vec![crash()]);
        assert_eq!(text, "0 passed, 1 failed, 0 skipped");
        let both = (format!("{}\n{}", failing(&["a"]).0, crash().0), false);
        let (text, _) = result(&MEASURE, vec![both, passing(1)]);
        assert_eq!(text, "flaky: a\n3 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn no_other_test_gets_a_second_try() {
        let (text, asked) = result(&["--test", "system"], vec![failing(&["a"])]);
        assert_eq!(text, "2 passed, 1 failed, 0 skipped");
        assert_eq!(asked.len(), 1);
    }
}
