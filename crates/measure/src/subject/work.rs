//! The work of an observation.

use device::{Action, SyncKind};

/// The work of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// A read or a write.
    pub action: Action,
    /// Sync after writes; reads are never synced.
    pub sync: Option<SyncKind>,
    /// A sync for so many writes; 0 for none.
    pub sync_every: u32,
    /// The length of each operation.
    pub operation_bytes: u32,
    /// Number of operations kept in flight, at least 1.
    pub depth: u16,
    /// The operations of an observation at a depth above 1.
    pub block_operations: u32,
}

impl Work {
    /// The sync and for how many writes there is one.
    pub(super) fn syncs(&self) -> Option<(SyncKind, u32)> {
        let is_read = self.action == Action::Read;
        self.sync.filter(|_| !is_read && self.sync_every > 0).map(|kind| (kind, self.sync_every))
    }

    /// The operations of one observation, syncs not counted.
    #[must_use]
    pub fn operations(&self) -> u32 {
        match (self.depth, self.syncs()) {
            (1, Some((_, every))) => every,
            (1, None) => 1,
            _ => self.block_operations,
        }
    }

    /// Returns whether the drive is asked directly: no sync of ours makes a file system write its
    /// own data.
    pub(super) fn is_plain(&self) -> bool {
        self.syncs().is_none()
    }

    /// "read" or "write".
    pub(super) fn verb(&self) -> &'static str {
        if self.action == Action::Read { "read" } else { "write" }
    }

    /// "read" or "wrote".
    pub(super) fn past(&self) -> &'static str {
        if self.action == Action::Read { "read" } else { "wrote" }
    }
}
