//! Test executables, as cargo builds them.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::lane::{Lane, Standing};
use crate::cargo::cargo;

/// An executable with tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestExecutable {
    /// Its package and what of it is tested: `format logic`, `units unit`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// Directory of its package, in which cargo would run it.
    pub(super) directory: PathBuf,
    pub(super) standing: Standing,
    /// The programs of its package, which its tests may start.
    pub(super) programs: Vec<PathBuf>,
}

impl TestExecutable {
    /// Builds all, and returns them in the order of their lanes, the serial ones last.
    ///
    /// # Errors
    /// When cargo fails, or an executable stands in no lane.
    pub(super) fn built() -> anyhow::Result<Vec<TestExecutable>> {
        let mut command = cargo(&["test", "--workspace", "--locked", "--no-run"]);
        command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
        let output = command.output().context("cannot start cargo")?;
        ensure!(output.status.success(), "cannot build the tests");
        let read = |path: &Path| {
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
        };
        executables(&String::from_utf8_lossy(&output.stdout), &read)
    }

    pub(super) fn lane(&self) -> Lane {
        self.standing.lane
    }
}

/// Returns the test executables that cargo's messages name.
fn executables(
    messages: &str,
    read: &dyn Fn(&Path) -> anyhow::Result<String>,
) -> anyhow::Result<Vec<TestExecutable>> {
    let built: Vec<Built> = messages.lines().filter_map(Built::read).collect();
    let mut executables = Vec::new();
    for one in built.iter().filter(|one| one.is_test) {
        let (what, standing) = match one.kind.as_str() {
            "test" => (one.target.as_str(), Standing::of_tests(&one.target)?),
            _ => ("unit", Standing::of_unit_tests(&read(&one.manifest)?)),
        };
        let directory = one.manifest.parent().context("a manifest is in a directory")?;
        let of_package = |other: &&Built| {
            !other.is_test && other.kind == "bin" && other.manifest == one.manifest
        };
        executables.push(TestExecutable {
            name: format!("{} {what}", directory.file_name().unwrap_or_default().display()),
            path: one.path.clone(),
            directory: directory.to_owned(),
            standing,
            programs: built.iter().filter(of_package).map(|other| other.path.clone()).collect(),
        });
    }
    ensure!(!executables.is_empty(), "cargo built no tests");
    executables.sort_by_key(|one| (one.lane(), one.standing.is_serial, one.name.clone()));
    Ok(executables)
}

/// One message of cargo's about an executable.
struct Built {
    kind: String,
    target: String,
    is_test: bool,
    path: PathBuf,
    manifest: PathBuf,
}

impl Built {
    fn read(line: &str) -> Option<Built> {
        let message: Value = serde_json::from_str(line).ok()?;
        let target = &message["target"];
        Some(Built {
            kind: target["kind"][0].as_str()?.to_owned(),
            target: target["name"].as_str()?.to_owned(),
            is_test: message["profile"]["test"].as_bool()?,
            path: message["executable"].as_str()?.into(),
            manifest: message["manifest_path"].as_str()?.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(package: &str, kind: &str, name: &str, is_test: bool) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","manifest_path":"/p/crates/{package}/Cargo.toml",
            "target":{{"kind":["{kind}"],"name":"{name}"}},"profile":{{"test":{is_test}}},
            "executable":"/p/target/{package}-{kind}-{name}-{is_test}"}}"#
        )
        .replace('\n', " ")
    }

    #[test]
    fn executables_are_sorted_by_lane_and_know_the_programs_of_their_package() {
        let messages = [
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
            message("b", "test", "machine", true),
            message("b", "test", "fixes", true),
            message("b", "bin", "b", false),
            message("b", "bin", "b", true),
            message("a", "test", "system", true),
            message("a", "lib", "a", true),
            message("a", "example", "schema", false),
        ];
        let read = |path: &Path| {
            let is_system = path.starts_with("/p/crates/a");
            let system = "[package.metadata.tests]\nunit = \"system\"";
            Ok(if is_system { system } else { "" }.to_owned())
        };
        let found = executables(&messages.join("\n"), &read).unwrap();
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["b unit", "a system", "a unit", "b fixes", "b machine"]);
        assert_eq!(found[0].programs, [PathBuf::from("/p/target/b-bin-b-false")]);
        assert_eq!(found[1].directory, Path::new("/p/crates/a"));
        assert!(found[1].programs.is_empty());
    }

    #[test]
    fn an_executable_that_is_in_no_lane_is_an_error() {
        let error = executables(&message("a", "test", "all", true), &|_| Ok(String::new()));
        assert!(error.unwrap_err().to_string().contains("in no lane"));
        assert!(executables("", &|_| Ok(String::new())).is_err());
    }
}
