//! A scratch file that needs a name, and how the name goes whatever ends the process.
//!
//! Some file systems take the sync of a file that no name leads to for needless: such a file is
//! gone after a crash anyway. btrfs logs nothing for it (`fs/btrfs/tree-log.c`,
//! `btrfs_log_inode_parent`: "inodes corresponding to tmpfiles"), ZFS writes no intent
//! (`zfs_log.c`, `z_unlinked`), f2fs makes a whole checkpoint (`fs/f2fs/file.c`,
//! `need_do_checkpoint`, where the number of links is not 1). There syncs are measured on a file
//! with a name. A small process holds the directory and reads from a pipe whose other end only this
//! process has; when that is closed, however, it removes the name.

use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

/// File systems that sync a file without a name as they do one that has one.
const NAMELESS: [&str; 5] = ["ext2", "ext3", "ext4", "xfs", "tmpfs"];
/// Waits for the end of its input, and removes the name.
const SCRIPT: &str = "read -r line; rm -f -- \"$1\"";

/// Whether a file on `filesystem` must have a name, so that syncs of it are those of others.
pub(super) fn is_needed(filesystem: &str) -> bool {
    !NAMELESS.contains(&filesystem)
}

/// A name in a directory. It is removed when this is dropped, or when the process is no more.
#[derive(Debug)]
pub(crate) struct Name {
    directory: OwnedFd,
    name: String,
    /// Holds the pipe's other end too.
    guard: Child,
}

impl Name {
    /// A new file in `directory`, with its name. The guard is there before the name is.
    ///
    /// # Errors
    /// When the file cannot be made, or the guard cannot be started.
    pub(crate) fn create(directory: &OwnedFd, number: u64) -> Result<(OwnedFd, Name), Errno> {
        let name = format!(".straddle-scratch-{}-{number}", std::process::id());
        let own = directory.try_clone().map_err(|error| errno(&error))?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "sh", &name]).process_group(0);
        command.current_dir(format!("/proc/self/fd/{}", own.as_raw_fd()));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let guard = command.spawn().map_err(|error| errno(&error))?;
        let name = Name { directory: own, name, guard };
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::EXCL | OFlags::CREATE;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(name.directory.as_fd(), name.name.as_str(), flags, mode)?;
        Ok((file, name))
    }
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

impl Drop for Name {
    fn drop(&mut self) {
        // Where it is gone already, or the file system is read-only now, nothing can be done.
        let directory = self.directory.as_fd();
        let _ = rustix::fs::unlinkat(directory, self.name.as_str(), AtFlags::empty());
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}
