//! File systems that are never written in place.

/// Kinds that are made whole and never written in place.
pub(super) const READ_ONLY: [&str; 6] =
    ["iso9660", "squashfs", "squashfs3", "erofs", "cramfs", "romfs"];
