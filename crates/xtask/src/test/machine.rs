//! Tests that measure this machine: a missed tolerance is tried again, alone, up to twice more.

use super::harness_output::FailedTest;
use super::run_result::{RunResult, TestRunner};
use super::test_run::TestRun;

/// Number of times that a test may miss its tolerance, the first one included.
const MISSES: usize = 3;
/// True as long as tests measure that do not mark a missed tolerance: any failure is one then.
const IS_UNMARKED_RETRIED: bool = true;

/// Runs `run`, and again each test that missed its tolerance; both outputs of one that then passes
/// are shown.
///
/// # Errors
/// When it cannot be started.
pub(super) fn measured(
    runner: &dyn TestRunner,
    run: &TestRun,
    show: &mut dyn FnMut(&str),
) -> anyhow::Result<RunResult> {
    let mut result = RunResult::of(runner, run, show)?;
    for test in std::mem::take(&mut result.failed) {
        if is_retried(&test) {
            if !test.is_missed_tolerance() {
                result.unmarked.push(test.name.clone());
            }
            retried(runner, run, test, &mut result, show)?;
        } else {
            result.failed.push(test);
        }
    }
    Ok(result)
}

fn is_retried(test: &FailedTest) -> bool {
    test.is_missed_tolerance() || IS_UNMARKED_RETRIED
}

/// Runs `test` alone until it passes or has failed, and adds what came out to `result`.
fn retried(
    runner: &dyn TestRunner,
    run: &TestRun,
    test: FailedTest,
    result: &mut RunResult,
    show: &mut dyn FnMut(&str),
) -> anyhow::Result<()> {
    let name = test.name.clone();
    let alone = run.alone(&name);
    let mut failed = test;
    for _ in 1..MISSES {
        show(&format!("\n{name} missed its tolerance: once more, alone"));
        let mut output = String::new();
        let again = RunResult::of(runner, &alone, &mut |line| output += &format!("{line}\n"))?;
        if again.failures() == 0 && again.passed > 0 {
            show(&format!(
                "FLAKY {name}\n---- failed ----\n{}\n---- passed ----\n{output}",
                failed.output
            ));
            result.passed += 1;
            result.flaky.push(name);
            return Ok(());
        }
        show(&output);
        again.faults.iter().for_each(|fault| show(fault));
        let is_again = again.faults.is_empty() && again.failed.iter().all(is_retried);
        match again.failed.into_iter().next() {
            Some(next) if is_again => failed = next,
            _ => break,
        }
    }
    show(&format!("{name} failed"));
    result.failed.push(failed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::planned::{PlannedTests, crash, failing, hang, passing};

    /// Returns the number of passed and failed tests, the flaky and the unmarked ones, and the
    /// words of each run.
    fn result(answers: Vec<(String, bool)>) -> (u64, u64, Vec<String>, Vec<String>, Vec<String>) {
        let runner = PlannedTests::of(answers);
        let run = TestRun::asked(&[], &[]);
        let result = measured(&runner, &run, &mut |_| {}).unwrap();
        let asked = runner.finished();
        (result.passed, result.failures(), result.flaky, result.unmarked, asked)
    }

    #[test]
    fn a_test_that_misses_its_tolerance_once_or_twice_is_flaky_and_passes() {
        let missed = || failing(&["a::b"], "missed tolerance: 5 of 6");
        let (passed, failed, flaky, unmarked, asked) = result(vec![missed(), passing(1)]);
        assert_eq!((passed, failed, flaky), (3, 0, vec!["a::b".to_owned()]));
        assert_eq!(asked, ["", "--exact a::b --show-output"]);
        assert!(unmarked.is_empty());
        let (passed, failed, flaky, ..) = result(vec![missed(), missed(), passing(1)]);
        assert_eq!((passed, failed, flaky.len()), (3, 0, 1));
    }

    #[test]
    fn the_third_miss_is_a_failure() {
        let missed = || failing(&["a"], "missed tolerance: 5 of 6");
        let (passed, failed, flaky, _, asked) = result(vec![missed(), missed(), missed()]);
        assert_eq!((passed, failed, flaky.len(), asked.len()), (2, 1, 0, 3));
    }

    #[test]
    fn another_try_that_hangs_crashes_or_finds_no_test_is_the_last() {
        for again in [hang("a"), crash(), passing(0)] {
            let missed = failing(&["a"], "missed tolerance: 5 of 6");
            let (passed, failed, flaky, ..) = result(vec![missed, again]);
            assert_eq!((passed, failed, flaky.len()), (2, 1, 0));
        }
    }

    #[test]
    fn a_crash_and_a_hang_are_failures_and_do_not_run_again() {
        for first in [crash(), hang("a")] {
            let (passed, failed, _, _, asked) = result(vec![first]);
            assert_eq!((passed, failed, asked.len()), (0, 1, 1));
        }
    }

    #[test]
    fn a_test_that_does_not_mark_its_miss_is_named() {
        let (.., unmarked, _) = result(vec![failing(&["a"], "it was slow"), passing(1)]);
        assert_eq!(unmarked, ["a"]);
    }
}
