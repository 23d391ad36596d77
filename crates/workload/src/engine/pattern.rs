//! Writes of an engine, and how it makes them durable.

use units::prefix::Size;

use crate::Duration;

/// The write pattern of an engine, at depth 1: one durable write behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritePattern {
    /// The bytes of one write.
    pub write_bytes: u64,
    /// The writes that one sync makes durable; with O_DSYNC each write is its own.
    pub writes_per_sync: u64,
    /// Placement of the next write.
    pub placement: Placement,
    /// State of the file before it is written.
    pub space: Space,
    /// The length of one file or segment, in bytes; writing goes on at its beginning behind it.
    pub file_bytes: u64,
    /// Method by which writes are made durable.
    pub sync: Sync,
    /// The durable writes that are wanted for a verdict.
    pub samples: u64,
    /// The longest time to spend on them, in nanoseconds.
    pub time_ns: u64,
}

/// Placement of the next write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Behind the last one.
    Append,
    /// To the same place again, until its block is full: a log's last block.
    Rewrite,
}

/// State of the file before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// It grows with each write: its length changes.
    Growing,
    /// It has its length and its blocks, which were never written (`fallocate`).
    Preallocated,
    /// It was written before: a recycled segment, a log file that is filled in advance.
    Written,
}

/// Method by which a write is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sync {
    /// `fdatasync(2)` behind the writes.
    Fdatasync,
    /// `fsync(2)` behind the writes.
    Fsync,
    /// The file is opened with `O_DSYNC`.
    Dsync,
    /// The file is opened with `O_DIRECT` and `O_DSYNC`.
    DirectDsync,
    /// The file is opened with `O_DIRECT`, and `fdatasync(2)` follows the writes.
    DirectFdatasync,
}

/// Words for what a profile's key may hold.
pub(super) trait PatternWords: Copy + 'static {
    const ALL: &'static [(&'static str, Self)];
}

impl PatternWords for Placement {
    const ALL: &'static [(&'static str, Placement)] =
        &[("append", Placement::Append), ("rewrite", Placement::Rewrite)];
}

impl PatternWords for Space {
    const ALL: &'static [(&'static str, Space)] = &[
        ("growing", Space::Growing),
        ("preallocated", Space::Preallocated),
        ("written", Space::Written),
    ];
}

impl PatternWords for Sync {
    const ALL: &'static [(&'static str, Sync)] = &[
        ("fdatasync", Sync::Fdatasync),
        ("fsync", Sync::Fsync),
        ("O_DSYNC", Sync::Dsync),
        ("O_DIRECT+O_DSYNC", Sync::DirectDsync),
        ("O_DIRECT+fdatasync", Sync::DirectFdatasync),
    ];
}

impl Sync {
    /// Its word: `fdatasync`.
    #[must_use]
    pub fn name(self) -> &'static str {
        let word = Sync::ALL.iter().find(|(_, sync)| *sync == self);
        word.map_or("", |(name, _)| name)
    }

    /// Returns whether writes go past the page cache, and so in whole sectors.
    #[must_use]
    pub fn is_direct(self) -> bool {
        matches!(self, Sync::DirectDsync | Sync::DirectFdatasync)
    }
}

impl WritePattern {
    /// It in words: `append 2300 B to preallocated files of 61 MiB, fdatasync after each write`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let write = match self.write_bytes.is_multiple_of(512) {
            true => Size(self.write_bytes).to_string(),
            false => format!("{} B", self.write_bytes),
        };
        let file = Size(self.file_bytes);
        let does = match (self.placement, self.space) {
            (Placement::Append, Space::Written) => format!("write {write} at a time over"),
            (Placement::Append, _) => format!("append {write} to"),
            (Placement::Rewrite, _) => format!("write {write} again and again in"),
        };
        let files = match self.space {
            Space::Growing => "files that grow to",
            Space::Preallocated => "preallocated files of",
            Space::Written => "existing files of",
        };
        let behind = match (self.sync, self.writes_per_sync) {
            (Sync::Dsync | Sync::DirectDsync, _) => format!("opened with {}", self.sync.name()),
            (sync, 1) => format!("{} after each write", sync.name()),
            (sync, writes) => format!("{} after {writes} writes", sync.name()),
        };
        format!("{does} {files} {file}, {behind}")
    }

    /// Returns how much is measured, in words: `about 10000 durable writes in at most 10 s`.
    #[must_use]
    pub fn wanted(&self) -> String {
        format!("about {} durable writes in at most {}", self.samples, Duration(self.time_ns))
    }
}
