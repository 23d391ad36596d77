//! FUSE without a mount point, and what ends a connection whose server does not answer.
//!
//! A file system that is mounted nowhere cannot be held by another mount namespace, and goes with
//! its last open file. Source: fsopen(2), fsmount(2) of util-linux's man pages;
//! `Documentation/filesystems/fuse/fuse.rst` ("The control filesystem").

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount,
    fsopen,
};

const CONNECTIONS: &str = "/sys/fs/fuse/connections";

/// A file system that is mounted nowhere.
#[derive(Debug)]
pub struct DetachedFuse {
    /// Its connection: requests are read from it, and answers written to it.
    pub connection: OwnedFd,
    root: OwnedFd,
}

impl DetachedFuse {
    /// A new one. Nothing of it can be opened before the connection is served.
    ///
    /// # Errors
    /// When FUSE is not there, or this process may not mount.
    pub fn new() -> io::Result<DetachedFuse> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let connection = rustix::fs::open("/dev/fuse", flags, Mode::empty())?;
        let context = fsopen("fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
        let context = context.as_fd();
        let user = rustix::process::geteuid().as_raw().to_string();
        let group = rustix::process::getegid().as_raw().to_string();
        fsconfig_set_string(context, "source", "straddle")?;
        fsconfig_set_string(context, "fd", connection.as_raw_fd().to_string())?;
        fsconfig_set_string(context, "rootmode", "40000")?;
        fsconfig_set_string(context, "user_id", user)?;
        fsconfig_set_string(context, "group_id", group)?;
        fsconfig_create(context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        let root = fsmount(context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        Ok(DetachedFuse { connection, root })
    }

    /// The directory of the file system, without its connection.
    #[must_use]
    pub fn into_parts(self) -> (OwnedFd, FuseRoot) {
        (self.connection, FuseRoot(self.root))
    }
}

/// The directory of a file system that is mounted nowhere, which goes when this is dropped and no
/// file of it is open.
#[derive(Debug)]
pub struct FuseRoot(OwnedFd);

impl FuseRoot {
    /// Opens the file called `name`, for reading and writing past the page cache.
    ///
    /// # Errors
    /// When its server does not let it.
    pub fn open(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::DIRECT;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::empty())?.into())
    }
}

/// The control files of a connection, opened before anything can hang on it.
#[derive(Debug)]
pub struct FuseControl {
    abort: File,
    directory: OwnedFd,
}

impl FuseControl {
    /// The control files of the connection that serves `file`.
    ///
    /// # Errors
    /// When the kernel shows no control files, as in most containers, or they are another user's.
    pub fn of(file: BorrowedFd<'_>) -> io::Result<FuseControl> {
        let device = rustix::fs::fstat(file)?.st_dev;
        FuseControl::numbered(device)
    }

    /// The control files of the connection of a file system with device number `device`.
    ///
    /// # Errors
    /// Same as [`FuseControl::of`]; also when the connection is gone.
    pub fn numbered(device: u64) -> io::Result<FuseControl> {
        // It is called by its number as the kernel holds it (fs/fuse/control.c, kdev_t.h).
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        let name = (major << 20) | minor;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let all = connections()?;
        let directory = rustix::fs::openat(&all, name.to_string(), flags, Mode::empty())?;
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let abort = rustix::fs::openat(&directory, "abort", flags, Mode::empty())?.into();
        Ok(FuseControl { abort, directory })
    }

    /// Returns whether a file system with device number `major`:`minor` is one of FUSE whose
    /// connection is there; `false` where the kernel shows no control files.
    #[must_use]
    pub fn is_there((major, minor): (u32, u32)) -> bool {
        FuseControl::numbered(rustix::fs::makedev(major, minor)).is_ok()
    }

    /// Number of requests that have no answer; 0 where the connection is gone.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        // The file cannot be read again: its number is that of the first reading.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.directory, "waiting", flags, Mode::empty());
        let mut text = [0; 32];
        let length = file.and_then(|file| rustix::io::read(file, &mut text)).unwrap_or(0);
        let text = std::str::from_utf8(&text[..length]).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    /// Ends the connection: all requests fail, now and from now on.
    pub fn abort(&self) {
        // One that is gone is what was wanted.
        let _ = (&self.abort).write_all(b"1");
    }
}

/// The directory of all connections: the mounted one, else one that is mounted nowhere.
fn connections() -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mounted = rustix::fs::open(CONNECTIONS, flags, Mode::empty())?;
    let is_empty = std::fs::read_dir(CONNECTIONS)?.next().is_none();
    if !is_empty {
        return Ok(mounted);
    }
    let context = fsopen("fusectl", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::empty();
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Returns whether a file system of FUSE is mounted on `point`, in this mount namespace. It is not
/// asked anything, since it may not answer.
#[must_use]
pub fn is_fuse_mounted(point: &Path) -> bool {
    let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines().any(|line| {
        let is_there = line.split(' ').nth(4).is_some_and(|text| unescaped(text) == point);
        let kind = line.split_once(" - ").map_or("", |(_, rest)| rest);
        is_there && kind.starts_with("fuse")
    })
}

/// Unmounts `point`; `at_once` takes it out of sight where it is in use. Returns whether the kernel
/// did.
#[must_use]
pub fn unmount(point: &Path, at_once: bool) -> bool {
    use rustix::mount::UnmountFlags;
    let flags = if at_once { UnmountFlags::DETACH } else { UnmountFlags::empty() };
    rustix::mount::unmount(point, flags | UnmountFlags::NOFOLLOW).is_ok()
}

/// A path of mountinfo: blanks and backslashes are octal there.
pub(crate) fn unescaped(text: &str) -> PathBuf {
    let places = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    let plain = |text: String, &(code, mark): &(&str, &str)| text.replace(code, mark);
    PathBuf::from(places.iter().fold(text.to_owned(), plain))
}

/// Puts `/dev/null` in the place of standard output, so that a file there is not held open.
///
/// # Errors
/// When `/dev/null` cannot be opened.
pub fn release_output() -> io::Result<()> {
    let nothing = File::options().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(nothing)?)
}

/// Keeps this process from waiting for its own clients when memory is short: it leaves the memory
/// control group that it may share with them, its pages stay in memory, and no allocation waits for
/// I/O. Returns whether all of that was granted.
#[must_use]
pub fn serve_under_memory_pressure() -> bool {
    use rustix::mm::{MlockAllFlags, mlockall};
    // The root of the memory controller, of version 1 and 2, whose processes no group limits.
    let roots = ["/sys/fs/cgroup/memory/cgroup.procs", "/sys/fs/cgroup/cgroup.procs"];
    let own = std::process::id().to_string();
    let is_free = roots.iter().any(|root| {
        let file = File::options().write(true).open(root);
        file.and_then(|mut file| file.write_all(own.as_bytes())).is_ok()
    });
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    let is_locked = mlockall(flags).is_ok();
    let is_flusher = rustix::process::configure_io_flusher_behavior(true).is_ok();
    is_free && is_locked && is_flusher
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_is_gone_has_no_control_files() {
        assert!(FuseControl::numbered(rustix::fs::makedev(0, 0xfffff)).is_err());
    }
}
