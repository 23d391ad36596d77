//! The user who runs this process, and what that user may do.

use std::io;
use std::path::Path;

use rustix::fs::{self, Access, AtFlags};

/// The effective user id of this process: geteuid(2).
#[must_use]
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The effective group id of this process: getegid(2).
#[must_use]
pub fn group() -> u32 {
    rustix::process::getegid().as_raw()
}

/// Returns whether this process has root's user id, as reading most block devices needs.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns whether this process may make files in `directory`: faccessat(2) with `AT_EACCESS`.
/// Nothing is written.
///
/// # Errors
/// When it is missing, no directory, on a mount that is read-only, or may not be written to.
pub fn may_make_files(directory: &Path) -> io::Result<()> {
    if !std::fs::metadata(directory)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let access = Access::WRITE_OK | Access::EXEC_OK;
    Ok(fs::accessat(fs::CWD, directory, access, AtFlags::EACCESS)?)
}

/// Raises the number of files that this process may have open to the most that it may
/// (getrlimit(2), `RLIMIT_NOFILE`): a counter of the kernel takes a file for each processor.
pub fn raise_open_files_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Where that is refused, opening the next file says so.
    let _ = setrlimit(Resource::Nofile, most);
}
