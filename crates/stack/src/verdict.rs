//! Verdicts on layers, from best to worst.

use serde::{Deserialize, Serialize};

/// Verdict on how a layer lies on the units of what it finally lies on, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing is on it yet that could be misaligned.
    Empty,
    /// On granules, and on chunks and full stripes where there are any.
    Aligned,
    /// On granules and chunks, but not on full stripes.
    ChunkOnly,
    /// Cannot be told, because something could not be read.
    Unknown,
    /// No fixed offset leads from it to the leaf.
    NotExpressible,
    /// The kernel says that stacking failed (alignment_offset -1).
    Undefined,
    /// Not on granules or not on chunks.
    Misaligned,
}

units::words!(Verdict);

impl Verdict {
    /// Every verdict, the best first.
    pub const ALL: [Verdict; 7] = [
        Verdict::Empty,
        Verdict::Aligned,
        Verdict::ChunkOnly,
        Verdict::Unknown,
        Verdict::NotExpressible,
        Verdict::Undefined,
        Verdict::Misaligned,
    ];

    /// The words printed for it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Empty => "empty",
            Verdict::Aligned => "aligned",
            Verdict::ChunkOnly => "chunk-only",
            Verdict::Unknown => "unknown",
            Verdict::NotExpressible => "not expressible",
            Verdict::Undefined => "undefined",
            Verdict::Misaligned => "misaligned",
        }
    }
}
