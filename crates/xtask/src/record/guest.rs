//! File systems that this kernel lacks: the same command, in the guest.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use super::recipe::RecordRecipe;
use crate::cargo::cargo;

/// The directory of packages and results, beside the tests' own.
const WORK: &str = "target/guest";
/// The program that the guest runs: this one, as quick as tests are.
const PROGRAM: &str = "target/debug/xtask";

/// Records `recipes`, as they are in the guest's own scenario, into `directory`.
///
/// # Errors
/// When the guest cannot be built or booted, or gives other traces than were asked for.
pub(super) fn record(directory: &Path, recipes: &[&RecordRecipe]) -> anyhow::Result<()> {
    let result = in_guest("record", &[])?.join("traces");
    for recipe in recipes {
        let mut copied = 0;
        let entries = std::fs::read_dir(&result)
            .with_context(|| format!("the guest left no {}", result.display()))?;
        for entry in entries {
            let name = entry?.file_name();
            let text = name.to_string_lossy();
            if text.starts_with(recipe.name) {
                std::fs::copy(result.join(&name), directory.join(&name))
                    .with_context(|| format!("cannot copy {text}"))?;
                copied += 1;
            }
        }
        // One of making it, and the versions.
        let whole = super::steps::MOUNTS.concat().len() + 2;
        ensure!(copied == whole, "of {}, the guest left {copied} files, not {whole}", recipe.name);
    }
    Ok(())
}

/// Runs a scenario in the guest, with this program and `programs`. Returns the directory of what
/// it wrote.
///
/// # Errors
/// When this program cannot be built, or the guest does not come to its end.
pub(crate) fn in_guest(scenario: &str, programs: &[&OsStr]) -> anyhow::Result<PathBuf> {
    let mut build = cargo(&["build", "--locked", "--profile", "test", "--package", "xtask"]);
    done(build.args(["--target-dir", "target"]), "cannot build xtask for the guest")?;
    let mut guest = Command::new("python3");
    guest.args(["guest/run", WORK, scenario, "--program", PROGRAM, "--tries", "1"]);
    guest.args(programs.iter().flat_map(|program| [OsStr::new("--program"), program]));
    done(&mut guest, "the guest failed")?;
    Ok(crate::root().join(WORK).join(format!("result-{scenario}/out")))
}

/// Runs `command` at the project's root.
fn done(command: &mut Command, failed: &'static str) -> anyhow::Result<()> {
    let status = command.current_dir(crate::root()).stdin(Stdio::null()).status();
    let status = status.context(failed)?;
    ensure!(status.success(), "{failed}: {status}");
    Ok(())
}
