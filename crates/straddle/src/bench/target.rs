//! What TARGET is: a directory in which a scratch file can be, or a raw device.

use std::path::{Path, PathBuf};

use host::Identity;
use report::bench::RunRefusal;

use super::halt::refused;
use crate::printer::shown;

/// Where is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// In a scratch file in this directory.
    Directory(PathBuf),
    /// On the device itself.
    Device {
        /// Its node, as it was given.
        node: PathBuf,
        /// Its number.
        number: (u32, u32),
    },
}

impl Target {
    /// What `path` is.
    pub(crate) fn of(path: &Path) -> Result<Target, RunRefusal> {
        let name = shown(path);
        match host::identity(path) {
            Ok(Identity::Block { major, minor }) => {
                Ok(Target::Device { node: path.to_owned(), number: (major, minor) })
            }
            Ok(_) if path.is_dir() => Ok(Target::Directory(path.to_owned())),
            Ok(_) => Err(refused(
                format!("cannot measure in {name}: it is neither a directory nor a block device"),
                Some(format!("straddle bench {} measures beside it", parent(path))),
            )),
            Err(error) => Err(refused(
                format!("cannot measure in {name}: {error}"),
                Some("name a directory on the disk that is meant".to_owned()),
            )),
        }
    }
}

/// The directory that `path` is in, as it can be typed.
fn parent(path: &Path) -> String {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => shown(parent),
        None => ".".to_owned(),
    }
}

/// A refusal of another command, as one of this.
pub(crate) fn from_trace(refusal: report::Refusal) -> RunRefusal {
    refused(refusal.message, refusal.hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_nothing_are_refused_with_what_to_do() {
        let scratch = testkit::Scratch::new();
        let file = scratch.image("file", 4096);
        let refusal = Target::of(&file).unwrap_err();
        assert!(refusal.message.contains("neither"), "{refusal:?}");
        assert!(refusal.hint.unwrap().contains("straddle bench"));
        assert!(Target::of(Path::new("/nonexistent/x")).unwrap_err().hint.is_some());
        let directory = file.parent().unwrap();
        assert_eq!(Target::of(directory), Ok(Target::Directory(directory.to_owned())));
    }
}
