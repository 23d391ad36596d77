//! File systems that are never written in place.

/// Kinds that are made whole and never written in place.
const READ_ONLY: [&str; 6] = ["iso9660", "squashfs", "squashfs3", "erofs", "cramfs", "romfs"];

/// Returns whether file systems of `kind`, as `mount -t` names it, are made whole and never written
/// in place.
#[must_use]
pub fn is_read_only_kind(kind: &str) -> bool {
    READ_ONLY.contains(&kind)
}
