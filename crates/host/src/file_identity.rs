//! Identities of files, whatever path led to them.

use std::io;
use std::path::Path;

use rustix::fs::{self, FileType, Stat};

/// The end of a path. Two paths to the same file, or to nodes of the same device, are equal: so
/// targets named twice and backing chains that come back are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathIdentity {
    /// A file in a file system.
    File {
        /// The number of the device that the file system is on.
        device: u64,
        /// The file's inode.
        inode: u64,
    },
    /// A block device, whichever node names it.
    Block {
        /// The major number.
        major: u32,
        /// The minor number.
        minor: u32,
    },
}

impl PathIdentity {
    pub(crate) fn of(stat: &Stat) -> PathIdentity {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::BlockDevice => PathIdentity::Block {
                major: fs::major(stat.st_rdev),
                minor: fs::minor(stat.st_rdev),
            },
            _ => PathIdentity::File { device: stat.st_dev, inode: stat.st_ino },
        }
    }
}

/// Returns the identity of the file that `path` leads to, links followed. It opens nothing.
///
/// # Errors
/// When the file is missing or a directory on the way may not be searched.
pub fn identity(path: &Path) -> io::Result<PathIdentity> {
    Ok(PathIdentity::of(&fs::stat(path)?))
}

/// Returns whether the file systems that two paths are on are as large and have as much room, by
/// what they say themselves: statvfs(3).
///
/// # Errors
/// When a file is missing or a directory on the way may not be searched.
pub fn have_same_room(one: &Path, other: &Path) -> io::Result<bool> {
    let [one, other] = [fs::statvfs(one)?, fs::statvfs(other)?]
        .map(|room| [room.f_frsize, room.f_blocks, room.f_bfree, room.f_ffree]);
    Ok(one == other)
}

/// Flags of open(2) with which a link is not followed and a FIFO is not waited for.
#[must_use]
pub fn neither_follow_nor_wait() -> i32 {
    use rustix::fs::OFlags;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    flags.bits().cast_signed()
}
