//! Answers of straddle within a guest, one document for each question.

use std::path::PathBuf;

use serde_json::Value;

/// A result of a scenario that asks many questions.
pub(crate) struct Answers {
    directory: PathBuf,
    scenario: &'static str,
}

impl Answers {
    /// The run of `scenario` that the environment's `variable` names; else the test is counted as
    /// skipped.
    pub(crate) fn named(variable: &str, scenario: &'static str) -> Option<Answers> {
        let Some(directory) = std::env::var_os(variable).map(PathBuf::from) else {
            testkit::skip(&format!("needs {variable}, a result of guest/run … {scenario}"));
            return None;
        };
        assert!(directory.join("done").exists(), "{} is no whole run", directory.display());
        Some(Answers { directory, scenario })
    }

    /// A file of the result.
    pub(crate) fn text(&self, name: &str) -> String {
        let path = self.directory.join("out").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// A file that the scenario wrote.
    pub(crate) fn written(&self, name: &str) -> String {
        self.text(&format!("{}/{name}", self.scenario))
    }

    /// The status with which straddle ended.
    pub(crate) fn status(&self, name: &str) -> String {
        let lines = self.written("status");
        let mut of = lines.lines().filter_map(|line| line.strip_prefix(&format!("{name} ")));
        of.next_back().expect("each answer has its status").to_owned()
    }

    /// The document of a run of straddle, and its exit status; of several runs the last one's.
    pub(crate) fn answer(&self, name: &str) -> (Value, String) {
        let text = self.written(&format!("{name}.json"));
        let document =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        (document, self.status(name))
    }
}
