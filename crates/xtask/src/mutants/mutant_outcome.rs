//! Outcome of a mutation, from the output of its test.

use super::mutation::Mutation;

/// Output of a test executable, and of the build before it.
#[derive(Clone, Debug, Default)]
pub(super) struct TestOutput {
    /// Lines of the test harness; none where nothing was built.
    pub(super) harness: String,
    /// Words of cargo.
    pub(super) cargo: String,
    /// True if it was ended since it took too long.
    pub(super) is_hang: bool,
}

/// Outcome of a mutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MutantOutcome {
    /// Its test failed.
    Killed,
    /// Its test passed.
    Survived,
    /// The line occurs so often, and not once.
    Stale(usize),
    /// The compiler refused it.
    DoesNotCompile(String),
    /// Its test fails, or does not run, without the mutation.
    FailsUnmutated(String),
    /// Its test took too long.
    Hangs,
    /// Its test neither passed nor failed.
    NotRun(String),
}

impl MutantOutcome {
    /// Returns what `output` says of a mutation whose test has this path.
    pub(super) fn of(output: &TestOutput, path: &str) -> MutantOutcome {
        let ended = |word: &str| has_line(output, &format!("test {path} ... {word}"));
        let is_built = output.harness.lines().any(|line| line.starts_with("running "));
        match () {
            () if output.is_hang => MutantOutcome::Hangs,
            () if ended("FAILED") => MutantOutcome::Killed,
            () if ended("ok") => MutantOutcome::Survived,
            () if is_built => MutantOutcome::NotRun(output.harness.clone() + &output.cargo),
            () => MutantOutcome::DoesNotCompile(output.cargo.clone()),
        }
    }

    /// A line on `mutation` of `package`; more where something is to be mended.
    pub(super) fn text(&self, package: &str, mutation: &Mutation) -> String {
        let (word, why) = match self {
            MutantOutcome::Killed => ("killed", String::new()),
            MutantOutcome::Survived => ("SURVIVED", String::new()),
            MutantOutcome::Stale(count) => {
                ("STALE", format!("its line occurs {count} times in {}; ", mutation.file))
            }
            MutantOutcome::DoesNotCompile(said) => ("DOES NOT COMPILE", format!("{said}\n")),
            MutantOutcome::FailsUnmutated(said) => ("FAILS UNMUTATED", format!("{said}\n")),
            MutantOutcome::Hangs => ("HANGS", String::new()),
            MutantOutcome::NotRun(said) => ("NOT RUN", format!("{said}\n")),
        };
        format!("{why}{word} {package} {}: {}", mutation.name, mutation.test.path())
    }
}

/// Returns whether the harness printed that the test with this path passed.
pub(super) fn passed(output: &TestOutput, path: &str) -> bool {
    has_line(output, &format!("test {path} ... ok"))
}

fn has_line(output: &TestOutput, wanted: &str) -> bool {
    output.harness.lines().any(|line| line == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(harness: &str) -> MutantOutcome {
        let cargo = "error: it is so".to_owned();
        let output = TestOutput { harness: harness.to_owned(), cargo, is_hang: false };
        MutantOutcome::of(&output, "a::sums")
    }

    #[test]
    fn only_the_named_test_that_fails_kills() {
        assert_eq!(outcome("\nrunning 1 test\ntest a::sums ... FAILED\n"), MutantOutcome::Killed);
        assert_eq!(outcome("\nrunning 1 test\ntest a::sums ... ok\n"), MutantOutcome::Survived);
        for harness in [
            "running 0 tests\n\ntest result: ok. 0 passed",
            "running 1 test\ntest b::a::sums ... FAILED",
            // The process ended within the test.
            "running 1 test\ntest a::sums ... ",
        ] {
            assert!(matches!(outcome(harness), MutantOutcome::NotRun(_)), "{harness}");
        }
    }

    #[test]
    fn a_mutation_that_does_not_compile_or_hangs_is_not_killed() {
        let refused = MutantOutcome::DoesNotCompile("error: it is so".to_owned());
        assert_eq!(outcome(""), refused);
        let harness = "running 1 test\n".to_owned();
        let output = TestOutput { harness, is_hang: true, ..TestOutput::default() };
        assert_eq!(MutantOutcome::of(&output, "a::sums"), MutantOutcome::Hangs);
    }
}
