//! A file that has no name until all of it is there, so that nothing is left of one that is not.
//!
//! Source: open(2) on `O_TMPFILE`, whose example gives such a file its name.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

/// An empty file without a name in `directory`, which may be written by whom `mode` and the umask
/// allow; `None` where the file system makes no such files, or /proc is missing.
#[must_use]
pub fn nameless_file(directory: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
    let file = rustix::fs::open(directory, flags, Mode::from_raw_mode(mode)).ok()?;
    let file = File::from(file);
    std::fs::symlink_metadata(path_of(&file)).is_ok().then_some(file)
}

/// Gives `file` of [`nameless_file`] the name `path`, in the same directory.
///
/// # Errors
/// With `AlreadyExists` if something has that name.
pub fn give_name(file: &File, path: &Path) -> io::Result<()> {
    Ok(rustix::fs::linkat(CWD, path_of(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

fn path_of(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
