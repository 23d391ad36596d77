//! The last results, kept for monitors: `last-check.json` and its like, in the directory of
//! [`state_directory`]; of root, where no variable names another, in `/var/lib/straddle`, so that a
//! timer of the system and its administrator mean the same file. Whoever may write a file decides
//! what a monitor shows, so one that others may write is refused.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::shared::printer::shown;
use crate::shared::probe_store::{trusted, trusted_directory};
use crate::shared::state_directory;

/// The directory of the system, which everybody may read.
const SYSTEM: &str = "/var/lib/straddle";

/// Name of the last result of `straddle check`.
pub(crate) const CHECK: &str = "last-check.json";
/// Names of all kept results.
const ALL: [&str; 4] = [CHECK, "last-fsync.json", "last-bench.json", "last-probe.json"];

/// Returns the directory in which this user keeps results.
fn own() -> Result<PathBuf, String> {
    let value = |name: &str| match name {
        "HOME" if host::user() == 0 => None,
        name => std::env::var_os(name),
    };
    state_directory::of_variables(value).unwrap_or_else(|| Ok(PathBuf::from(SYSTEM)))
}

/// Returns where the result called `name` goes, in a directory that is made.
///
/// # Errors
/// With the reason, when the directory cannot be made or trusted.
pub(crate) fn place(name: &str) -> Result<PathBuf, String> {
    let directory = own()?;
    let made = fs::DirBuilder::new().recursive(true).mode(0o755).create(&directory);
    made.map_err(|error| format!("cannot make {}: {error}", shown(&directory)))?;
    trusted_directory(&directory)?;
    Ok(directory.join(name))
}

/// Returns the last result called `name`: this user's, else that of the system.
///
/// # Errors
/// With the reason, when there is none or its file cannot be trusted.
pub(crate) fn last(name: &str) -> Result<PathBuf, String> {
    let own = own()?;
    let candidates = [own.join(name), Path::new(SYSTEM).join(name)];
    for path in &candidates {
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("cannot read {}: {error}", shown(path))),
            Ok(data) => {
                let is_sound = if data.is_file() { trusted(&data) } else { Err(String::new()) };
                let is_sound = is_sound.and_then(|()| match path.parent() {
                    Some(directory) => trusted_directory(directory),
                    None => Ok(()),
                });
                let told = |reason: String| match reason.is_empty() {
                    true => format!("{}: not a regular file", shown(path)),
                    false => format!("{}: {reason}", shown(path)),
                };
                return is_sound.map(|()| path.clone()).map_err(told);
            }
        }
    }
    Err(format!("no {name} in {}", shown(&own)))
}

/// Returns all last results that are there and can be trusted.
pub(crate) fn all() -> Vec<PathBuf> {
    ALL.into_iter().filter_map(|name| last(name).ok()).collect()
}
