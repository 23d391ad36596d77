//! Running the binary and reading its JSON.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use testkit::scratch::text;

/// The binary under test with `arguments`.
pub(crate) fn straddle(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(arguments)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("the binary runs")
}

/// Returns what `straddle trace --json` says of a file.
pub(crate) fn trace(file: &Path, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> =
        ["trace", "--json", text(file)].iter().chain(arguments).copied().collect();
    let output = straddle(&arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{errors}"));
    assert_eq!(document["schema"], "straddle.trace/1");
    assert!(document["refusal"].is_null(), "{errors}");
    document
}

/// Returns what `straddle trace` prints of a file for people.
pub(crate) fn table(file: &Path, arguments: &[&str]) -> String {
    let arguments: Vec<&str> = ["trace", text(file)].iter().chain(arguments).copied().collect();
    String::from_utf8(straddle(&arguments).stdout).expect("it prints UTF-8")
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}
