//! Cargo, as every chore starts it, and the project that it builds.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use crate::options::Options;

/// Returns the project's root directory.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("xtask is two directories below the root").to_owned()
}

/// Returns a command of cargo's with these words, at the project's root and without input.
pub(crate) fn cargo(words: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(root()).stdin(Stdio::null());
    command
}

/// Builds packages for release; the directory that holds their programs.
///
/// # Errors
/// When cargo cannot be started, or the build fails.
pub(crate) fn released(packages: &[&str]) -> anyhow::Result<PathBuf> {
    let mut build = cargo(&["build", "--quiet", "--release"]);
    build.args(packages.iter().flat_map(|package| ["--package", package]));
    let status = build.status().context("cannot start cargo")?;
    ensure!(status.success(), "cannot build {}", packages.join(" and "));
    let here = std::env::current_exe()?;
    let target = here.ancestors().nth(2).context("this program lies in cargo's directory")?;
    Ok(target.join("release"))
}

/// Returns the program that `--program` names, or straddle as it is now, built for release.
///
/// # Errors
/// When it cannot be built.
pub(crate) fn program(options: &Options<'_>) -> anyhow::Result<PathBuf> {
    match options.path("--program")? {
        Some(program) => Ok(program),
        None => Ok(released(&["straddle"])?.join("straddle")),
    }
}
