//! The layer that is full where a write found no space.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::path::Path;

use units::prefix::Size;

use super::below::{self, StoreBelow};
use super::{ScratchError, unfit_filesystems};
use crate::extents::facts_of;
use crate::{LiveTree, Pinned};

/// A layer below with less than this is full, in bytes: the length of a write.
const FULL_BYTES: u64 = 1 << 20;

/// The layer that is full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FullPart {
    /// The file system that the directory is on.
    Mounted,
    /// A store below it.
    Below(Box<StoreBelow>),
    /// Unknown: the file system has room.
    Unknown {
        /// Its free bytes.
        free_bytes: u64,
    },
}

impl FullPart {
    /// Place where space can be freed.
    pub(super) fn place(&self) -> String {
        match self {
            FullPart::Mounted => "there".to_owned(),
            FullPart::Below(store) => store.place(),
            FullPart::Unknown { .. } => "on the layers below, which lsblk -s lists".to_owned(),
        }
    }
}

impl fmt::Display for FullPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FullPart::Mounted => f.write_str("the file system"),
            FullPart::Below(store) => write!(f, "{store},"),
            FullPart::Unknown { free_bytes } => write!(
                f,
                "the file system has {} free, but a quota or a layer below it",
                Size(*free_bytes)
            ),
        }
    }
}

/// `error` of writing `length_bytes` in `directory`, with the layer that is full.
pub(super) fn blamed(
    error: ScratchError,
    directory: BorrowedFd<'_>,
    length_bytes: u64,
) -> ScratchError {
    match error {
        ScratchError::Full { directory: place, written_bytes, .. } => {
            let full = match store_without_room(directory) {
                Some(store) => FullPart::Below(Box::new(store)),
                None => mounted(directory, length_bytes.saturating_sub(written_bytes)),
            };
            ScratchError::Full { directory: place, full, written_bytes }
        }
        // A loop device without room for its file reports that as an error of its own.
        ScratchError::Failed { directory: place, at_bytes, attempted, reason } => {
            match store_without_room(directory) {
                Some(store) => {
                    let full = FullPart::Below(Box::new(store));
                    ScratchError::Full { directory: place, full, written_bytes: at_bytes }
                }
                None => ScratchError::Failed { directory: place, at_bytes, attempted, reason },
            }
        }
        other => other,
    }
}

/// The file system of `directory`, if it lacks room for `rest_bytes`.
fn mounted(directory: BorrowedFd<'_>, rest_bytes: u64) -> FullPart {
    match unfit_filesystems::of(directory) {
        Ok(filesystem) if filesystem.free_bytes >= rest_bytes => {
            FullPart::Unknown { free_bytes: filesystem.free_bytes }
        }
        _ => FullPart::Mounted,
    }
}

/// The nearest store below the file system of `directory` that takes space and has none.
fn store_without_room(directory: BorrowedFd<'_>) -> Option<StoreBelow> {
    let facts = facts_of(directory).ok()?;
    let stores = below::stores(&LiveTree::new(Path::new("/")), &facts, FULL_BYTES);
    let is_full = |store: &StoreBelow| {
        store.needs_bytes() > 0 && store.room().is_some_and(|room| room.free_bytes < FULL_BYTES)
    };
    stores.into_iter().find(is_full)
}

/// The nearest layer below the file system of `directory` that takes space and has none, with the
/// place where space can be freed.
#[must_use]
pub fn full_below(directory: &Pinned) -> Option<StoreBelow> {
    use std::os::fd::AsFd as _;
    store_without_room(directory.as_fd())
}

#[cfg(test)]
mod tests {
    use testkit::{Loop, Mount, need_loops, need_tools, scratch::text, tool};
    use units::DiskText;

    use super::*;

    #[test]
    fn the_layer_below_that_is_full_is_named_for_errors_of_both_kinds() {
        need_loops!();
        need_tools!("mkfs.ext4", "fallocate");
        let scratch = testkit::Scratch::new();
        let low = Mount::new("tmpfs", "size=32m", "none", &scratch.path().join("low"));
        let image = low.path().join("t.img");
        tool::run("truncate", &["-s", "512M", text(&image)]);
        let device = Loop::attach(&image, 512);
        let node = text(device.path()).to_owned();
        tool::run("mkfs.ext4", &["-q", "-F", "-E", "nodiscard", &node]);
        let up = Mount::new("ext4", "", &node, &scratch.path().join("up"));
        // It is closed before the rest is taken down.
        let directory = Pinned::at(up.path()).unwrap();
        let place = || DiskText::from("/up");
        let errors = || {
            let full = FullPart::Mounted;
            let written_bytes = 7 << 20;
            let (attempted, reason) = ("fsync", "Input/output error".to_owned());
            [
                ScratchError::Full { directory: place(), full, written_bytes },
                ScratchError::Failed { directory: place(), at_bytes: 0, attempted, reason },
            ]
        };
        let said = || {
            use std::os::fd::AsFd as _;
            errors().map(|error| blamed(error, directory.as_fd(), 33 << 20).to_string())
        };
        let [full, failed] = said();
        assert!(
            full.contains("free, but a quota or a layer below it is full after 7 MiB"),
            "{full}"
        );
        assert!(failed.ends_with("Input/output error"), "{failed}");
        let room = rustix::fs::statvfs(low.path()).unwrap();
        let length = (room.f_bavail * room.f_frsize).to_string();
        tool::run("fallocate", &["-l", &length, text(&low.path().join("filler"))]);
        for said in said() {
            assert!(said.contains("t.img, is full after "), "{said}");
            assert!(!said.contains("the file system"), "{said}");
        }
    }
}
