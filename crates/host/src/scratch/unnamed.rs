//! A file without a name.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::engine::now_ns;

use super::scratch_name::ScratchName;

/// Number of names that are tried where a file without one cannot be made.
const NAMES: u64 = 16;

/// An empty file in `directory` that has no name.
pub(super) fn nameless(directory: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let mode = Mode::RUSR | Mode::WUSR;
    let common = OFlags::RDWR | OFlags::CLOEXEC | OFlags::EXCL;
    match rustix::fs::openat(directory, c".", common | OFlags::TMPFILE, mode) {
        // What kernels and file systems without O_TMPFILE answer (open(2)).
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {}
        made => return made,
    }
    for attempt in 0..NAMES {
        let name = ScratchName::marked(now_ns() ^ attempt).to_string();
        match rustix::fs::openat(directory, &*name, common | OFlags::CREATE, mode) {
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
            Ok(file) => match rustix::fs::unlinkat(directory, &*name, AtFlags::empty()) {
                // Nobody has locked it, so that another run may have taken it for a leftover.
                Ok(()) | Err(Errno::NOENT) => return Ok(file),
                Err(error) => return Err(error),
            },
        }
    }
    Err(Errno::EXIST)
}
