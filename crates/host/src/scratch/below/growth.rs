//! Growth of a file while it is written over.

use std::fs::File;
use std::path::Path;

use device::ExtentFlags;
use rustix::fs::{IFlags, Mode, OFlags};
use units::ByteRange;

use super::super::unfit_filesystems;
use crate::extents::extents_of;

/// File systems whose files never share blocks.
const UNSHARED: [&str; 4] = ["ext2", "ext3", "ext4", "tmpfs"];

/// Returns the most bytes that a file system of `kind` takes while `length_bytes` of the file at
/// `path` are written over: its holes, and the parts that it shares with other files. A file system
/// that writes elsewhere each time takes all.
pub(super) fn of(path: &Path, kind: &str, length_bytes: u64) -> u64 {
    let Ok(stat) = rustix::fs::stat(path) else { return length_bytes };
    let whole_bytes = u64::try_from(stat.st_size).unwrap_or(0);
    let held_bytes = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
    let holes_bytes = whole_bytes.saturating_sub(held_bytes);
    if UNSHARED.contains(&kind) {
        return holes_bytes.min(length_bytes);
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok().map(File::from);
    if unfit_filesystems::relocates(kind) && !file.as_ref().is_some_and(is_nocow) {
        return length_bytes;
    }
    let shared_bytes = file.map_or(0, |file| shared_bytes(&file, whole_bytes));
    holes_bytes.saturating_add(shared_bytes).min(length_bytes)
}

fn is_nocow(file: &File) -> bool {
    rustix::fs::ioctl_getflags(file).is_ok_and(|flags| flags.contains(IFlags::NOCOW))
}

fn shared_bytes(file: &File, whole_bytes: u64) -> u64 {
    use std::os::fd::AsFd as _;
    let Some(whole) = ByteRange::new(0, whole_bytes) else { return 0 };
    let Ok(list) = extents_of(file.as_fd(), whole, false) else { return 0 };
    let shared = list.extents.iter().filter(|extent| extent.flags.has(ExtentFlags::SHARED));
    shared.map(|extent| extent.logical.length_bytes()).fold(0, u64::saturating_add)
}
