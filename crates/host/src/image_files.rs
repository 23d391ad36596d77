//! Files that images name, opened as [`device::Files`] asks: regular ones only, for reading only,
//! and unless the user asks for more only those beside the image.
//!
//! Whoever made an image chose the names in it. A name that leads elsewhere would have this process
//! read, perhaps as root, a file that its user never meant, and print what is in it.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use device::{FileIdentity, Files, NotOpened, OpenFile};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::disk::FileDisk;
use crate::file_identity::PathIdentity;
use crate::head_cache::HeadCache;

/// The files of this machine that an image may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFiles {
    /// Those in the image's directory and below it; no link and no `..` leads out of it.
    Directory,
    /// All.
    Everywhere,
}

impl Files for ImageFiles {
    fn open_beside(&self, image_path: &[u8], path: &[u8]) -> Result<OpenFile, NotOpened> {
        let named = Path::new(OsStr::from_bytes(path));
        let image = Path::new(OsStr::from_bytes(image_path));
        let directory = match image.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let full = directory.join(named);
        let disk = match self {
            ImageFiles::Directory => within(directory, named)?,
            ImageFiles::Everywhere => {
                FileDisk::open(&full).map_err(|error| NotOpened::Failed(error.to_string()))?
            }
        };
        // A name in an image must not make straddle read a device that nobody asked about.
        let PathIdentity::File { device, inode } = disk.identity() else {
            return Err(NotOpened::Failed(NO_FILE.to_owned()));
        };
        Ok(OpenFile {
            path: full.as_os_str().as_bytes().to_vec(),
            identity: FileIdentity { device, inode },
            disk: Rc::new(HeadCache::new(disk)),
        })
    }
}

const NO_FILE: &str = "not a regular file; only those are followed";

/// The file that `named` leads to from `directory` without leaving it.
fn within(directory: &Path, named: &Path) -> Result<FileDisk, NotOpened> {
    let failed = |error: Errno| match error {
        Errno::XDEV => NotOpened::Outside,
        error => NotOpened::Failed(crate::errno::words_of(error)),
    };
    let inner = inner(directory, named).ok_or(NotOpened::Outside)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(directory, flags, Mode::empty()).map_err(failed)?;
    // Opening a FIFO or a device has effects elsewhere, so it is looked at first.
    let found = confined(&root, &inner, OFlags::PATH).map_err(failed)?;
    let is_file = |file: &OwnedFd| {
        let mode = rustix::fs::fstat(file).map_err(failed)?.st_mode;
        match FileType::from_raw_mode(mode) {
            FileType::RegularFile => Ok(()),
            _ => Err(NotOpened::Failed(NO_FILE.to_owned())),
        }
    };
    is_file(&found)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = confined(&root, &inner, flags).map_err(failed)?;
    is_file(&file)?;
    FileDisk::of_file(file).map_err(|error| NotOpened::Failed(error.to_string()))
}

/// `named` as seen from `directory`; `None` for an absolute path to elsewhere. Images often name
/// the file beside them by its whole path.
fn inner(directory: &Path, named: &Path) -> Option<PathBuf> {
    if named.is_relative() {
        return Some(named.to_owned());
    }
    let real = std::fs::canonicalize(directory).ok();
    let given = std::path::absolute(directory).ok();
    let inner = [given, real].into_iter().flatten().find_map(|directory| {
        let inner = named.strip_prefix(directory).ok()?;
        Some(inner.to_owned())
    })?;
    Some(inner)
}

/// Opens `inner` below `root`. Where the kernel cannot keep it there (before Linux 5.6), only a
/// plain name is opened, and no link.
fn confined(root: &OwnedFd, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(root, inner, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS) if inner.components().count() == 1 && inner.file_name().is_some() => {
            rustix::fs::openat(root, inner, flags | OFlags::NOFOLLOW, Mode::empty())
        }
        Err(Errno::NOSYS) => Err(Errno::XDEV),
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Scratch;

    fn bytes(path: &Path) -> &[u8] {
        path.as_os_str().as_bytes()
    }

    #[test]
    fn names_are_relative_to_the_image_and_missing_ones_say_so() {
        let scratch = Scratch::new();
        let base = scratch.file("base.raw", b"bytes");
        let image = scratch.path().join("top.qcow2");
        for beside in [ImageFiles::Directory, ImageFiles::Everywhere] {
            let found = beside.open_beside(bytes(&image), b"base.raw").unwrap();
            assert_eq!(found.disk.length_bytes(), 5);
            let same = beside.open_beside(bytes(&image), bytes(&base)).unwrap();
            assert_eq!(found.identity, same.identity);
            let missing = beside.open_beside(bytes(&image), b"none.raw").unwrap_err();
            assert!(matches!(&missing, NotOpened::Failed(reason) if reason.contains("No such")));
        }
    }

    #[test]
    fn what_lies_outside_of_the_images_directory_is_opened_only_where_that_was_asked() {
        let scratch = Scratch::new();
        let secret = scratch.file("secret", b"bytes");
        let directory = scratch.path().join("images");
        std::fs::create_dir(&directory).unwrap();
        std::os::unix::fs::symlink(&secret, directory.join("link")).unwrap();
        std::os::unix::fs::symlink("../secret", directory.join("relative")).unwrap();
        let image = directory.join("top.vmdk");
        let names: [&[u8]; 4] = [bytes(&secret), b"../secret", b"link", b"relative"];
        for name in names {
            let refused = ImageFiles::Directory.open_beside(bytes(&image), name).unwrap_err();
            assert_eq!(refused, NotOpened::Outside, "{}", String::from_utf8_lossy(name));
            assert!(ImageFiles::Everywhere.open_beside(bytes(&image), name).is_ok());
        }
    }

    #[test]
    fn a_device_or_a_directory_named_by_an_image_is_not_opened() {
        let scratch = Scratch::new();
        let image = scratch.path().join("top.vmdk");
        std::fs::create_dir(scratch.path().join("directory")).unwrap();
        for beside in [ImageFiles::Directory, ImageFiles::Everywhere] {
            assert!(beside.open_beside(b"/x", b"/dev/zero").is_err());
            assert!(beside.open_beside(bytes(&image), b"directory").is_err());
        }
    }
}
