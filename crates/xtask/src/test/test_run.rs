//! One start of a test executable, or of cargo test: what it runs, and how many tests at once.

use super::executable::TestExecutable;
use super::lane::{Lane, Standing};

/// Program that is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// Cargo, with words after `cargo test --workspace`.
    Cargo(Vec<String>),
    Executable(TestExecutable),
}

/// One start of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestRun {
    pub(super) program: Program,
    /// Words to the harness.
    pub(super) harness: Vec<String>,
    /// Number of tests that run at once; what the harness likes where it is not given.
    pub(super) threads: Option<usize>,
    /// True if it runs where there is nothing but its code.
    pub(super) is_isolated: bool,
}

impl TestRun {
    /// Returns the run of an executable's tests as its lane runs them.
    pub(super) fn of(executable: &TestExecutable) -> TestRun {
        let threads = if executable.standing.is_serial { 1 } else { threads() };
        TestRun {
            program: Program::Executable(executable.clone()),
            harness: Vec::new(),
            threads: Some(threads),
            is_isolated: false,
        }
    }

    /// Returns the run of an executable of the logic lane, with its tests in the order of `seed`.
    pub(super) fn shuffled(executable: &TestExecutable, threads: usize, seed: u64) -> TestRun {
        TestRun {
            harness: vec!["--shuffle-seed".to_owned(), seed.to_string()],
            threads: Some(threads),
            is_isolated: true,
            ..TestRun::of(executable)
        }
    }

    /// Returns the run that the words of a command line ask of cargo: one test at a time where they
    /// name an executable that is serial.
    pub(super) fn asked(cargo: &[String], harness: &[String]) -> TestRun {
        let pairs =
            cargo.windows(2).filter(|pair| pair[0] == "--test").map(|pair| pair[1].as_str());
        let joined = cargo.iter().filter_map(|word| word.strip_prefix("--test="));
        let mut named = pairs.chain(joined);
        let is_serial = named.any(|name| Standing::of_tests(name).is_ok_and(|at| at.is_serial));
        TestRun {
            program: Program::Cargo(cargo.to_vec()),
            harness: harness.to_vec(),
            threads: Some(if is_serial { 1 } else { threads() }),
            is_isolated: false,
        }
    }

    /// Returns the run of the test `name` alone, which shows its output also if it passes.
    pub(super) fn alone(&self, name: &str) -> TestRun {
        let harness = ["--exact", name, "--show-output"].map(ToOwned::to_owned).to_vec();
        TestRun { harness, threads: Some(1), ..self.clone() }
    }

    /// Returns the name of what runs.
    pub(super) fn name(&self) -> &str {
        match &self.program {
            Program::Cargo(_) => "cargo test",
            Program::Executable(executable) => &executable.name,
        }
    }

    /// True if what it measures may miss its tolerance by chance.
    pub(super) fn is_measuring(&self) -> bool {
        matches!(&self.program, Program::Executable(one) if one.lane() == Lane::Machine)
    }
}

/// Returns how many tests of a program run at once: two for each processor, since half of a test's
/// time is spent waiting for disks and for the seconds of a measurement.
fn threads() -> usize {
    crate::trials::processors() * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_that_names_a_serial_executable_runs_serially() {
        for (line, is_serial) in [
            ("--test machine watch", true),
            ("--test=machine --test fixes", true),
            ("--test system --test machine", true),
            ("--test fixes", false),
            ("-p units machine", false),
        ] {
            let words: Vec<String> = line.split(' ').map(ToOwned::to_owned).collect();
            assert_eq!(TestRun::asked(&words, &[]).threads == Some(1), is_serial, "{line}");
        }
    }
}
