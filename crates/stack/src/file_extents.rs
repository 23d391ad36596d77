//! A file as a layer: its extents, and how they lie in its file system's address space.

use device::{Extent, ExtentFlags, ExtentList};
use serde::{Deserialize, Serialize};
use units::ByteRange;

use crate::id::LayerId;
use crate::mapping::{Below, Mapping, Segment};

/// Kind of a run of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Its bytes lie where the extent says.
    Data,
    /// It has its place and reads as zeros; a write goes to that place.
    Unwritten,
    /// No extent: it reads as zeros, and gets a place when it is written.
    Hole,
    /// It waits in memory, and has no place yet.
    Delayed,
    /// It lies within metadata.
    Inline,
    /// It shares a block with other files' tails.
    Tail,
    /// The bytes at its place are compressed or encrypted by the file system.
    Encoded,
    /// The file system does not say where.
    Unknown,
    /// The list of extents ends before it.
    Unlisted,
}

units::words!(RunState);

impl RunState {
    /// Returns whether the bytes of the file lie at the extent's place, each at its own address.
    #[must_use]
    pub fn has_place(self) -> bool {
        matches!(self, RunState::Data | RunState::Unwritten)
    }

    /// Why the bytes have no address of their own; empty where they have one, or none is needed.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            RunState::Data | RunState::Unwritten | RunState::Hole => "",
            RunState::Delayed => "not on the drive yet, only in the page cache",
            RunState::Inline => "stored within metadata",
            RunState::Tail => "stored in one block with other files' tails",
            RunState::Encoded => "compressed or encrypted by the file system",
            RunState::Unknown => "the file system does not say where it lies",
            RunState::Unlisted => "more extents than are looked at",
        }
    }

    fn of(extent: &Extent) -> RunState {
        let has = |flag| extent.flags.has(flag);
        if has(ExtentFlags::DELAYED) {
            RunState::Delayed
        } else if has(ExtentFlags::INLINE) {
            RunState::Inline
        } else if has(ExtentFlags::TAIL) {
            RunState::Tail
        } else if has(ExtentFlags::ENCODED) || has(ExtentFlags::ENCRYPTED) {
            RunState::Encoded
        } else if has(ExtentFlags::UNKNOWN) {
            RunState::Unknown
        } else if has(ExtentFlags::UNWRITTEN) {
            RunState::Unwritten
        } else {
            RunState::Data
        }
    }
}

/// A run of a file that is one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRun {
    /// The run of the file.
    pub range: ByteRange,
    /// Its kind.
    pub state: RunState,
    /// Place where the extent starts in the file system's address space, in bytes; `None` where it
    /// has no place that means anything.
    pub physical_bytes: Option<u64>,
    /// The file system's flags of it.
    pub flags: ExtentFlags,
}

/// The runs of a file of `length_bytes`, holes included, in order and without a gap, up to the
/// file's end or that of its last extent, whichever is further.
#[must_use]
pub fn runs(list: &ExtentList, length_bytes: u64) -> Vec<FileRun> {
    let mut runs = Vec::with_capacity(list.extents.len());
    let mut at = 0;
    let gap = |from: u64, to: u64, state| FileRun {
        range: ByteRange::new(from, to.saturating_sub(from)).expect("both are addresses"),
        state,
        physical_bytes: None,
        flags: ExtentFlags::default(),
    };
    for extent in &list.extents {
        let start = extent.logical.start_bytes();
        if start > at {
            runs.push(gap(at, start, RunState::Hole));
        }
        let state = RunState::of(extent);
        let placed = !matches!(state, RunState::Delayed | RunState::Unknown)
            && (state != RunState::Inline || extent.physical_bytes != 0);
        runs.push(FileRun {
            range: extent.logical,
            state,
            physical_bytes: placed.then_some(extent.physical_bytes),
            flags: extent.flags,
        });
        at = extent.logical.end_bytes();
    }
    if length_bytes > at {
        let state = if list.cut_at_bytes.is_some() { RunState::Unlisted } else { RunState::Hole };
        runs.push(gap(at, length_bytes, state));
    }
    runs
}

