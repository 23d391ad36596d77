//! The file system: pages that are written for the first time must get one place, too.

use format::filesystem::XFS_REALTIME;
use stack::LayerKind;
use units::prefix::Exact;

use super::page_layer::PageFate;

/// Fate of a page in a file system of this `kind`.
///
/// ext4 and XFS write to an allocated block in place. A unit of allocation that is a multiple of a
/// page keeps the page in one extent; an extent size is a hint, so it does not count. Source: Linux
/// `fs/ext4/ext4.h` (`EXT4_CLUSTER_SIZE`), `fs/xfs/libxfs/xfs_bmap.c`.
pub(super) fn fate(kind: &LayerKind, page: u64) -> (PageFate, String) {
    let LayerKind::FileSystem(system) = kind else {
        return (PageFate::Unknown, "its superblock was not read".to_owned());
    };
    if !matches!(system.kind, "ext4" | "xfs") {
        let reason = "does not promise whole writes";
        return (PageFate::Unknown, reason.to_owned());
    }
    if system.details.iter().any(|(term, _)| *term == XFS_REALTIME) {
        let reason = "a file may be in its realtime section, which is not followed";
        return (PageFate::Unknown, reason.to_owned());
    }
    let Some(unit) = system.allocated_bytes().filter(|&unit| unit > 0) else {
        return (PageFate::Unknown, "its unit of allocation is not known".to_owned());
    };
    if unit.is_multiple_of(page) {
        let reason = format!("allocates in units of {}, so a page has one place", Exact(unit));
        return (PageFate::Whole, reason);
    }
    let reason =
        format!("allocates in units of {}, so a page may have several places", Exact(unit));
    (PageFate::Torn, reason)
}

/// The way to a file system of this `kind` that keeps pages of `page` bytes in one place; `None`
/// where none is known.
pub(super) fn remedy(kind: &LayerKind, page: u64) -> Option<String> {
    let LayerKind::FileSystem(system) = kind else { return None };
    let make = match system.kind {
        "ext4" => format!("mkfs.ext4 -O bigalloc -C {page} (ERASES it)"),
        "xfs" => format!("mkfs.xfs -b size={page} (ERASES it; Linux 6.12 or later)"),
        _ => return None,
    };
    Some(format!("back up, {make}, restore"))
}
