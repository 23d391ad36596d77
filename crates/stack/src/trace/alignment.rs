//! Fit of the bytes of a file to the units of what they lie on.

use std::collections::BTreeMap;

use units::{Source, Unit};

use super::{REASONS_MAX, TracedPiece};
use crate::graph::Stack;
use crate::id::LayerId;
use crate::mapping::{Mapping, Segment};
use crate::resolve::On;
use crate::unit::UnitKind;

/// A unit that a file's bytes may or may not fit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fit {
    /// Purpose of the unit.
    pub kind: UnitKind,
    /// The layer whose unit it is.
    pub owner: LayerId,
    /// Its length in bytes.
    pub unit_bytes: u64,
}

/// Number of bytes that fit a unit: byte *x* of the file does when the file's own multiples of the
/// unit lie on the unit's boundaries there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Bytes that fit, on every copy.
    pub aligned_bytes: u64,
    /// Bytes that lie on the unit's owner and do not fit, on at least one copy.
    pub misaligned_bytes: u64,
    /// Distances in bytes of the file's multiples behind a boundary, for those that do not fit; the
    /// first few that occur.
    pub offsets_bytes: Vec<u64>,
    /// True if the unit is only assumed.
    pub assumed: bool,
}

impl Share {
    fn offset(&mut self, bytes: u64) {
        if !self.offsets_bytes.contains(&bytes) && self.offsets_bytes.len() < OFFSETS_MAX {
            self.offsets_bytes.push(bytes);
        }
    }
}

/// Number of different offsets kept.
const OFFSETS_MAX: usize = 4;

/// Fit of a range of a file to every unit beneath.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// The units that occur, with their shares.
    pub shares: BTreeMap<Fit, Share>,
    /// Bytes of which every copy's address is known down to a leaf.
    pub placed_bytes: u64,
    /// Bytes that lie nowhere: holes.
    pub nowhere_bytes: u64,
    /// Bytes whose final address is not known, by the reason.
    pub unknown_bytes: BTreeMap<String, u64>,
    /// Bytes that were not looked at, since there are more pieces than are visited.
    pub unvisited_bytes: u64,
}

impl Alignment {
    /// Counts a piece.
    pub fn take(&mut self, stack: &Stack, piece: &TracedPiece) {
        let length = piece.length_bytes;
        match end_of(piece) {
            On::Leaf(..) => self.placed_bytes += length,
            On::Zeros => self.nowhere_bytes += length,
            On::Compressed(_) => self.unknown("it is compressed", length),
            On::Unknown(reason) => self.unknown(reason, length),
        }
        let mut fits: BTreeMap<Fit, (Option<u64>, bool)> = BTreeMap::new();
        for way in &piece.ways {
            for &(layer, at) in &way.steps {
                each_unit(stack, layer, at, &mut |kind, unit, base, assumed| {
                    let fit = Fit { kind, owner: layer, unit_bytes: unit.length_bytes() };
                    let off = offset(unit, at, base, piece.at_bytes);
                    let known = fits.entry(fit).or_insert((None, assumed));
                    known.0 = known.0.or(Some(off).filter(|&off| off > 0));
                });
            }
        }
        for (fit, (off, assumed)) in fits {
            let share = self.shares.entry(fit).or_default();
            share.assumed |= assumed;
            match off {
                None => share.aligned_bytes += length,
                Some(off) => {
                    share.misaligned_bytes += length;
                    share.offset(off);
                }
            }
        }
    }

    /// Adds what was counted of another range.
    pub fn add(&mut self, other: &Alignment) {
        self.placed_bytes += other.placed_bytes;
        self.nowhere_bytes += other.nowhere_bytes;
        self.unvisited_bytes += other.unvisited_bytes;
        for (reason, &bytes) in &other.unknown_bytes {
            self.unknown(reason, bytes);
        }
        for (fit, share) in &other.shares {
            let own = self.shares.entry(fit.clone()).or_default();
            own.assumed |= share.assumed;
            own.aligned_bytes += share.aligned_bytes;
            own.misaligned_bytes += share.misaligned_bytes;
            share.offsets_bytes.iter().for_each(|&off| own.offset(off));
        }
    }

    fn unknown(&mut self, reason: &str, bytes: u64) {
        let full = self.unknown_bytes.len() >= REASONS_MAX;
        let reason = match full && !self.unknown_bytes.contains_key(reason) {
            true => "other reasons",
            false => reason,
        };
        *self.unknown_bytes.entry(reason.to_owned()).or_default() += bytes;
    }
}

/// The worst end of a piece's ways.
fn end_of(piece: &TracedPiece) -> &On {
    let worst = |end: &&On| match end {
        On::Leaf(..) => 0,
        On::Zeros => 1,
        On::Compressed(_) => 2,
        On::Unknown(_) => 3,
    };
    let ends = piece.ways.iter().map(|way| &way.end);
    ends.max_by_key(worst).unwrap_or(&On::Zeros)
}

/// Returns how far the multiples of a unit, counted from byte 0 of the file, lie behind the unit's
/// last boundary; `at` is where byte `file_bytes` of the file lies, and boundaries count from
/// `base`.
pub(super) fn offset(unit: Unit, at: u64, base: u64, file_bytes: u64) -> u64 {
    let length = u128::from(unit.length_bytes());
    let there = u128::from(unit.misalignment(at)) + length - u128::from(base) % length;
    let ahead = there + length - u128::from(file_bytes) % length;
    u64::try_from(ahead % length).expect("below a 64-bit unit")
}

/// Every unit with which byte `at` of a layer is laid: the granule of a leaf, the chunk and the
/// full stripe of an array, with the byte from which its boundaries count, and whether it is
/// assumed.
fn each_unit(
    stack: &Stack,
    id: LayerId,
    at: u64,
    visit: &mut dyn FnMut(UnitKind, Unit, u64, bool),
) {
    let layer = stack.layer(id);
    if matches!(layer.mapping, Mapping::Leaf)
        && let Some((unit, source)) = layer.units.used(UnitKind::Granule)
    {
        visit(UnitKind::Granule, unit, 0, source == Source::Assumed);
    }
    let (mapping, base) = match &layer.mapping {
        Mapping::Segments(segments) => match Segment::behind(segments, at).first() {
            Some(segment) => (&segment.mapping, segment.range.start_bytes()),
            None => return,
        },
        mapping => (mapping, 0),
    };
    let laid = match mapping {
        Mapping::Striped { stripe, .. } | Mapping::Parity { stripe, .. } => {
            (stripe.data_members() > 1).then_some((stripe.chunk_bytes(), stripe.full_bytes()))
        }
        _ => None,
    };
    let told =
        layer.units.used_bytes(UnitKind::Chunk).zip(layer.units.used_bytes(UnitKind::FullStripe));
    let Some((chunk, full)) = laid.or(told) else { return };
    for (kind, bytes) in [(UnitKind::Chunk, chunk), (UnitKind::FullStripe, full)] {
        if let Some(unit) = Unit::new(bytes) {
            visit(kind, unit, base, false);
        }
    }
}
