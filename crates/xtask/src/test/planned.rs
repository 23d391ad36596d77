//! A runner of tests that prints what was planned.

use std::sync::Mutex;

use super::run_result::{Ran, TestRunner};
use super::test_run::TestRun;

/// Prints one text for each run. A text may begin with [`HANG`] and a name.
pub(super) struct PlannedTests {
    answers: Mutex<Vec<(String, bool)>>,
    asked: Mutex<Vec<TestRun>>,
}

const HANG: &str = "hang ";

impl PlannedTests {
    /// Returns a runner that gives these texts, each with its success, one after the other.
    pub(super) fn of(answers: Vec<(String, bool)>) -> PlannedTests {
        PlannedTests { answers: Mutex::new(answers), asked: Mutex::default() }
    }

    /// Returns the harness's words of each run, after all were asked for.
    pub(super) fn finished(&self) -> Vec<String> {
        self.asked().iter().map(|run| run.harness.join(" ")).collect()
    }

    /// Returns each run, after all were asked for.
    pub(super) fn asked(&self) -> Vec<TestRun> {
        assert!(self.answers.lock().unwrap().is_empty(), "all were asked for");
        self.asked.lock().unwrap().clone()
    }
}

impl TestRunner for PlannedTests {
    fn run(&self, run: &TestRun, line: &mut dyn FnMut(&str)) -> anyhow::Result<Ran> {
        self.asked.lock().unwrap().push(run.clone());
        let (text, is_good) = self.answers.lock().unwrap().remove(0);
        text.lines().for_each(line);
        let hung = text.lines().find_map(|line| line.strip_prefix(HANG)).map(ToOwned::to_owned);
        Ok(Ran { is_good, hung, ..Ran::default() })
    }
}

/// Three tests of which these fail with a panic of these words.
pub(super) fn failing(names: &[&str], words: &str) -> (String, bool) {
    let panic = |name: &&str| {
        format!(
            "---- {name} stdout ----\n\nthread '{name}' (7) panicked at tests/a.rs:7:9:\n{words}\n\
             \n"
        )
    };
    let output: String = names.iter().map(panic).collect();
    let list: String = names.iter().map(|name| format!("    {name}\n")).collect();
    let failed = names.len();
    let text = format!(
        "running 3 tests\n\nfailures:\n\n{output}\nfailures:\n{list}\n\
         test result: FAILED. {} passed; {failed} failed; 0 ignored; finished in 0.1s",
        3 - failed
    );
    (text, false)
}

pub(super) fn passing(count: u64) -> (String, bool) {
    let text =
        format!("running {count} tests\n\ntest result: ok. {count} passed; 0 failed; 0 ignored; x");
    (text, true)
}

/// An executable that ends in the middle of its tests.
pub(super) fn crash() -> (String, bool) {
    ("running 9 tests\ntest a ... ok".to_owned(), false)
}

/// An executable that is killed in test `name`.
pub(super) fn hang(name: &str) -> (String, bool) {
    (format!("running 9 tests\n{HANG}{name}"), false)
}
