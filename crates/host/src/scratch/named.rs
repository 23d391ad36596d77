//! A scratch file that needs a name, and how the name goes whatever ends the process.
//!
//! Some file systems take the sync of a file that no name leads to for needless: such a file is
//! gone after a crash anyway. btrfs logs nothing for it (`fs/btrfs/tree-log.c`,
//! `btrfs_log_inode_parent`: "inodes corresponding to tmpfiles"), ZFS writes no intent
//! (`zfs_log.c`, `z_unlinked`), f2fs makes a whole checkpoint (`fs/f2fs/file.c`,
//! `need_do_checkpoint`, where the number of links is not 1). There syncs are measured on a file
//! with a name. When this process ends, its guard removes the name; when both are killed at once,
//! the next run does ([`super::leftover`]), which takes only what it can lock.
//!
//! | step | what a cut here leaves |
//! |---|---|
//! | the guard starts | nothing |
//! | the file is made, empty | what the guard removes, or else a sweep |
//! | it is locked | the same: a lock goes with the process |
//! | whether it has its name still is looked at | the same |
//!
//! A sweep removes a name only while it has the lock. So where a sweep of somebody else comes
//! between the second and the third step, either the lock cannot be had, or the name is gone, and
//! another name is tried. From the fourth step on no sweep gets the lock.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::engine::now_ns;

use super::guard::NameGuard;
use super::lock::lock;
use super::scratch_name::ScratchName;
use super::unfit_filesystems;
use super::unnamed::nameless;

/// File systems that sync a file without a name as they do one that has one.
const NAMELESS: [&str; 5] = ["ext2", "ext3", "ext4", "xfs", "tmpfs"];
/// Number of names that are tried, where others sweep meanwhile.
const NAMES: u64 = 16;

/// Returns whether a file on `filesystem` must have a name, so that syncs of it are those of
/// others.
pub(super) fn is_needed(filesystem: &str) -> bool {
    !NAMELESS.contains(&filesystem)
}

/// An empty file in `directory`, on which syncs are what they are on others: without a name, or,
/// where its file system asks for one, with a name that goes when the process does.
///
/// # Errors
/// When the file system cannot be asked for, or the file cannot be made so.
pub(crate) fn synced_file(directory: &OwnedFd) -> Result<(OwnedFd, Option<Name>), Errno> {
    let filesystem = unfit_filesystems::of(directory.as_fd());
    let filesystem =
        filesystem.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    if is_needed(&filesystem.name) {
        return Name::create(directory, now_ns()).map(|(file, name)| (file, Some(name)));
    }
    nameless(directory.as_fd()).map(|file| (file, None))
}

/// A name in a directory. It is removed when this is dropped, or when the process is no more.
#[derive(Debug)]
pub(crate) struct Name {
    directory: OwnedFd,
    name: String,
    /// Ends after the name.
    _guard: NameGuard,
}

impl Name {
    /// A new file in `directory`, with its name, locked as long as it is open. The guard is there
    /// before the name is. Where its file system has no locks, no sweep knows its name.
    ///
    /// # Errors
    /// When the file cannot be made, or the guard cannot be started.
    pub(crate) fn create(directory: &OwnedFd, number: u64) -> Result<(OwnedFd, Name), Errno> {
        for attempt in 0..NAMES {
            let (file, name) = Name::made(directory, &ScratchName::marked(number ^ attempt))?;
            match is_ours(file.as_fd(), name.directory.as_fd(), &name.name) {
                Ok(true) => return Ok((file, name)),
                Ok(false) => {}
                Err(_) => return Name::made(directory, &ScratchName::unmarked(number)),
            }
        }
        Err(Errno::AGAIN)
    }

    /// A new file that is called `label`.
    fn made(directory: &OwnedFd, label: &ScratchName) -> Result<(OwnedFd, Name), Errno> {
        let errno = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        let directory = directory.try_clone().map_err(errno)?;
        let name = label.to_string();
        let guard = NameGuard::start(&directory, &name).map_err(errno)?;
        let name = Name { directory, name, _guard: guard };
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::EXCL | OFlags::CREATE;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(name.directory.as_fd(), name.name.as_str(), flags, mode)?;
        Ok((file, name))
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        // Where it is gone already, or the file system is read-only now, nothing can be done.
        let directory = self.directory.as_fd();
        let _ = rustix::fs::unlinkat(directory, self.name.as_str(), AtFlags::empty());
    }
}

/// Locks `file`, which was just made as `name`; `false` where a sweep was faster.
///
/// # Errors
/// When its file system has no locks.
fn is_ours(file: BorrowedFd<'_>, directory: BorrowedFd<'_>, name: &str) -> Result<bool, Errno> {
    if !lock(file)? {
        return Ok(false);
    }
    Ok(rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::Pinned;

    fn sweep(directory: &std::path::Path) -> Vec<super::super::Leftover> {
        super::super::sweep(&Pinned::at(directory).unwrap())
    }

    #[test]
    fn a_sweep_that_is_faster_is_noticed_wherever_it_comes() {
        let scratch = testkit::Scratch::new();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = rustix::fs::open(scratch.path(), flags, Mode::empty()).unwrap();
        let name = ScratchName::marked(1).to_string();
        let path = scratch.path().join(&name);
        let made = || File::create(&path).unwrap();
        let is_ours = |file: &File| is_ours(file.as_fd(), directory.as_fd(), &name);

        let before_the_lock = made();
        assert_eq!(sweep(scratch.path()).len(), 1);
        assert_eq!(is_ours(&before_the_lock), Ok(false), "its name is gone");

        let at_the_lock = made();
        let sweeper = File::options().write(true).open(&path).unwrap();
        assert_eq!(lock(sweeper.as_fd()), Ok(true));
        assert_eq!(is_ours(&at_the_lock), Ok(false), "somebody else has the lock");
        std::fs::remove_file(&path).unwrap();

        let behind_the_lock = made();
        assert_eq!(is_ours(&behind_the_lock), Ok(true));
        assert_eq!(sweep(scratch.path()), []);
        assert!(path.exists());
    }
}