/// Unit and origin of FIEMAP's addresses of a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Space {
    /// Bytes of this layer.
    Of(LayerId),
    /// Something that is not known here; the text says why.
    Unknown {
        /// The layers that the file system is on, as far as they are known.
        on: Vec<LayerId>,
        /// Why.
        reason: String,
    },
}

/// Returns how a file with these runs lies in its file system's addresses.
#[must_use]
pub fn mapping(runs: &[FileRun], space: &Space) -> Mapping {
    let on = match space {
        Space::Of(layer) => vec![*layer],
        Space::Unknown { on, .. } => on.clone(),
    };
    let segments = runs.iter().map(|run| {
        let mapping = match (run.state, run.physical_bytes, space) {
            (RunState::Hole, ..) => Mapping::Zeros,
            (state, Some(offset_bytes), Space::Of(layer)) if state.has_place() => {
                Mapping::Linear(Below { layer: *layer, offset_bytes })
            }
            (state, _, Space::Unknown { reason, .. }) if state.has_place() => {
                Mapping::Unknown { on: on.clone(), reason: reason.clone() }
            }
            (RunState::Encoded | RunState::Inline | RunState::Tail, ..) => {
                Mapping::Opaque { on: on.clone(), reason: run.state.reason().to_owned() }
            }
            (state, ..) => Mapping::Unknown { on: on.clone(), reason: state.reason().to_owned() },
        };
        Segment { range: run.range, mapping }
    });
    Mapping::Segments(segments.collect())
}

/// `mapping` as it will be when all holes are filled: in whole blocks of the file system, nobody
/// knows where. So how far a hole's bytes are off a unit of no more than a block is known already.
#[must_use]
pub fn filled(mapping: Mapping, system: LayerId, block_bytes: u64) -> Mapping {
    let Mapping::Segments(mut segments) = mapping else { return mapping };
    for segment in &mut segments {
        let start = segment.range.start_bytes();
        if !matches!(segment.mapping, Mapping::Zeros) || start.checked_rem(block_bytes) != Some(0) {
            continue;
        }
        let below = Below { layer: system, offset_bytes: 0 };
        let reason = "a hole is placed when it is written".to_owned();
        segment.mapping = Mapping::Scattered { below, chunk_bytes: block_bytes, reason };
    }
    Mapping::Segments(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(at: u64, length: u64, physical_bytes: u64, flags: ExtentFlags) -> Extent {
        Extent { logical: ByteRange::new(at, length).unwrap(), physical_bytes, flags }
    }

    #[test]
    fn holes_fill_what_extents_leave_and_the_rest_of_a_cut_list_is_not_called_a_hole() {
        let extents = vec![extent(4096, 4096, 1 << 20, ExtentFlags::default())];
        let whole = ExtentList { extents: extents.clone(), cut_at_bytes: None };
        let states = |list: &ExtentList| -> Vec<(u64, RunState)> {
            let runs = runs(list, 16384);
            runs.iter().map(|run| (run.range.length_bytes(), run.state)).collect()
        };
        let (hole, data) = ((4096, RunState::Hole), (4096, RunState::Data));
        assert_eq!(states(&whole), [hole, data, (8192, RunState::Hole)]);
        let cut = ExtentList { extents, cut_at_bytes: Some(8192) };
        assert_eq!(states(&cut), [hole, data, (8192, RunState::Unlisted)]);
    }

    #[test]
    fn each_flag_makes_its_own_state() {
        for (flags, state) in [
            (ExtentFlags::UNKNOWN.and(ExtentFlags::DELAYED), RunState::Delayed),
            (ExtentFlags::INLINE.and(ExtentFlags::NOT_ALIGNED), RunState::Inline),
            (ExtentFlags::ENCODED, RunState::Encoded),
            (ExtentFlags::ENCODED.and(ExtentFlags::ENCRYPTED), RunState::Encoded),
            (ExtentFlags::UNWRITTEN, RunState::Unwritten),
            (ExtentFlags::SHARED, RunState::Data),
            (ExtentFlags::TAIL, RunState::Tail),
        ] {
            assert_eq!(RunState::of(&extent(0, 1, 0, flags)), state, "{flags:?}");
        }
    }
}
