//! The wanted length and content of a scratch file.

/// Wanted length and content of a scratch file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScratchPlan {
    /// Its length in bytes: a multiple of 4096.
    pub length_bytes: u64,
    /// Seed of its bytes.
    pub seed: u64,
    /// Largest number of bytes that may be written. A longer file is refused, not made shorter.
    pub budget_bytes: u64,
    /// On btrfs, whether the file is written in place (`chattr +C`), as it must be where writes are
    /// placed. Elsewhere it has no meaning.
    pub nocow_on_btrfs: bool,
    /// True if a file system that writes elsewhere each time (ZFS, bcachefs, f2fs, nilfs2) will do:
    /// where no write is to be placed.
    pub may_move: bool,
}

#[cfg(test)]
impl ScratchPlan {
    /// A file as most measurements want it.
    pub(super) const EXAMPLE: ScratchPlan = ScratchPlan {
        length_bytes: 64 << 20,
        seed: 1,
        budget_bytes: 256 << 20,
        nocow_on_btrfs: true,
        may_move: false,
    };
}
