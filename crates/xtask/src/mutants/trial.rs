//! The trial of a crate's mutations: its tests without any, then one test with each.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::mutant_outcome::{MutantOutcome, TestOutput, passed};
use super::mutation::Mutation;

/// Builds and runs tests. Cargo does; a test of this file pretends to.
pub(super) trait Tests {
    /// Runs the tests at `paths` of an executable of `package`, which these words to cargo name.
    fn run(
        &mut self,
        package: &str,
        executable: &[&str],
        paths: &[&str],
    ) -> anyhow::Result<TestOutput>;
}

/// Told of each mutation, its outcome and the time that it took.
pub(super) type Tell<'a> = &'a mut dyn FnMut(&Mutation, &MutantOutcome, Duration);

/// Tries `mutations` of `package` in the copy in `tree`, one at a time. Each file is then as it
/// was.
///
/// # Errors
/// When a file cannot be written, or the tests cannot be started.
pub(super) fn try_all(
    tests: &mut dyn Tests,
    tree: &Path,
    package: &str,
    mutations: &[&Mutation],
    tell: Tell<'_>,
) -> anyhow::Result<()> {
    let faults = unmutated(tests, package, mutations)?;
    for mutation in mutations {
        let started = Instant::now();
        let outcome = match faults.get(mutation.test.path()) {
            Some(said) => MutantOutcome::FailsUnmutated(said.clone()),
            None => tried(tests, tree, package, mutation)?,
        };
        tell(mutation, &outcome, started.elapsed());
    }
    Ok(())
}

/// The tests of `mutations` that do not pass without any, with the output.
fn unmutated(
    tests: &mut dyn Tests,
    package: &str,
    mutations: &[&Mutation],
) -> anyhow::Result<BTreeMap<&'static str, String>> {
    let mut executables: BTreeMap<&[&str], Vec<&'static str>> = BTreeMap::new();
    for mutation in mutations {
        let paths = executables.entry(mutation.test.executable()).or_default();
        paths.push(mutation.test.path());
    }
    let mut faults = BTreeMap::new();
    for (executable, mut paths) in executables {
        paths.sort_unstable();
        paths.dedup();
        let output = tests.run(package, executable, &paths)?;
        let failed = paths.iter().filter(|path| !passed(&output, path));
        faults.extend(failed.map(|path| (*path, output.harness.clone() + &output.cargo)));
    }
    Ok(faults)
}

fn tried(
    tests: &mut dyn Tests,
    tree: &Path,
    package: &str,
    mutation: &Mutation,
) -> anyhow::Result<MutantOutcome> {
    let path = tree.join("crates").join(package).join("src").join(mutation.file);
    let source = std::fs::read_to_string(&path).unwrap_or_default();
    let mutated = match mutation.applied(&source) {
        Ok(mutated) => mutated,
        Err(count) => return Ok(MutantOutcome::Stale(count)),
    };
    let failed = || format!("cannot write {}", path.display());
    std::fs::write(&path, mutated).with_context(failed)?;
    let output = tests.run(package, mutation.test.executable(), &[mutation.test.path()]);
    std::fs::write(&path, source).with_context(failed)?;
    Ok(MutantOutcome::of(&output?, mutation.test.path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::mutation::KillingTest;

    /// A crate of one file, in which `tests::sums` looks for a sum, and which knows no other test.
    struct OneFile {
        directory: tempfile::TempDir,
        ran: Vec<String>,
    }

    const SOURCE: &str = "fn sum() { a + b }\nfn name() { c }\n";

    impl OneFile {
        fn new(source: &str) -> OneFile {
            let directory = tempfile::tempdir().unwrap();
            let crates = directory.path().join("crates/units/src");
            std::fs::create_dir_all(&crates).unwrap();
            std::fs::write(crates.join("lib.rs"), source).unwrap();
            OneFile { directory, ran: Vec::new() }
        }

        fn source(&self) -> String {
            let path = self.directory.path().join("crates/units/src/lib.rs");
            std::fs::read_to_string(path).unwrap()
        }

        /// The outcome of `mutation`.
        fn outcome(&mut self, mutation: &Mutation) -> MutantOutcome {
            let tree = self.directory.path().to_owned();
            let mut outcomes = Vec::new();
            let mut tell = |_: &Mutation, outcome: &MutantOutcome, _: Duration| {
                outcomes.push(outcome.clone());
            };
            try_all(self, &tree, "units", &[mutation], &mut tell).unwrap();
            let [outcome] = &outcomes[..] else { panic!("{outcomes:?}") };
            outcome.clone()
        }
    }

    impl Tests for OneFile {
        fn run(
            &mut self,
            package: &str,
            executable: &[&str],
            paths: &[&str],
        ) -> anyhow::Result<TestOutput> {
            let (words, path) = (executable.join(" "), paths.join(" "));
            self.ran.push(format!("{package} {words} {path}"));
            let source = self.source();
            let cargo = "error: no such name".to_owned();
            if source.contains("?") {
                return Ok(TestOutput { cargo, ..TestOutput::default() });
            }
            let word = if source.contains("a + b") { "ok" } else { "FAILED" };
            let harness = match path.as_str() {
                "tests::sums" => format!("running 1 test\ntest tests::sums ... {word}\n"),
                _ => "running 0 tests\n".to_owned(),
            };
            Ok(TestOutput { harness, ..TestOutput::default() })
        }
    }

    fn mutation(line: &'static str, becomes: &'static str, path: &'static str) -> Mutation {
        let test = KillingTest::Unit(path);
        Mutation { name: "sum", file: "lib.rs", line, becomes, test }
    }

    #[test]
    fn a_wrong_sum_is_killed_a_wrong_name_survives_and_the_file_is_as_it_was() {
        let mut crates = OneFile::new(SOURCE);
        let wrong = mutation("a + b", "a - b", "tests::sums");
        assert_eq!(crates.outcome(&wrong), MutantOutcome::Killed);
        let other = mutation("{ c }", "{ d }", "tests::sums");
        assert_eq!(crates.outcome(&other), MutantOutcome::Survived);
        let odd = mutation("{ c }", "{ ? }", "tests::sums");
        let said = "error: no such name".to_owned();
        assert_eq!(crates.outcome(&odd), MutantOutcome::DoesNotCompile(said));
        assert_eq!(crates.source(), SOURCE);
        assert_eq!(crates.ran.len(), 6, "each time once without the mutation, and once with it");
        assert_eq!(crates.ran[0], "units --lib tests::sums");
    }

    #[test]
    fn a_line_that_is_gone_or_occurs_twice_is_stale() {
        let mut crates = OneFile::new(SOURCE);
        let gone = mutation("a * b", "a - b", "tests::sums");
        assert_eq!(crates.outcome(&gone), MutantOutcome::Stale(0));
        let twice = mutation("fn ", "pub fn ", "tests::sums");
        assert_eq!(crates.outcome(&twice), MutantOutcome::Stale(2));
        assert_eq!(crates.source(), SOURCE);
    }

    #[test]
    fn a_test_that_fails_or_is_missing_without_the_mutation_kills_nothing() {
        let right = mutation("a - b", "a / b", "tests::sums");
        let outcome = OneFile::new("fn sum() { a - b }").outcome(&right);
        assert!(matches!(outcome, MutantOutcome::FailsUnmutated(_)), "{outcome:?}");
        let missing = mutation("a + b", "a - b", "tests::products");
        let outcome = OneFile::new(SOURCE).outcome(&missing);
        assert!(matches!(outcome, MutantOutcome::FailsUnmutated(_)), "{outcome:?}");
    }
}
