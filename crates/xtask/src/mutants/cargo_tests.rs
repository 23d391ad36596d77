//! Cargo, which builds and runs the tests of a copy of the project.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use super::mutant_outcome::TestOutput;
use super::trial::Tests;
use crate::cargo::cargo;

/// Longest time for a build and a test, in seconds, as timeout(1) takes it: a mutation may make a
/// loop endless.
const SECONDS_MAX: &str = "600";
/// Exit code of timeout(1) where the time was over.
const OVER: i32 = 124;

/// Tests of the copy in `tree`.
pub(super) struct CargoTests<'a> {
    pub(super) tree: &'a Path,
    /// Directory for what is built. It stays, so that each run builds only what changed.
    pub(super) target: PathBuf,
}

impl Tests for CargoTests<'_> {
    fn run(
        &mut self,
        package: &str,
        executable: &[&str],
        paths: &[&str],
    ) -> anyhow::Result<TestOutput> {
        let mut test = cargo(&["test", "--offline", "--locked", "--package", package]);
        test.args(executable).args(["--", "--exact"]).args(paths);
        let mut limited = Command::new("timeout");
        limited.arg(SECONDS_MAX).arg(test.get_program()).args(test.get_args());
        limited.current_dir(self.tree).stdin(Stdio::null());
        limited.env("CARGO_TARGET_DIR", &self.target).env("CARGO_INCREMENTAL", "1");
        let output = limited.output().context("cannot start timeout")?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(TestOutput {
            harness: text(&output.stdout),
            cargo: text(&output.stderr),
            is_hang: output.status.code() == Some(OVER),
        })
    }
}
