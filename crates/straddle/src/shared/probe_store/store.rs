//! The directory in which files are kept.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use report::probe::{Saved, SavedIdentity, saved_json};
use stack::drive::{KeptMeasurement, KernelDrive};

use super::file_name::{file_name, old_file_name};
use super::granule::{granule, misdated};
use super::identity::{differs, identity};
use super::read_file::read;
use super::trust::trusted_directory;
use crate::shared::atomic_file::{self, AtomicFile};
use crate::shared::printer::shown;
use crate::shared::remarks::Remarks;
use crate::shared::state_directory;

/// Place where files are.
#[derive(Debug)]
pub(crate) struct Store {
    /// `Err` says why nothing is looked for, and nothing kept, though something was set.
    directory: Result<PathBuf, String>,
    remarks: Remarks,
}

impl Store {
    /// Returns where the environment says; `None` where it says nothing.
    pub(crate) fn of_environment() -> Option<Store> {
        Store::of_variables(|name| std::env::var_os(name))
    }

    /// Returns where variables say that `value` gives, the first that is set and not empty.
    pub(super) fn of_variables(value: impl Fn(&str) -> Option<OsString>) -> Option<Store> {
        let directory = state_directory::of_variables(value)?;
        Some(Store { directory, remarks: Remarks::default() })
    }

    #[cfg(test)]
    pub(super) fn at(directory: PathBuf) -> Store {
        Store { directory: Ok(directory), remarks: Remarks::default() }
    }

    /// Returns what is kept of a drive; `None` where nothing is. Says once of each drive what it
    /// gave.
    pub(crate) fn of(&self, drive: &KernelDrive) -> Option<KeptMeasurement> {
        let identity = identity(drive).ok()?;
        let directory = match &self.directory {
            Ok(directory) => directory,
            Err(reason) => {
                self.remarks.say(format!("earlier measurements are not used: {reason}"));
                return None;
            }
        };
        let (path, read) = kept(directory, &identity);
        let judged = read.transpose()?.and_then(|saved| {
            let reason = differs(&saved.identity, &identity);
            reason.or_else(|| misdated(&saved, Timestamp::now())).map_or(Ok(saved), Err)
        });
        let found = match judged {
            Ok(saved) => KeptMeasurement::Granule(granule(&saved)),
            Err(reason) => KeptMeasurement::NotUsed(format!("{}: {reason}", shown(&path))),
        };
        self.remarks.say(told(&drive.name, &found));
        Some(found)
    }

    /// Keeps `saved`, whole or not at all; the file's path.
    ///
    /// # Errors
    /// When it cannot be written, the directory cannot be trusted, or there is a file of another
    /// drive in its place; what was there is then still there.
    pub(crate) fn keep(&self, saved: &Saved) -> Result<PathBuf, String> {
        let directory = self.directory.as_ref().map_err(Clone::clone)?;
        let path = path_in(directory, &saved.identity);
        let name = shown(&path);
        let told = |error: std::io::Error| format!("cannot write {name}: {error}");
        fs::DirBuilder::new().recursive(true).mode(0o755).create(directory).map_err(told)?;
        trusted_directory(directory)
            .map_err(|reason| format!("{name} would not be used: {reason}"))?;
        if matches!(read(&path), Ok(Some(other)) if !is_same(&other.identity, &saved.identity)) {
            return Err(format!(
                "{name} belongs to another drive: move that file away, and probe \
                                again"
            ));
        }
        replace(&path, saved_json(saved).as_bytes()).map_err(told)?;
        let old = old_path_in(directory, &saved.identity).filter(
            |old| matches!(read(old), Ok(Some(other)) if is_same(&other.identity, &saved.identity)),
        );
        // It would be used again where this one is removed.
        let _ = old.map(fs::remove_file);
        Ok(path)
    }
}

/// The file of a drive, and what it holds: under its name, or under that which older versions gave
/// it, where that is not another drive's.
fn kept(directory: &Path, identity: &SavedIdentity) -> (PathBuf, Result<Option<Saved>, String>) {
    let path = path_in(directory, identity);
    let found = read(&path);
    match (&found, old_path_in(directory, identity)) {
        (Ok(None), Some(old)) => match read(&old) {
            Ok(Some(saved)) if !is_same(&saved.identity, identity) => (path, found),
            found => (old, found),
        },
        _ => (path, found),
    }
}

fn path_in(directory: &Path, identity: &SavedIdentity) -> PathBuf {
    directory.join(file_name(&identity.kind, &identity.name))
}

fn old_path_in(directory: &Path, identity: &SavedIdentity) -> Option<PathBuf> {
    Some(directory.join(old_file_name(&identity.kind, &identity.name)?))
}

/// Returns what a drive that is called `name` gave, as a sentence.
fn told(name: &str, found: &KeptMeasurement) -> String {
    match found {
        KeptMeasurement::Granule(found) => format!(
            "{name}: granule of {} bytes from byte {}, as measured ({}); to ignore it: \
             --ignore-measured",
            found.alignment_bytes, found.origin_bytes, found.note
        ),
        KeptMeasurement::NotUsed(reason) => format!(
            "{name}: an earlier measurement is not used: \
                                              {reason}"
        ),
    }
}

/// Returns whether both are the same drive, in whatever state.
fn is_same(one: &SavedIdentity, other: &SavedIdentity) -> bool {
    (&one.kind, &one.name) == (&other.kind, &other.name)
}

/// Puts a file with `bytes` in the place of `path`, whole or not at all.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = AtomicFile::create(path, 0o644)?;
    file.write_all(bytes)?;
    file.finish()?;
    atomic_file::sync_directory_of(path)
}
