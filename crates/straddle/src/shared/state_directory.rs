//! The directory in which this program keeps what later runs use.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::shared::printer::shown;

/// Returns `$STATE_DIRECTORY` (systemd.exec(5)), else `$XDG_STATE_HOME/straddle`, else
/// `~/.local/state/straddle` (XDG Base Directory Specification), by the first of these variables
/// for which `value` gives a text that is not empty; `None` where it gives none. `Err` says why
/// nothing is looked for, and nothing kept, though something was set.
pub(crate) fn of_variables(
    value: impl Fn(&str) -> Option<OsString>,
) -> Option<Result<PathBuf, String>> {
    let (name, set) = ["STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"]
        .into_iter()
        .find_map(|name| value(name).filter(|set| !set.is_empty()).map(|set| (name, set)))?;
    let named = if name == "STATE_DIRECTORY" { first_of(&set) } else { PathBuf::from(&set) };
    // A relative path would mean another place in another directory.
    Some(match named.is_absolute() {
        true => Ok(named.join(match name {
            "STATE_DIRECTORY" => "",
            "XDG_STATE_HOME" => "straddle",
            _ => ".local/state/straddle",
        })),
        false => Err(format!(
            "${name} is `{}`, which does not begin with an absolute path",
            shown(Path::new(&set))
        )),
    })
}

/// The first of the directories that systemd names, which are joined by colons.
fn first_of(state: &OsStr) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    let first = state.as_bytes().split(|byte| *byte == b':').next().unwrap_or_default();
    PathBuf::from(OsStr::from_bytes(first))
}
