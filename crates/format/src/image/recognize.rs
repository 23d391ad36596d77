//! Recognizes a file's format: one read of its head and, when that says nothing, one of its tail.

use device::{Disk, disk};

use super::{Image, named, qcow2, vdi, vhd, vhdx, vmdk};
use crate::Parsed;

/// Bytes of the head that are read: enough for every magic and for most headers.
const HEAD_BYTES: u64 = 4096;
/// Bytes of the tail that are read: a VHD's trailer, and the old one that is a byte shorter.
const TAIL_BYTES: u64 = 512;

/// A format, and what reads its header, given the file and its first bytes.
type ByHead = (&'static str, fn(&dyn Disk, &[u8]) -> Option<Parsed<Image>>);

const BY_HEAD: [ByHead; 6] = [
    ("qcow2", qcow2::read),
    ("vhd", vhd::read_head),
    ("vdi", vdi::read),
    ("vmdk", vmdk::read),
    ("vhdx", vhdx::read),
    // Those that are only named, some of them by their tail.
    ("named", named::read),
];

/// The name of every format's reader, the likeliest first.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BY_HEAD.iter().map(|(name, _)| *name)
}

/// Reads the header of whichever format `file` is; `None` when none is recognized (a raw image).
#[must_use]
pub fn read(file: &dyn Disk) -> Option<Parsed<Image>> {
    read_as(file, |_| true)
}

/// Same as [`read`], by the readers whose names are `wanted` only.
pub(crate) fn read_as(file: &dyn Disk, wanted: impl Fn(&str) -> bool) -> Option<Parsed<Image>> {
    let length = file.length_bytes();
    let head = disk::read_vec(file, 0, length.min(HEAD_BYTES)).ok()?;
    let mut by_head = BY_HEAD.iter().filter(|(name, _)| wanted(name));
    if let Some(found) = by_head.find_map(|(_, read)| read(file, &head)) {
        return Some(found);
    }
    let at_bytes = length.checked_sub(TAIL_BYTES)?;
    let tail = disk::read_vec(file, at_bytes, TAIL_BYTES).ok()?;
    if wanted("vhd") { vhd::read_tail(file, &tail) } else { None }
}
