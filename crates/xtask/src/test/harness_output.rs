//! Output of Rust's test harness: results that it counts, and tests that failed.

/// A test that failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FailedTest {
    pub(super) name: String,
    /// Its output, as the harness printed it; empty without any.
    pub(super) output: String,
}

impl FailedTest {
    /// Returns the measured values that missed their tolerance, as the test wrote them; `None`
    /// unless each panic of its output is one of those.
    pub(super) fn missed_tolerance(&self) -> Option<String> {
        let lines: Vec<&str> = self.output.lines().collect();
        let is_panic = |line: &str| line.starts_with("thread '") && line.contains(" panicked at ");
        let panics = lines.windows(2).filter(|pair| is_panic(pair[0]));
        let missed = panics.map(|pair| pair[1].strip_prefix(testkit::tolerance::MISSED));
        let missed = missed.collect::<Option<Vec<&str>>>().unwrap_or_default();
        (!missed.is_empty()).then(|| missed.join("; "))
    }
}

/// A line on which a test ended: `test a::b ... ok <1.234s>`.
#[derive(Debug, PartialEq)]
pub(super) struct EndedTest {
    pub(super) name: String,
    /// Seconds that it took, where the harness prints them.
    pub(super) seconds: Option<f64>,
}

impl EndedTest {
    /// Returns the test that ended, if `line` says so.
    pub(super) fn read(line: &str) -> Option<EndedTest> {
        let (name, ending) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        let (word, time) = ending.split_once(" <").unwrap_or((ending, ""));
        let is_ending = ["ok", "FAILED", "ignored"].iter().any(|known| word.starts_with(known));
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        let seconds = time.strip_suffix("s>").and_then(|seconds| seconds.parse().ok());
        is_ending.then(|| EndedTest { name: name.to_owned(), seconds })
    }
}

/// Number of tests that a result line counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ResultLine {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) ignored: u64,
}

impl ResultLine {
    /// Returns the counts of `line`, if it is a result line.
    pub(super) fn read(line: &str) -> Option<ResultLine> {
        let result = line.strip_prefix("test result: ")?;
        let count = |what: &str| -> u64 {
            let number = result.split([';', '.']).find_map(|part| part.trim().strip_suffix(what));
            number.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        let (passed, failed) = (count("passed"), count("failed"));
        Some(ResultLine { passed, failed, ignored: count("ignored") })
    }
}

/// Printed lines of the executables of one run, read one by one.
#[derive(Debug, Default)]
pub(super) struct HarnessOutput {
    /// Lines of the executable that runs.
    lines: Vec<String>,
    /// True if an executable began, and did not print its result.
    is_open: bool,
    /// Number of executables that ended without a result.
    unfinished: u64,
    pub(super) failed: Vec<FailedTest>,
}

impl HarnessOutput {
    /// Takes the next line; returns its counts if it is a result line.
    pub(super) fn read(&mut self, line: &str) -> Option<ResultLine> {
        if is_beginning(line) {
            self.unfinished += u64::from(self.is_open);
            self.is_open = true;
            self.lines.clear();
        }
        let result = ResultLine::read(line);
        if result.is_some() {
            self.is_open = false;
            self.failed.extend(failed(&self.lines));
            self.lines.clear();
        } else {
            self.lines.push(line.to_owned());
        }
        result
    }

