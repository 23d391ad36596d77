//! Results of `straddle trace`: the contract behind its `--json`, and the table for people.
//!
//! Every number carries its unit in its key. Unknown is `null` beside a reason. Adding fields is
//! compatible; anything else raises the number in [`TRACE_SCHEMA`].

use serde::{Deserialize, Serialize};
use stack::file_extents::RunState;

use crate::check_document::{Fact, Word};
use crate::envelope::Envelope;
use stack::{LayerType, UnitFact, UnitKind};

mod table;

pub use table::table;

/// The schema's name and version.
pub const TRACE_SCHEMA: &str = "straddle.trace/1";

/// Place where a file's bytes lie.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trace {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The file as it was given; harmless to print.
    pub file: String,
    /// The file's length in bytes; `null` where it was refused before that was known.
    pub file_bytes: Option<u64>,
    /// The first byte of the file that was traced.
    pub offset_bytes: u64,
    /// Number of bytes of the file traced.
    pub length_bytes: u64,
    /// Facts that the kernel tells of the file beside its extents.
    pub facts: Vec<Fact>,
    /// The layers that the file lies on, those below first; the last one is the file.
    pub layers: Vec<TraceLayer>,
    /// The extents and holes of the range, in order.
    pub extents: Vec<TraceExtent>,
    /// Number of extents and holes of the range that are left out; the total covers them all the
    /// same.
    pub omitted_extents: u64,
    /// The whole range.
    pub total: TraceTotal,
    /// Cost of I/Os of the size that was asked for; `null` where none was.
    pub cost: Option<TraceCost>,
}

/// A layer on the way down.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceLayer {
    /// Its number, by which extents and others name it.
    pub id: u32,
    /// The layers that it lies on.
    pub below: Vec<u32>,
    /// Kind, in the words of `straddle check`, and `file`.
    pub kind: LayerType,
    /// Its name, as users know it.
    pub name: String,
    /// Description in a few words.
    pub title: String,
    /// Its length in bytes; `null` when unknown.
    pub length_bytes: Option<u64>,
    /// The units that it must fit, or that it brings, each from every source that names one.
    pub units: Vec<UnitFact>,
}

/// An extent of the file, or a hole.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceExtent {
    /// Place where it starts in the file, in bytes.
    pub offset_bytes: u64,
    /// Its length in bytes, cut where the range ends.
    pub length_bytes: u64,
    /// Kind.
    pub state: RunState,
    /// Flags that the file system gives it, in the words of `filefrag -v`.
    pub flags: Vec<Word>,
    /// True if other files, or other parts of this one, use the same bytes.
    #[serde(default)]
    pub shared: bool,
    /// Place where it starts among the file system's own addresses, in bytes; `null` where it has
    /// no place.
    pub physical_bytes: Option<u64>,
    /// Why its bytes have no address of their own; empty where they have.
    pub reason: String,
    /// Fit on each unit beneath.
    pub alignment: Vec<TraceShare>,
    /// Place where the first byte of what is stored lies, with all its copies, for an extent that
    /// has a place and whose bytes have no addresses of their own; else empty.
    pub starts_at: Vec<TraceCopy>,
    /// Place where it lies, in order, each piece with all its copies.
    pub pieces: Vec<TracePiece>,
    /// Place where in the file the list of pieces ends, in bytes, where it ends early; else `null`.
    pub pieces_end_bytes: Option<u64>,
}

/// A run of the file of which every copy lies in one piece.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracePiece {
    /// Place where it starts in the file, in bytes.
    pub offset_bytes: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
    /// Its copies, each with the way down to it.
    pub copies: Vec<TraceCopy>,
}

/// One copy of a piece.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceCopy {
    /// The byte on each layer below the file at which it starts, from the top down.
    pub path: Vec<TraceStep>,
    /// End of the way.
    pub end: TraceEnd,
    /// Why it goes no further, where it does not end on a leaf; else empty.
    pub reason: String,
}

/// End of the way down to a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TraceEnd {
    /// On a leaf.
    Leaf,
    /// Nowhere: it reads as zeros.
    Hole,
    /// Compressed in an image's file.
    Compressed,
    /// Not known where.
    Unknown,
}

/// An address on a layer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceStep {
    /// The layer's number.
    pub layer: u32,
    /// The byte of that layer.
    pub at_bytes: u64,
}

/// Number of bytes that fit a unit: the file's own multiples of it lie on its boundaries.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceShare {
    /// The unit: granule, chunk or full-stripe.
    pub unit: UnitKind,
    /// The layer whose unit it is.
    pub layer: u32,
    /// The unit's length in bytes.
    pub unit_bytes: u64,
    /// True if the unit is only assumed.
    pub assumed: bool,
    /// Bytes that fit.
    pub aligned_bytes: u64,
    /// Bytes that do not.
    pub misaligned_bytes: u64,
    /// Distance behind a boundary at which the file's multiples lie, in bytes, where they do not
    /// fit: the first few values that occur.
    pub offsets_bytes: Vec<u64>,
}

/// The whole range.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceTotal {
    /// Extents, holes not counted.
    pub extents: u64,
    /// Bytes whose addresses are known down to the leaves.
    pub placed_bytes: u64,
    /// Bytes that lie nowhere.
    pub hole_bytes: u64,
    /// Bytes whose final address is not known, by the reason.
    pub unknown: Vec<TraceUnknown>,
    /// Bytes that were not looked at, since they lie in more pieces than are visited.
    pub unvisited_bytes: u64,
    /// Fit of the range on each unit beneath.
    pub alignment: Vec<TraceShare>,
}

/// Bytes, or I/Os, that cannot be told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceUnknown {
    /// Number of bytes.
    pub bytes: u64,
    /// Why.
    pub reason: String,
}

/// Cost of I/Os of one size, one behind the other from the range's start.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceCost {
    /// The length of each I/O in bytes.
    pub io_bytes: u64,
    /// Number that the range has.
    pub ios: u64,
    /// Number of them that were counted: all, or as many drawn from them.
    pub counted_ios: u64,
    /// Cost as reads.
    pub read: TraceEffort,
    /// Cost as writes in place.
    pub write: TraceEffort,
    /// Number of the writes that read and write a granule again, since they cover it in part.
    pub writes_with_rmw: u64,
    /// Number of the writes that read old data or parity first.
    pub writes_with_parity_rmw: u64,
}

/// Cost of all I/Os together that can be told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceEffort {
    /// Number of I/Os that can be told.
    pub told_ios: u64,
    /// Granules read.
    pub granules_read: u64,
    /// Granules written.
    pub granules_written: u64,
    /// Granules read and written again.
    pub rmws: u64,
    /// Parity chunks brought up to date.
    pub parity_updates: u64,
    /// Why the others cannot be told.
    pub untold: Vec<TraceUntold>,
}

/// I/Os that cannot be told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceUntold {
    /// Number of them.
    pub ios: u64,
    /// Why.
    pub reason: String,
}

impl Trace {
    /// The document as JSON, with its line feed.
    #[must_use]
    pub fn json(&self) -> String {
        crate::json::pretty(self)
    }
}
