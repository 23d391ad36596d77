//! Files that a disk image names: backing files, data files, extents.

use std::fmt;
use std::rc::Rc;

use crate::disk::Disk;

/// The identity of a file under all its names: device and inode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileIdentity {
    /// The device that holds it.
    pub device: u64,
    /// Its inode there.
    pub inode: u64,
}

/// A file that was opened for reading.
#[derive(Clone)]
pub struct OpenFile {
    /// The path by which it was opened, absolute where that is known.
    pub path: Vec<u8>,
    /// The identity of that file.
    pub identity: FileIdentity,
    /// Its bytes.
    pub disk: Rc<dyn Disk>,
}

impl fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFile").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// Why a file that an image names is not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOpened {
    /// It is outside of the image's directory, and nobody asked for what is there.
    Outside,
    /// It does not exist, may not be read, or is no regular file; the text says which.
    Failed(String),
}

/// Opens files that images name. The names are hostile: implementations open regular files only,
/// for reading only.
pub trait Files {
    /// Opens `path`, which stands in the image at `image_path`: relative to the directory of that,
    /// unless it is absolute.
    ///
    /// # Errors
    /// When it is not to be opened, or cannot be.
    fn open_beside(&self, image_path: &[u8], path: &[u8]) -> Result<OpenFile, NotOpened>;
}

/// Opens nothing: for captured heads and tests.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn open_beside(&self, _image_path: &[u8], _path: &[u8]) -> Result<OpenFile, NotOpened> {
        Err(NotOpened::Failed("other files are not looked at here".to_owned()))
    }
}
