//! A partition of a generated disk.

/// A partition as it was made.
pub(super) struct MadePart {
    pub(super) number: u64,
    pub(super) kind: &'static str,
    pub(super) start: u64,
    pub(super) sectors: u64,
    /// Sectors that its content knows of.
    pub(super) content: u64,
}

impl MadePart {
    pub(super) fn is_fat(&self) -> bool {
        matches!(self.kind, "vfat" | "fat32")
    }
}
