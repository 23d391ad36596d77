//! Description of a target: what it is, and what it is called.

use std::path::{Component, Path, PathBuf};

use report::Refusal;
use stack::kernel::{Machine, NodeId};

use crate::shared::not_an_image;

/// Hint where the kernel's tree is missing.
pub(super) const MOUNT_SYS: &str = "mount it: mount -t sysfs sysfs /sys";

/// Something to be checked, not opened yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckTarget {
    /// Name as given or found; harmless to print.
    pub(crate) name: String,
    /// Its kind.
    pub(crate) what: What,
    /// Place where it was found, if nobody named it.
    pub(crate) found: Option<FoundInDirectory>,
}

/// Something that was found in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundInDirectory {
    /// Index of the directory among the paths that were named.
    pub(crate) directory: usize,
    /// Its path and what it is, where it is no file: a link to nothing, a FIFO.
    pub(crate) odd: Option<(PathBuf, String)>,
}

impl FoundInDirectory {
    pub(super) fn file(odd: Option<(PathBuf, String)>) -> Option<FoundInDirectory> {
        Some(FoundInDirectory { directory: 0, odd })
    }

    /// Returns whether it is no file, and its name is not that of an image.
    pub(crate) fn is_left_out(&self) -> bool {
        self.odd.as_ref().is_some_and(|(path, _)| !not_an_image::is_named_as_image(path))
    }
}

/// Kind of target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Block devices that have to be looked at together.
    Devices {
        /// All that are joined to the one that was meant.
        nodes: Vec<NodeId>,
        /// The one that was meant; `None` for all.
        meant: Option<NodeId>,
    },
    /// A regular file.
    File(PathBuf),
    /// A regular file that was named before, by another name.
    Again {
        /// Path by which it is named here.
        path: PathBuf,
        /// The name by which it was named before.
        first: String,
    },
    /// A regular file that was found in a directory, and may be anything.
    Found(PathBuf),
    /// Nothing that can be checked.
    Refused(Refusal),
}

/// Names in a row; of many, the first and the last.
pub(crate) fn joined_names(names: &[&str]) -> String {
    match names {
        [first, .., last] if names.len() > 4 => {
            format!("{first} … {last} ({} targets)", names.len())
        }
        _ => names.join(" + "),
    }
}

/// A target that cannot be used.
pub(super) fn refused(name: String, message: String, hint: Option<&str>) -> CheckTarget {
    let hint = hint.map(str::to_owned);
    CheckTarget { name, what: What::Refused(Refusal::new(message, hint)), found: None }
}

/// A device of a machine, with all that it is joined to.
pub(super) fn meant(name: String, machine: &Machine, id: NodeId) -> CheckTarget {
    CheckTarget {
        name,
        what: What::Devices { nodes: machine.joined(id), meant: Some(id) },
        found: None,
    }
}

/// `path` without `./`, so that one file has one name however it was typed.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let is_here = |part: &Component<'_>| *part == Component::CurDir;
    let plain: PathBuf = path.components().filter(|part| !is_here(part)).collect();
    if plain.as_os_str().is_empty() { path.to_owned() } else { plain }
}
