//! The attachment of a served drive.

use std::path::PathBuf;

/// An attachment that a guard takes away.
pub(super) enum Attached {
    /// A mount, and its directory where `is_own`.
    Point {
        /// Its mount point.
        point: PathBuf,
        /// True if the directory goes with it.
        is_own: bool,
    },
    /// A loop device, which the guard attaches.
    Loop,
}
