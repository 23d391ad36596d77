//! Running the binary and reading its JSON.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
pub(crate) use testkit::scratch::place;
use testkit::{Scratch, scratch, tool};

/// The exit status where no verdict was reached.
pub(crate) const NO_VERDICT: i32 = 5;

/// The binary under test with `arguments`.
pub(crate) fn straddle(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(arguments)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("the binary runs")
}

/// Answer of `straddle check --json` about one target, and its exit status.
pub(crate) struct Checked {
    pub(crate) target: Value,
    pub(crate) status: i32,
}

/// The result of `straddle check --json` with `arguments`, which name one target.
pub(crate) fn check(arguments: &[&str]) -> Checked {
    let arguments: Vec<&str> = ["check", "--json"].iter().chain(arguments).copied().collect();
    let output = straddle(&arguments);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}\n{}", String::from_utf8_lossy(&output.stderr));
    });
    assert_eq!(document["schema"], "straddle.check/1");
    let status = output.status.code().expect("it exits");
    Checked { target: document["targets"][0].clone(), status }
}

/// A path as text.
pub(crate) fn text(path: &Path) -> &str {
    scratch::text(path)
}

impl Checked {
    /// The first layer whose kind and name satisfy the words.
    pub(crate) fn layer(&self, kind: &str, name: &str) -> &Value {
        let layers = self.target["layers"].as_array().expect("layers are a list");
        layers
            .iter()
            .find(|layer| {
                layer["kind"] == kind && layer["name"].as_str().is_some_and(|n| n.contains(name))
            })
            .unwrap_or_else(|| panic!("no {kind} {name} in {:#}", self.target))
    }

    /// The verdict on the first layer of a kind.
    pub(crate) fn verdict(&self, kind: &str, name: &str) -> &str {
        self.layer(kind, name)["verdict"].as_str().expect("a verdict is a word")
    }

    /// Codes and severities of the findings.
    pub(crate) fn findings(&self) -> Vec<(String, String)> {
        let word = |value: &Value| value.as_str().expect("it is a word").to_owned();
        let list = self.target["findings"].as_array().expect("findings are a list");
        list.iter().map(|finding| (word(&finding["code"]), word(&finding["severity"]))).collect()
    }

    /// Returns whether a finding with this code and severity is there.
    pub(crate) fn has(&self, code: &str, severity: &str) -> bool {
        self.findings().contains(&(code.to_owned(), severity.to_owned()))
    }
}

/// A sparse image of `length_bytes` with the table that `script` gives to sfdisk.
pub(crate) fn partitioned(
    scratch: &Scratch,
    name: &str,
    length_bytes: u64,
    script: &str,
) -> PathBuf {
    let image = scratch.image(name, length_bytes);
    tool::run_with_input("sfdisk", &["-q", text(&image)], script);
    image
}
