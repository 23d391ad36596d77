//! Tests that measure this machine: a missed tolerance is tried again, alone, up to twice more.

use super::harness_output::FailedTest;
use super::run_result::{RunResult, TestRunner};
use super::test_run::TestRun;

/// Number of times that a test may miss its tolerance, the first one included.
const MISSES: usize = 3;

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
        match test.missed_tolerance() {
            Some(values) => retried(runner, run, test, values, &mut result, show)?,
            None => result.failed.push(test),
        }
    }
    Ok(result)
}

/// Runs `test`, which missed its tolerance by `values`, alone until it passes or has failed, and
/// adds what came out to `result`.
fn retried(
    runner: &dyn TestRunner,
    run: &TestRun,
    test: FailedTest,
    mut values: String,
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
            result.flaky.push(format!("{name}: {values}"));
            return Ok(());
        }
        show(&output);
        again.faults.iter().for_each(|fault| show(fault));
        let next = again.failed.into_iter().next().filter(|_| again.faults.is_empty());
        let missed = next.and_then(|next| Some((next.missed_tolerance()?, next)));
        let Some((more, next)) = missed else { break };
        values += &format!("; {more}");
        failed = next;
    }
    show(&format!("{name} failed"));
    result.failed.push(failed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::planned::{PlannedTests, crash, failing, hang, passing};

    /// Returns the number of passed and failed tests, the flaky ones, and the words of each run.
    fn result(answers: Vec<(String, bool)>) -> (u64, u64, Vec<String>, Vec<String>) {
        let runner = PlannedTests::of(answers);
        let run = TestRun::asked(&[], &[]);
        let result = measured(&runner, &run, &mut |_| {}).unwrap();
        let asked = runner.finished();
        (result.passed, result.failures(), result.flaky, asked)
    }

    #[test]
    fn a_test_that_misses_its_tolerance_once_or_twice_is_flaky_and_passes() {
        let missed = || failing(&["a::b"], "missed tolerance: 5 of 6");
        let (passed, failed, flaky, asked) = result(vec![missed(), passing(1)]);
        assert_eq!((passed, failed, flaky), (3, 0, vec!["a::b: 5 of 6".to_owned()]));
        assert_eq!(asked, ["", "--exact a::b --show-output"]);
        let (passed, failed, flaky, _) = result(vec![missed(), missed(), passing(1)]);
        assert_eq!((passed, failed, flaky), (3, 0, vec!["a::b: 5 of 6; 5 of 6".to_owned()]));
    }

    #[test]
    fn the_third_miss_is_a_failure() {
        let missed = || failing(&["a"], "missed tolerance: 5 of 6");
        let (passed, failed, flaky, asked) = result(vec![missed(), missed(), missed()]);
        assert_eq!((passed, failed, flaky.len(), asked.len()), (2, 1, 0, 3));
    }

    #[test]
    fn another_try_that_hangs_crashes_finds_no_test_or_fails_otherwise_is_the_last() {
        for again in [hang("a"), crash(), passing(0), failing(&["a"], "it was slow")] {
            let missed = failing(&["a"], "missed tolerance: 5 of 6");
            let (passed, failed, flaky, ..) = result(vec![missed, again]);
            assert_eq!((passed, failed, flaky.len()), (2, 1, 0));
        }
    }

    #[test]
    fn a_failure_that_is_no_missed_tolerance_does_not_run_again() {
        for first in [crash(), hang("a"), failing(&["a"], "it was slow")] {
            let (_, failed, flaky, asked) = result(vec![first]);
            assert_eq!((failed, flaky.len(), asked.len()), (1, 0, 1));
        }
    }
}
