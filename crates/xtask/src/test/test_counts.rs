//! Counts of tests that passed, failed, were skipped, or passed only when they ran again.

use std::collections::BTreeSet;
use std::path::Path;

use super::harness_output::ResultLine;

/// Results counted so far.
#[derive(Debug, Default)]
pub(super) struct TestCounts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    skipped: u64,
    /// Each skipped test and why.
    reasons: Vec<String>,
    /// Tests that failed, and then passed alone.
    flaky: Vec<String>,
    /// Lines of the file of skips that are counted already.
    seen: usize,
}

impl TestCounts {
    /// Adds the counts of a result line.
    pub(super) fn add(&mut self, result: &ResultLine) {
        self.passed += result.passed;
        self.failed += result.failed;
        self.skipped += result.ignored;
    }

    /// Counts the test `name`, which failed, as one that passed.
    pub(super) fn forgive(&mut self, name: &str) {
        self.failed = self.failed.saturating_sub(1);
        self.passed += 1;
        self.flaky.push(name.to_owned());
    }

    /// Counts what was added to the file of skips. A test that skipped counts as passed for the
    /// harness, so it is taken off there; one that named several reasons is one test.
    pub(super) fn skips(&mut self, file: &Path) {
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

    /// The last lines of a run: skipped tests, flaky tests, and the counts.
    pub(super) fn text(&self) -> String {
        let skipped = self.reasons.iter().map(|reason| format!("skipped: {reason}\n"));
        let flaky = self.flaky.iter().map(|name| format!("flaky: {name}\n"));
        let lines: String = skipped.chain(flaky).collect();
        format!("{lines}{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
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
        let add = |counts: &mut TestCounts, line: &str| {
            counts.add(&ResultLine::read(line).expect("a result line"));
        };
        add(&mut counts, "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured");
        std::fs::write(&file, "a\tneeds x\na\tneeds y\nb\tneeds x\n").unwrap();
        counts.skips(&file);
        counts.skips(&file);
        add(&mut counts, "test result: FAILED. 10 passed; 2 failed; 0 ignored; finished in 0.1s");
        counts.forgive("c");
        assert_eq!(
            counts.text(),
            "skipped: a: needs x\nskipped: a: needs y\nskipped: b: needs x\nflaky: c\n\
             14 passed, 1 failed, 3 skipped"
        );
    }
}
