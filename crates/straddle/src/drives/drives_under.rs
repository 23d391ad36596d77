//! The drives under a layer, and where the layer begins on each.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use stack::mapping::{Below, Mapping, Segment};
use stack::resolve::{On, resolve};
use stack::{Layer, LayerId, Stack};
use units::ByteRange;

/// A drive under a layer.
pub(super) struct DrivesUnder {
    pub(super) id: LayerId,
    /// Name of the drive; harmless to print.
    pub(super) name: String,
    /// Place where the data of the floor begin on it.
    pub(super) start_bytes: u64,
    /// Place where byte 0 of the floor would lie on it if all before were there too; counted modulo
    /// 2^64.
    pub(super) origin_bytes: u64,
    /// Number of bytes of it there are, where that is known.
    pub(super) length_bytes: Option<u64>,
}

/// A part of a layer on another.
#[derive(Clone, Copy)]
struct Share {
    /// Place where it begins there.
    below: Below,
    /// The byte of the layer that lies there.
    at_bytes: u64,
}

/// The parts of a mapping, one on each member that it names.
fn shares(mapping: &Mapping) -> Vec<Share> {
    let whole = |below| Share { below, at_bytes: 0 };
    match mapping {
        Mapping::Linear(below) | Mapping::Scattered { below, .. } => vec![whole(*below)],
        Mapping::Striped { members, .. }
        | Mapping::Mirrored { members }
        | Mapping::Parity { members, .. } => members.iter().flatten().copied().map(whole).collect(),
        Mapping::Segments(segments) => {
            let behind = |segment: &Segment| {
                let at_bytes = segment.range.start_bytes();
                let shares = shares(&segment.mapping).into_iter();
                shares.map(move |share| Share {
                    at_bytes: share.at_bytes.wrapping_add(at_bytes),
                    ..share
                })
            };
            segments.iter().flat_map(behind).collect()
        }
        other => {
            let below = other.below().into_iter();
            below.map(|layer| whole(Below { layer, offset_bytes: 0 })).collect()
        }
    }
}

/// The drives under `floor`, each with the first part of the floor that lies on it.
pub(super) fn leaves(stack: &Stack, floor: LayerId) -> Vec<DrivesUnder> {
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut todo = VecDeque::from(shares(&stack.layer(floor).mapping));
    while let Some(Share { below, at_bytes }) = todo.pop_front() {
        let Some(byte) = ByteRange::new(below.offset_bytes, 1) else { continue };
        let pieces = resolve(stack, below.layer, byte);
        if let Some(On::Leaf(leaf, address)) = pieces.first().map(|piece| &piece.on) {
            found.entry(*leaf).or_insert((*address, address.wrapping_sub(at_bytes)));
        }
        // An array of arrays: what its members lie on, counted in bytes of the floor.
        if seen.insert(below.layer) {
            let before = at_bytes.wrapping_sub(below.offset_bytes);
            let further = shares(&stack.layer(below.layer).mapping).into_iter();
            todo.extend(
                further
                    .map(|share| Share { at_bytes: before.wrapping_add(share.at_bytes), ..share }),
            );
        }
    }
    // Every drive under it, also one whose first byte is unknown.
    let under = |(id, leaf): (LayerId, &Layer)| {
        let (start_bytes, origin_bytes) = found.get(&id).copied().unwrap_or((0, 0));
        let length_bytes = leaf.length();
        DrivesUnder { id, name: leaf.name.clone(), start_bytes, origin_bytes, length_bytes }
    };
    stack.leaves(floor).map(under).collect()
}
