//! Results of one start of tests, or of several starts of the same tests.

use super::harness_output::{EndedTest, FailedTest, HarnessOutput};
use super::test_run::TestRun;

/// End of a start of tests, besides what it printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ran {
    /// True if it exited with success.
    pub(super) is_good: bool,
    /// Name of the test for which it was killed.
    pub(super) hung: Option<String>,
    /// Things that it left behind, each as a line.
    pub(super) left: Vec<String>,
    /// Skipped tests: a line for each reason, with the test's name and a tab before it.
    pub(super) skips: String,
}

/// Starts tests. Processes do; a test of this crate pretends to.
pub(super) trait TestRunner {
    /// Runs tests and hands on each line that they print.
    fn run(&self, run: &TestRun, line: &mut dyn FnMut(&str)) -> anyhow::Result<Ran>;
}

/// Results of the tests of one executable.
#[derive(Debug, Default)]
pub(super) struct RunResult {
    pub(super) passed: u64,
    pub(super) ignored: u64,
    pub(super) failed: Vec<FailedTest>,
    /// Faults outside of a test, each as a line.
    pub(super) faults: Vec<String>,
    /// Skipped tests, each with a reason.
    pub(super) skips: Vec<(String, String)>,
    /// Tests with the seconds that each took.
    pub(super) times: Vec<(String, f64)>,
    /// Tests that missed a tolerance, and passed alone: the name and the values of each.
    pub(super) flaky: Vec<String>,
}

impl RunResult {
    /// Runs `run` and gives each line to `show`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn of(
        runner: &dyn TestRunner,
        run: &TestRun,
        show: &mut dyn FnMut(&str),
    ) -> anyhow::Result<RunResult> {
        let mut result = RunResult::default();
        let mut output = HarnessOutput::default();
        let ran = runner.run(run, &mut |line| {
            show(line);
            if let Some(EndedTest { name, seconds: Some(seconds) }) = EndedTest::read(line) {
                result.times.push((name, seconds));
            }
            if let Some(counts) = output.read(line) {
                result.passed += counts.passed;
                result.ignored += counts.ignored;
            }
        })?;
        let unfinished = output.unfinished();
        result.failed = output.failed;
        result.take(ran, unfinished, run.name());
        Ok(result)
    }

    /// Adds what `ran` says of the run `name`.
    fn take(&mut self, ran: Ran, unfinished: u64, name: &str) {
        if let Some(test) = ran.hung {
            self.faults.push(format!("HANG {test} ({name})"));
        } else if !ran.is_good && (self.failed.is_empty() || unfinished > 0) {
            self.faults.push(format!("{name} failed outside a test"));
        }
        if !ran.left.is_empty() {
            let left = ran.left.join("\nLEFT BEHIND: ");
            self.faults.push(format!("{name} left things\nLEFT BEHIND: {left}"));
        }
        for line in ran.skips.lines() {
            let (test, reason) = line.split_once('\t').unwrap_or((line, "no reason given"));
            self.skips.push((test.to_owned(), reason.to_owned()));
        }
    }

    /// Adds the results of the same tests, which ran another time: what fails once has failed.
    pub(super) fn repeated(&mut self, other: RunResult) {
        for test in other.failed {
            if self.failed.iter().all(|known| known.name != test.name) {
                self.passed = self.passed.saturating_sub(1);
                self.failed.push(test);
            }
        }
        for fault in other.faults {
            if !self.faults.contains(&fault) {
                self.faults.push(fault);
            }
        }
        for (name, seconds) in other.times {
            match self.times.iter_mut().find(|(known, _)| *known == name) {
                Some((_, most)) => *most = most.max(seconds),
                None => self.times.push((name, seconds)),
            }
        }
    }

    /// Returns the number of tests that failed, and of faults outside of tests.
    pub(super) fn failures(&self) -> u64 {
        u64::try_from(self.failed.len() + self.faults.len()).unwrap_or(u64::MAX)
    }

    /// Returns the names of what failed.
    pub(super) fn failed_names(&self) -> Vec<&str> {
        let tests = self.failed.iter().map(|test| test.name.as_str());
        tests.chain(self.faults.iter().filter_map(|fault| fault.lines().next())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(name: &str) -> FailedTest {
        FailedTest { name: name.to_owned(), output: String::new() }
    }

    #[test]
    fn what_fails_in_one_of_two_runs_has_failed_once() {
        let mut first = RunResult { passed: 9, failed: vec![failed("a")], ..RunResult::default() };
        let second = RunResult {
            passed: 8,
            failed: vec![failed("a"), failed("b")],
            faults: vec!["HANG c (d)".to_owned()],
            times: vec![("e".to_owned(), 2.0)],
            ..RunResult::default()
        };
        first.times = vec![("e".to_owned(), 1.0)];
        first.repeated(second);
        assert_eq!((first.passed, first.failures()), (8, 3));
        assert_eq!(first.failed_names(), ["a", "b", "HANG c (d)"]);
        assert_eq!(first.times, [("e".to_owned(), 2.0)]);
    }
}
