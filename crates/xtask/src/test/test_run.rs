//! Starts of cargo test: what each runs, and how many tests at once.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::cargo::root;

/// The test executables of which one test runs at a time, with nothing else beside it: they
/// measure, and what runs beside them is part of what they measure.
const QUIET: [&str; 3] = ["measure", "honesty", "exits"];

/// One start of cargo test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestRun {
    /// Words to cargo, after `cargo test --workspace`.
    pub(super) cargo: Vec<String>,
    /// Words to the test executables.
    pub(super) harness: Vec<String>,
    /// True if one test runs at a time.
    pub(super) is_serial: bool,
    /// True if a failed test gets a second try, alone.
    pub(super) is_retried: bool,
}

impl TestRun {
    /// Returns every test, the quiet executables last.
    ///
    /// # Errors
    /// When the test executables cannot be listed.
    pub(super) fn all() -> anyhow::Result<Vec<TestRun>> {
        let mut loud = words(&["--lib", "--bins", "--examples"]);
        let names = executables(&root())?;
        loud.extend(named(names.iter().map(String::as_str).filter(|name| !is_quiet(name))));
        Ok(vec![
            TestRun::of(loud, false),
            TestRun::of(words(&["--doc"]), false),
            TestRun::of(named(QUIET), true),
        ])
    }

    fn of(cargo: Vec<String>, is_quiet: bool) -> TestRun {
        TestRun { cargo, harness: Vec::new(), is_serial: is_quiet, is_retried: is_quiet }
    }

    /// Returns the run that the words of a command line ask for. It is serial where they name a
    /// quiet executable, and tries again where they name no other.
    pub(super) fn asked(arguments: &[&str]) -> TestRun {
        let end = arguments.iter().position(|word| *word == "--").unwrap_or(arguments.len());
        let (cargo, harness) = arguments.split_at(end);
        let pairs = cargo.windows(2).filter(|pair| pair[0] == "--test").map(|pair| pair[1]);
        let joined = cargo.iter().filter_map(|word| word.strip_prefix("--test="));
        let mut quiet = pairs.chain(joined).map(is_quiet).peekable();
        let is_named = quiet.peek().is_some();
        let (is_any, is_all) = quiet.fold((false, true), |(any, all), is| (any | is, all & is));
        TestRun {
            cargo: words(cargo),
            harness: words(harness.get(1..).unwrap_or_default()),
            is_serial: is_any,
            is_retried: is_named && is_all,
        }
    }

    /// Returns the run of the test `name` alone, which shows its output also if it passes.
    pub(super) fn alone(&self, name: &str) -> TestRun {
        TestRun {
            cargo: self.cargo.clone(),
            harness: words(&["--exact", name, "--show-output"]),
            is_serial: true,
            is_retried: false,
        }
    }
}

fn is_quiet(name: &str) -> bool {
    QUIET.contains(&name)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Cargo's words for test executables.
fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().flat_map(|name| ["--test".to_owned(), name.to_owned()]).collect()
}

/// The names of all test executables of the project at `root`, as cargo finds them: `tests/NAME.rs`
/// and `tests/NAME/main.rs`.
fn executables(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for package in listed(&root.join("crates"))? {
        let tests = package.join("tests");
        for path in if tests.is_dir() { listed(&tests)? } else { Vec::new() } {
            let is_one = path.join("main.rs").is_file() || path.extension() == Some("rs".as_ref());
            names.extend(
                path.file_stem()
                    .filter(|_| is_one)
                    .and_then(|name| name.to_str())
                    .map(str::to_owned),
            );
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

fn listed(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory)
        .with_context(|| format!("cannot list {}", directory.display()))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_executable_runs_once_and_the_quiet_ones_last() {
        let runs = TestRun::all().unwrap();
        let of = |run: &TestRun| -> Vec<String> {
            run.cargo.iter().filter(|word| !word.starts_with("--")).cloned().collect()
        };
        assert_eq!(of(&runs[0]), ["fixes", "guest", "logic", "races", "system"]);
        assert_eq!(of(&runs[2]), QUIET);
        let modes: Vec<_> = runs.iter().map(|run| (run.is_serial, run.is_retried)).collect();
        assert_eq!(modes, [(false, false), (false, false), (true, true)]);
    }

    #[test]
    fn a_command_line_that_names_a_quiet_executable_runs_serially() {
        for (line, modes) in [
            ("--test measure bench::", (true, true)),
            ("--test=honesty --test exits -- --nocapture", (true, true)),
            ("--test system --test measure", (true, false)),
            ("--test fixes", (false, false)),
            ("-p units measure", (false, false)),
            ("-- --test measure", (false, false)),
        ] {
            let run = TestRun::asked(&line.split(' ').collect::<Vec<_>>());
            assert_eq!((run.is_serial, run.is_retried), modes, "{line}");
        }
        let run = TestRun::asked(&["--test", "exits", "--", "--nocapture"]);
        assert_eq!(run.harness, ["--nocapture"]);
        let alone = run.alone("a::b");
        assert_eq!(alone.cargo, ["--test", "exits"]);
        assert_eq!(alone.harness, ["--exact", "a::b", "--show-output"]);
    }
}
