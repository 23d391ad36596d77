//! A copy of the checkout, in which lines are changed.
//!
//! The copy stays from run to run, and only files that differ are written: cargo tells by their
//! times what to build again. So what a run left changed is built again, too.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

/// Makes the directory `to` hold what the checkout `from` holds: all that git tracks, and all that
/// it does not ignore.
///
/// # Errors
/// When git fails, or a file cannot be read or written.
pub(super) fn update(from: &Path, to: &Path) -> anyhow::Result<()> {
    let words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = Command::new("git").args(words).current_dir(from).output();
    let listed = listed.context("cannot start git")?;
    ensure!(listed.status.success(), "cannot list the files of the checkout: git ls-files failed");
    let names = listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let names = names.map(|name| PathBuf::from(OsStr::from_bytes(name)));
    let there: BTreeSet<PathBuf> = names.filter(|name| from.join(name).is_file()).collect();
    copy(from, to, &there)
}

/// Makes `to` hold the files `names` of `from`, and no others.
fn copy(from: &Path, to: &Path, names: &BTreeSet<PathBuf>) -> anyhow::Result<()> {
    for name in names {
        let (source, target) = (from.join(name), to.join(name));
        let failed = || format!("cannot copy {}", source.display());
        let wanted = std::fs::read(&source).with_context(failed)?;
        if std::fs::read(&target).is_ok_and(|now| now == wanted) {
            continue;
        }
        std::fs::create_dir_all(target.parent().unwrap_or(to)).with_context(failed)?;
        std::fs::copy(&source, &target).with_context(failed)?;
    }
    remove_others(to, Path::new(""), names)
}

/// Removes the files below `directory` of `to` that are not among `names`.
fn remove_others(to: &Path, directory: &Path, names: &BTreeSet<PathBuf>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(to.join(directory)).context("cannot list the copy")? {
        let entry = entry?;
        let name = directory.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            remove_others(to, &name, names)?;
        } else if !names.contains(&name) {
            std::fs::remove_file(entry.path()).context("cannot remove a file of the copy")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_holds_what_is_named_mends_what_was_changed_and_leaves_the_rest_untouched() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        for (at, text) in [(from.join("a/b"), "1"), (from.join("c"), "2"), (to.join("a/d"), "3")] {
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, text).unwrap();
        }
        let names: BTreeSet<PathBuf> = ["a/b", "c"].map(PathBuf::from).into();
        copy(&from, &to, &names).unwrap();
        assert!(!to.join("a/d").exists());
        let time = |name: &str| std::fs::metadata(to.join(name)).unwrap().modified().unwrap();
        let before = time("c");
        std::fs::write(to.join("a/b"), "mutated").unwrap();
        copy(&from, &to, &names).unwrap();
        assert_eq!(std::fs::read(to.join("a/b")).unwrap(), b"1");
        assert_eq!(time("c"), before);
    }
}
