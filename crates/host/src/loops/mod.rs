//! Loop devices: which file is behind one, and new ones over a part of a file.
//!
//! Source: Linux `include/uapi/linux/loop.h`, `drivers/block/loop.c`.

mod attach;
mod open;
mod status;

pub use attach::{LoopDevice, LoopError, LoopPlan};
pub(crate) use status::status;

use std::io;
use std::path::Path;

/// The file behind a loop device: the device number of its file system, and its inode there. The
/// path that sysfs shows may name another file, where the loop was set up in another mount
/// namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopFile {
    /// Major and minor, as statx(2) gives them.
    pub device: (u32, u32),
    /// The inode.
    pub inode: u64,
}

/// The file behind the loop device at `node`.
///
/// # Errors
/// When the device may not be opened for reading, or is no loop device in use.
pub fn loop_file(node: &Path) -> io::Result<LoopFile> {
    Ok(status(node)?.file())
}

#[cfg(test)]
mod tests;
