//! The kernel's own count of who has a file open for writing: it gives a read lease only where
//! nobody has.
//!
//! It sees who `/proc` does not show: programs in other containers and of other users, descriptors
//! on their way through a socket, mappings whose descriptor was closed, and the kernel itself,
//! which swaps to a file or serves it. While a lease is held, who opens the file for writing has to
//! wait; so it is given back at once, and the signal that would ask for it does nothing.
//!
//! Source: fcntl(2), "Leases"; Linux `fs/locks.c`, `check_conflicting_open`.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use crate::PathIdentity;

/// For how long a writer is asked for again before it is one: what a loop device or a process that
/// ended had open is closed a little later.
const PATIENCE: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_millis(20);

/// Sets the signal that asks for the lease back (`asm-generic/fcntl.h`; only PA-RISC has another).
const F_SETSIG: libc::c_int = 10;

/// File systems whose files are written through this kernel's own inodes alone: ext2 to ext4, XFS,
/// btrfs, tmpfs, F2FS, bcachefs (`include/uapi/linux/magic.h`, `fs/bcachefs/bcachefs_format.h`).
/// Under overlayfs and FUSE lie other inodes; NFS and SMB give no lease without one of the server.
const LOCAL: [u32; 6] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0xf2f5_2010, 0xca45_1a4e];

/// Returns whether somebody, this process included, has `file`, to which `path` leads, open for
/// writing. `None` where the kernel does not tell: to users who neither own the file nor have
/// `CAP_LEASE`, and on file systems other than the local ones.
pub(crate) fn is_open_for_writing(file: PathIdentity, path: &Path) -> Option<bool> {
    // Opening what is none of the files that were looked at might do more than open it.
    if crate::identity(path).ok()? != file {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    if PathIdentity::of(&rustix::fs::fstat(&opened).ok()?) != file {
        return None;
    }
    let kind = u32::try_from(rustix::fs::fstatfs(&opened).ok()?.f_type).ok()?;
    if !LOCAL.contains(&kind) {
        return None;
    }
    let until = Instant::now() + PATIENCE;
    loop {
        match lease(&opened).map_err(|error| error.raw_os_error()) {
            Ok(()) => return Some(false),
            Err(Some(libc::EAGAIN)) if Instant::now() < until => std::thread::sleep(STEP),
            Err(Some(libc::EAGAIN)) => return Some(true),
            Err(_) => return None,
        }
    }
}

/// Takes a read lease on `file` and gives it back.
fn lease(file: &OwnedFd) -> io::Result<()> {
    // SIGURG is ignored unless a program asks for it; the usual signal, SIGIO, would end this one.
    set(file, F_SETSIG, libc::SIGURG)?;
    set(file, libc::F_SETLEASE, libc::F_RDLCK)?;
    set(file, libc::F_SETLEASE, libc::F_UNLCK)
}

#[expect(unsafe_code, reason = "no safe crate asks for leases")]
fn set(file: &OwnedFd, command: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: both commands take a number and touch no memory; the descriptor is open.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, value) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn asked(path: &Path) -> Option<bool> {
        is_open_for_writing(crate::identity(path).unwrap(), path)
    }

    #[test]
    fn a_writer_is_one_and_readers_and_what_closes_soon_are_none() {
        let scratch = testkit::Scratch::new();
        let path = scratch.file("image", b"bytes");
        let reader = File::open(&path).unwrap();
        let Some(is_written) = asked(&path) else {
            return testkit::skip("this file system gives no leases");
        };
        assert!(!is_written);
        let writer = File::options().append(true).open(&path).unwrap();
        assert_eq!(asked(&path), Some(true));
        let closing = std::thread::spawn(move || drop(writer));
        assert_eq!(asked(&path), Some(false));
        closing.join().unwrap();
        // Nobody has to wait for a lease that was given back.
        File::options().write(true).open(&path).unwrap();
        drop(reader);
    }

    #[test]
    fn a_file_of_which_a_program_has_a_lease_is_to_be_tried_again() {
        let scratch = testkit::Scratch::new();
        let path = scratch.file("image", b"bytes");
        let holder = OwnedFd::from(File::options().write(true).open(&path).unwrap());
        set(&holder, F_SETSIG, libc::SIGURG).unwrap();
        if set(&holder, libc::F_SETLEASE, libc::F_WRLCK).is_err() {
            return testkit::skip("this file system gives no leases");
        }
        let refused = crate::FileDisk::open(&path).unwrap_err();
        assert!(refused.hint().is_some_and(|hint| hint.ends_with("try again")), "{refused}");
        set(&holder, libc::F_SETLEASE, libc::F_UNLCK).unwrap();
        assert!(crate::FileDisk::open(&path).is_ok());
    }

    #[test]
    fn another_file_in_its_place_and_what_is_no_file_are_not_told_of() {
        let scratch = testkit::Scratch::new();
        let (one, other) = (scratch.file("one", b""), scratch.file("other", b""));
        assert_eq!(is_open_for_writing(crate::identity(&one).unwrap(), &other), None);
        assert_eq!(asked(Path::new("/dev/zero")), None);
        assert_eq!(asked(Path::new("/proc/self/status")), None, "no file of a local file system");
    }
}
