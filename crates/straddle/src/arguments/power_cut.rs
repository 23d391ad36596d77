//! Words of a power cut: about what a drive lies, and what it then holds.

use clap::ValueEnum;

/// Subject that a drive lies about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lie {
    /// Flushes complete at once and write nothing to the medium
    Flush,
    /// Forced writes stay in the cache like other writes
    Fua,
    /// The capacitors or the battery fail to preserve the cache
    Protection,
}

/// Survivors of a power cut among the writes that the drive had not promised to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Survivors {
    /// Only what is on the medium
    None,
    /// Everything that the drive received
    All,
    /// Each part by chance
    Random,
    /// The newest write, and none before it
    #[value(alias = "worst")]
    Newest,
    /// The first writes, up to one by chance: a cache that writes in order
    Prefix,
    /// All of these in turn, by chance
    Mix,
    /// Every subset of the first six open parts of writes, 64 cuts for each moment
    Enumerate,
}

/// State of what is half written when the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HalfWritten {
    /// The old content
    Old,
    /// The new content
    New,
    /// Unreadable, together with all other data in the same sector or unit
    Unreadable,
}
