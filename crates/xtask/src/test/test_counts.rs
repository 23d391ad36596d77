//! Counts of tests that passed, failed, were skipped, or passed only when they ran again.

use std::collections::BTreeSet;

use super::run_result::RunResult;

/// Results counted so far.
#[derive(Debug, Default)]
pub(super) struct TestCounts {
    passed: u64,
    pub(super) failed: u64,
    skipped: u64,
    /// Each skipped test and why.
    reasons: Vec<String>,
    /// Names of tests that failed, and faults outside of tests.
    failures: Vec<String>,
    /// Tests that missed a tolerance, and then passed alone: the name and the values of each.
    flaky: Vec<String>,
}

impl TestCounts {
    /// Adds the results of an executable. A test that skipped counts as passed for the harness, so
    /// it is taken off there; one that named several reasons is one test.
    pub(super) fn add(&mut self, result: &RunResult) {
        let skips: BTreeSet<&str> = result.skips.iter().map(|(test, _)| test.as_str()).collect();
        let skipped = u64::try_from(skips.len()).unwrap_or(0);
        self.passed += result.passed.saturating_sub(skipped);
        self.skipped += result.ignored + skipped;
        self.failed += result.failures();
        self.failures.extend(result.failed_names().into_iter().map(ToOwned::to_owned));
        let reason = |(test, reason): &(String, String)| format!("{test}: {reason}");
        self.reasons.extend(result.skips.iter().map(reason));
        self.flaky.extend_from_slice(&result.flaky);
    }

    /// Returns the number of tests that are counted.
    pub(super) fn tests(&self) -> u64 {
        self.passed + self.failed + self.skipped
    }

    /// The last lines of a run: skipped, failed and flaky tests, and the counts.
    pub(super) fn text(&self) -> String {
        let lines = |word: &str, names: &[String]| -> String {
            names.iter().map(|name| format!("{word}: {name}\n")).collect()
        };
        format!(
            "{}{}{}{} passed, {} failed, {} skipped",
            lines("skipped", &self.reasons),
            lines("failed", &self.failures),
            lines("flaky", &self.flaky),
            self.passed,
            self.failed,
            self.skipped
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::harness_output::FailedTest;

    #[test]
    fn results_are_summed_and_skips_are_taken_off() {
        let mut counts = TestCounts::default();
        let skip = |test: &str, reason: &str| (test.to_owned(), reason.to_owned());
        let skips = vec![skip("a", "needs x"), skip("a", "needs y"), skip("b", "needs x")];
        counts.add(&RunResult { passed: 5, ignored: 1, skips, ..RunResult::default() });
        let failed = FailedTest { name: "d".to_owned(), output: String::new() };
        counts.add(&RunResult {
            passed: 10,
            failed: vec![failed],
            flaky: vec!["c: 5 of 6".to_owned()],
            ..RunResult::default()
        });
        assert_eq!(
            counts.text(),
            "skipped: a: needs x\nskipped: a: needs y\nskipped: b: needs x\nfailed: d\n\
             flaky: c: 5 of 6\n13 passed, 1 failed, 3 skipped"
        );
        assert_eq!(counts.tests(), 17);
    }
}
