//! The lock that says that a scratch file with a name is in use.
//!
//! It belongs to the open file (`F_OFD_SETLK`), so that it goes with the last descriptor, however
//! that is closed, and not when another descriptor of the same file is. Unlike `flock` it is one
//! with the locks that a machine takes which sees the file through NFS.
//!
//! Source: fcntl(2), "Open file description locks"; Linux `fs/locks.c`.

use std::os::fd::{AsRawFd as _, BorrowedFd};

use rustix::io::Errno;

/// Locks the whole of `file`, which is open for writing; `false` where somebody else has it.
///
/// # Errors
/// When its file system has no locks.
#[expect(unsafe_code, reason = "rustix does not have this command of fcntl")]
pub(super) fn lock(file: BorrowedFd<'_>) -> Result<bool, Errno> {
    // SAFETY: all fields of struct flock64 are numbers, for which zero is a value.
    let mut whole: libc::flock64 = unsafe { std::mem::zeroed() };
    whole.l_type = libc::F_WRLCK.try_into().map_err(|_| Errno::INVAL)?;
    whole.l_whence = libc::SEEK_SET.try_into().map_err(|_| Errno::INVAL)?;
    // SAFETY: fcntl(2) with F_OFD_SETLK takes an open descriptor, which `file` is, and a pointer to
    // a struct flock64, which it reads.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const whole) };
    if result == 0 {
        return Ok(true);
    }
    match Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO) {
        Errno::AGAIN | Errno::ACCESS => Ok(false),
        error => Err(error),
    }
}
