//! The file that a path led to when it was looked at, held whatever becomes of the path.
//!
//! Several questions about one path may be answered about several files: a link may be turned
//! meanwhile, a directory replaced, a loop device's number given to another file. So a path is
//! followed once, and everything else goes through the descriptor. That is one without rights
//! (`O_PATH`): nothing is opened, no driver or file system notices.
//!
//! Source: open(2) on `O_PATH`; proc(5) on `/proc/self/fd`.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags};
use units::DiskText;

use crate::file_identity::PathIdentity;

/// A file, directory or device, held as the place that a path led to.
#[derive(Clone, Debug)]
pub struct Pinned {
    file: Arc<OwnedFd>,
    given: PathBuf,
    identity: PathIdentity,
    kind: FileType,
}

impl Pinned {
    /// Follows `path` and its links to what is there now.
    ///
    /// # Errors
    /// When the file is missing or a directory on the way may not be searched.
    pub fn at(path: &Path) -> io::Result<Pinned> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        let (identity, kind) = (PathIdentity::of(&stat), FileType::from_raw_mode(stat.st_mode));
        Ok(Pinned { file: Arc::new(file), given: path.to_owned(), identity, kind })
    }

    /// The path as it was given: for people, and never to be followed again.
    #[must_use]
    pub fn given(&self) -> &Path {
        &self.given
    }

    /// The path as it was given, harmless to print.
    #[must_use]
    pub fn text(&self) -> DiskText {
        DiskText::from_bytes(self.given.as_os_str().as_encoded_bytes())
    }

    /// A path that leads to this very file in this process and its children, and nowhere else:
    /// `/proc/self/fd/N`.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// Returns its identity.
    #[must_use]
    pub fn identity(&self) -> PathIdentity {
        self.identity
    }

    /// Returns whether it is a directory.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.kind == FileType::Directory
    }

    pub(crate) fn kind(&self) -> FileType {
        self.kind
    }
}

impl AsFd for Pinned {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_was_pinned_stays_when_its_path_is_turned_to_another_file() {
        let scratch = testkit::Scratch::new();
        let (one, other) = (scratch.file("one", b"one"), scratch.file("other", b"other"));
        let link = scratch.path().join("link");
        symlink(&one, &link).unwrap();
        let pinned = Pinned::at(&link).unwrap();
        std::fs::remove_file(&link).unwrap();
        symlink(&other, &link).unwrap();
        assert_eq!(std::fs::read(pinned.path()).unwrap(), b"one");
        assert_eq!(std::fs::read(pinned.given()).unwrap(), b"other");
        assert_eq!(pinned.identity(), crate::identity(&one).unwrap());
    }

    #[test]
    fn a_directory_that_was_replaced_is_still_the_one_that_was_pinned() {
        let scratch = testkit::Scratch::new();
        let (here, away) = (scratch.path().join("here"), scratch.path().join("away"));
        std::fs::create_dir(&here).unwrap();
        let pinned = Pinned::at(&here).unwrap();
        std::fs::rename(&here, &away).unwrap();
        std::fs::create_dir(&here).unwrap();
        std::fs::write(pinned.path().join("file"), b"").unwrap();
        assert!(pinned.is_directory() && away.join("file").exists());
    }
}