    /// Returns how many executables began and ended without a result: they crashed, or were killed.
    pub(super) fn unfinished(&self) -> u64 {
        self.unfinished + u64::from(self.is_open)
    }
}

/// Returns whether an executable begins: `running 3 tests`, or `running 3 tests (shuffle seed: 7)`.
fn is_beginning(line: &str) -> bool {
    let line = line.split_once(" (shuffle seed: ").map_or(line, |(start, _)| start);
    let count = line.strip_prefix("running ").and_then(|rest| rest.split_once(" test"));
    count.is_some_and(|(count, end)| count.parse::<u64>().is_ok() && matches!(end, "" | "s"))
}

/// The failed tests of an executable that printed `lines`. The last list of names counts, since a
/// test may print anything.
fn failed(lines: &[String]) -> Vec<FailedTest> {
    let Some(list) = lines.iter().rposition(|line| line == "failures:") else {
        return Vec::new();
    };
    let names = lines[list + 1..].iter().map_while(|line| line.strip_prefix("    "));
    let names: Vec<&str> = names.collect();
    let head = |name: &str| format!("---- {name} stdout ----");
    let heads: Vec<String> = names.iter().map(|name| head(name)).collect();
    let output = |head: &String| {
        let Some(at) = lines[..list].iter().position(|line| line == head) else {
            return String::new();
        };
        let own = lines[at + 1..list].iter().take_while(|line| !heads.contains(line));
        own.map(|line| format!("{line}\n")).collect::<String>().trim().to_owned()
    };
    let tests = names.iter().zip(&heads);
    tests
        .map(|(name, head)| FailedTest { name: (*name).to_owned(), output: output(head) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines that the harness of Rust 1.95 printed, of a test that prints like the harness.
    const TWO_FAILED: &str = "
running 4 tests
test a::good ... ok
test a::loud ... FAILED
test mute ... FAILED
test other ... ok

failures:

---- a::loud stdout ----
failures:
    not::one
---- not::one stdout ----

thread 'a::loud' (21) panicked at tests/machine/a.rs:7:9:
assertion failed: is_so
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    a::loud
    mute

test result: FAILED. 2 passed; 2 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.02s
";

    #[test]
    fn a_missed_tolerance_is_one_only_where_nothing_else_panicked() {
        let panic =
            |words: &str| format!("\nthread 'a' (7) panicked at tests/a.rs:7:9:\n{words}\n");
        let missed = panic("missed tolerance: 5 of 6");
        for (output, values) in [
            (missed.clone(), Some("5 of 6")),
            (format!("a line\n{missed}note: run with\n"), Some("5 of 6")),
            (missed.clone() + &panic("missed tolerance: 7"), Some("5 of 6; 7")),
            (missed.clone() + &panic("index out of bounds"), None),
            (panic("it missed tolerance: 5"), None),
            ("missed tolerance: 5\n".to_owned(), None),
            (String::new(), None),
        ] {
            let test = FailedTest { name: "a".to_owned(), output };
            assert_eq!(test.missed_tolerance().as_deref(), values, "{}", test.output);
        }
    }

    #[test]
    fn the_end_of_a_test_is_read_with_its_seconds() {
        let ended = |line: &str| EndedTest::read(line).map(|test| (test.name, test.seconds));
        assert_eq!(ended("test a::b ... ok <1.234s>"), Some(("a::b".to_owned(), Some(1.234))));
        assert_eq!(ended("test a ... FAILED"), Some(("a".to_owned(), None)));
        assert_eq!(ended("test a - should panic ... ok"), Some(("a".to_owned(), None)));
        assert_eq!(ended("test a ... ignored, reason"), Some(("a".to_owned(), None)));
        assert_eq!(ended("test a has been running for over 60 seconds"), None);
        assert_eq!(ended("test result: ok. 1 passed; 0 failed"), None);
        assert_eq!(ended("test a ... "), None);
    }

    fn read(text: &str) -> (HarnessOutput, Vec<ResultLine>) {
        let mut output = HarnessOutput::default();
        let results = text.lines().filter_map(|line| output.read(line)).collect();
        (output, results)
    }

    #[test]
    fn failed_tests_are_read_with_their_output() {
        let (output, results) = read(TWO_FAILED);
        assert_eq!(results, [ResultLine { passed: 2, failed: 2, ignored: 1 }]);
        let names: Vec<&str> = output.failed.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(names, ["a::loud", "mute"]);
        let said = &output.failed[0].output;
        assert!(said.starts_with("failures:\n    not::one\n"), "{said}");
        assert!(said.ends_with("environment variable to display a backtrace"), "{said}");
        assert_eq!(output.failed[1].output, "");
        assert_eq!(output.unfinished(), 0);
    }

    #[test]
    fn executables_that_end_without_a_result_are_counted() {
        let crash = "\nrunning 2 tests\ntest a ... ok\n";
        let good = "\nrunning 1 test\ntest b ... ok\n\ntest result: ok. 1 passed; 0 failed; \
                    0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        for (text, unfinished) in [
            (format!("{good}{crash}"), 1),
            (format!("{crash}{good}"), 1),
            (format!("{crash}{crash}"), 2),
            ("running 2 tests (shuffle seed: 7)\ntest a ... ok\n".to_owned(), 1),
            (format!("{good}{good}running late\n"), 0),
        ] {
            assert_eq!(read(&text).0.unfinished(), unfinished, "{text}");
        }
    }
}
