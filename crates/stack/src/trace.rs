//! Where the bytes of a file finally are, address by address, and what I/O on them costs.
//!
//! Unlike [`resolve`](crate::resolve::resolve), which gives one leaf for each byte, this follows
//! every copy and keeps the address on each layer passed.

use std::collections::BTreeMap;

use units::random::Random;
use units::{ByteRange, Source, Unit};

use crate::amplify::{self, Effort, Io};
use crate::graph::Stack;
use crate::id::LayerId;
use crate::mapping::{Below, Copies, Mapping, Segment};
use crate::resolve::{self, Next, On};
use crate::unit::UnitKind;

/// The most pieces that one walk visits: 1 TiB on chunks of 64 KiB.
pub const PIECES_MAX: u64 = 1 << 24;
/// The most copies of one byte that are followed.
const WAYS_MAX: usize = 64;
/// The most I/Os of which the cost is counted; of more, as many are drawn.
pub const IOS_MAX: u64 = 1 << 16;
/// The seed of that draw, so that the answer is always the same.
const SEED: u64 = 0x7261_6365;

/// One way down from a byte, to one copy of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The layers passed and the byte on each, from the top.
    pub steps: Vec<(LayerId, u64)>,
    /// Where it ends.
    pub end: On,
}

/// A run of bytes of which every copy lies in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The byte of the layer that was asked about.
    pub at_bytes: u64,
    /// The run's length in bytes; not 0.
    pub length_bytes: u64,
    /// The ways down, one for each copy that is followed; not empty.
    pub ways: Vec<Way>,
}

/// Visits the pieces of `range` of layer `id` in order, until `visit` says `false`. Returns the
/// byte at which it ended: the range's end, or where it was stopped, by `visit` or after
/// [`PIECES_MAX`] pieces.
pub fn walk(
    stack: &Stack,
    id: LayerId,
    range: ByteRange,
    visit: &mut dyn FnMut(&Piece) -> bool,
) -> u64 {
    let mut at = range.start_bytes();
    let mut left = PIECES_MAX;
    while at < range.end_bytes() && left > 0 {
        left -= 1;
        let Some(rest) = ByteRange::new(at, range.end_bytes() - at) else { break };
        let mut descent = Descent { stack, steps: Vec::new(), ways: Vec::new() };
        let length_bytes = descent.descend(id, rest).max(1);
        let piece = Piece { at_bytes: at, length_bytes, ways: descent.ways };
        at += length_bytes;
        if !visit(&piece) {
            break;
        }
    }
    at
}

struct Descent<'a> {
    stack: &'a Stack,
    steps: Vec<(LayerId, u64)>,
    ways: Vec<Way>,
}

impl Descent<'_> {
    /// Follows all copies of the start of `range`; returns how many bytes from there on lie in one
    /// piece on each.
    fn descend(&mut self, id: LayerId, range: ByteRange) -> u64 {
        if self.ways.len() >= WAYS_MAX {
            return range.length_bytes();
        }
        self.steps.push((id, range.start_bytes()));
        let length = self.follow(id, range);
        self.steps.pop();
        length
    }

    fn follow(&mut self, id: LayerId, range: ByteRange) -> u64 {
        let stack = self.stack;
        let (mut length, next) = resolve::first(stack, id, range);
        let offset = range.start_bytes();
        let ends = stack.layer(id).length().is_some_and(|end| offset >= end);
        let copies = if ends { None } else { copies(&stack.layer(id).mapping, offset) };
        let Some(copies) = copies else {
            return match next {
                Next::Down(below) => self.below(Some(below), length),
                Next::Done(end) => {
                    self.ways.push(Way { steps: self.steps.clone(), end });
                    length
                }
            };
        };
        for copy in copies {
            length = length.min(self.below(copy, length));
        }
        length
    }

    fn below(&mut self, below: Option<Below>, length_bytes: u64) -> u64 {
        let place = below.and_then(|below| {
            Some((below.layer, ByteRange::new(below.offset_bytes, length_bytes)?))
        });
        if let Some((layer, range)) = place {
            return self.descend(layer, range);
        }
        let end = On::Unknown("it lies on a member that was not given".to_owned());
        self.ways.push(Way { steps: self.steps.clone(), end });
        length_bytes
    }
}

/// The places of all copies of a byte; `None` where there is one, or the others' places are not
/// known.
fn copies(mapping: &Mapping, offset: u64) -> Option<Vec<Option<Below>>> {
    let at = |member: &Option<Below>, bytes: u64| -> Option<Below> {
        let below = (*member)?;
        Some(Below { offset_bytes: below.offset_bytes.checked_add(bytes)?, ..below })
    };
    match mapping {
        Mapping::Segments(segments) => {
            let segment = Segment::behind(segments, offset).first()?;
            let within = offset.checked_sub(segment.range.start_bytes())?;
            copies(&segment.mapping, within)
        }
        Mapping::Mirrored { members } => {
            Some(members.iter().map(|member| at(member, offset)).collect())
        }
        Mapping::Striped { stripe, copies: Copies::Neighbours(count), members } if *count > 1 => {
            let place = stripe.place(offset);
            let first = Copies::Neighbours(*count).first_member(place.position)?;
            let count = usize::try_from(*count).ok()?;
            let members = members.get(first..first.checked_add(count)?)?;
            Some(members.iter().map(|member| at(member, place.member_bytes)).collect())
        }
        _ => None,
    }
}

/// A unit that a file's bytes may or may not fit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fit {
    /// What the unit is for.
    pub kind: UnitKind,
    /// The layer whose unit it is.
    pub owner: LayerId,
    /// Its length in bytes.
    pub unit_bytes: u64,
}

/// How many bytes fit a unit: byte *x* of the file does when the file's own multiples of the unit
/// lie on the unit's boundaries there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Bytes that fit, on every copy.
    pub aligned_bytes: u64,
    /// Bytes that lie on the unit's owner and do not fit, on at least one copy.
    pub misaligned_bytes: u64,
    /// How far behind a boundary the file's multiples lie, in bytes, for those that do not fit; the
    /// first few that occur.
    pub offsets_bytes: Vec<u64>,
    /// Whether the unit is only assumed.
    pub assumed: bool,
}

impl Share {
    fn offset(&mut self, bytes: u64) {
        if !self.offsets_bytes.contains(&bytes) && self.offsets_bytes.len() < OFFSETS_MAX {
            self.offsets_bytes.push(bytes);
        }
    }
}

/// How many different offsets are kept.
const OFFSETS_MAX: usize = 4;

/// How a range of a file fits every unit beneath.
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

/// The most different reasons that are kept.
const REASONS_MAX: usize = 16;

impl Alignment {
    /// Counts a piece.
    pub fn take(&mut self, stack: &Stack, piece: &Piece) {
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
fn end_of(piece: &Piece) -> &On {
    let worst = |end: &&On| match end {
        On::Leaf(..) => 0,
        On::Zeros => 1,
        On::Compressed(_) => 2,
        On::Unknown(_) => 3,
    };
    let ends = piece.ways.iter().map(|way| &way.end);
    ends.max_by_key(worst).unwrap_or(&On::Zeros)
}

/// How far the multiples of a unit, counted from byte 0 of the file, lie behind the unit's last
/// boundary; `at` is where byte `file_bytes` of the file lies, and boundaries count from `base`.
fn offset(unit: Unit, at: u64, base: u64, file_bytes: u64) -> u64 {
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

/// What I/Os of one size cost, over a range of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The length of each I/O in bytes.
    pub io_bytes: u64,
    /// How many I/Os of that length the range has, one behind the other from its start.
    pub ios: u64,
    /// How many of them were counted: all, or those that were drawn.
    pub counted: u64,
    /// Of those, how many could not be told as reads, by the reason.
    pub untold_reads: BTreeMap<String, u64>,
    /// Of those, how many could not be told as writes, by the reason.
    pub untold_writes: BTreeMap<String, u64>,
    /// What those that can be told cost together, each read once.
    pub read: Effort,
    /// What those that can be told cost together, each written once in place.
    pub write: Effort,
    /// How many of the writes need a read-modify-write of a granule.
    pub writes_with_rmw: u64,
    /// How many of the writes read old data or old parity first.
    pub writes_with_parity_rmw: u64,
}

/// What I/Os of `io_bytes` cost on `range` of layer `id`, one behind the other from its start; what
/// is left at its end and shorter than an I/O is left out. Of more than [`IOS_MAX`] as many are
/// drawn, always the same.
#[must_use]
pub fn cost(stack: &Stack, id: LayerId, range: ByteRange, io_bytes: u64) -> Cost {
    let ios = range.length_bytes().checked_div(io_bytes).unwrap_or(0);
    let counted = ios.min(IOS_MAX);
    let mut cost = Cost { io_bytes, ios, counted, ..Cost::default() };
    let mut random = Random::new(SEED);
    for index in 0..counted {
        // Drawn rather than every so many: stripes repeat, and steps would meet the same ones.
        let number = if counted == ios { index } else { random.below(ios) };
        let start = range.start_bytes() + number * io_bytes;
        let Some(range) = ByteRange::new(start, io_bytes) else { continue };
        match amplify::amplify(stack, id, Io { write: false, range }) {
            Ok(effort) => add(&mut cost.read, effort),
            Err(reason) => count(&mut cost.untold_reads, reason),
        }
        match amplify::amplify(stack, id, Io { write: true, range }) {
            Ok(effort) => {
                add(&mut cost.write, effort);
                cost.writes_with_rmw += u64::from(effort.rmws > 0);
                cost.writes_with_parity_rmw += u64::from(effort.parity_rmws > 0);
            }
            Err(reason) => count(&mut cost.untold_writes, reason),
        }
    }
    cost
}

impl Cost {
    /// How many reads, or writes, could be told.
    #[must_use]
    pub fn told(&self, write: bool) -> u64 {
        let untold = if write { &self.untold_writes } else { &self.untold_reads };
        self.counted - untold.values().sum::<u64>()
    }
}

fn add(sum: &mut Effort, one: Effort) {
    sum.reads += one.reads;
    sum.writes += one.writes;
    sum.rmws += one.rmws;
    sum.parity_updates += one.parity_updates;
    sum.parity_rmws += one.parity_rmws;
    sum.leaves += one.leaves;
}

fn count(untold: &mut BTreeMap<String, u64>, reason: String) {
    let full = untold.len() >= REASONS_MAX && !untold.contains_key(&reason);
    let reason = if full { "other reasons".to_owned() } else { reason };
    *untold.entry(reason).or_default() += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{Layer, LayerKind};
    use units::Known;
    use units::stripe::Stripe;

    fn range(start: u64, length: u64) -> ByteRange {
        ByteRange::new(start, length).unwrap()
    }

    fn add(stack: &mut Stack, mapping: Mapping) -> LayerId {
        let length = Known::yes(1 << 40, Source::OnDisk);
        stack.add(Layer::new(LayerKind::File, "x".into(), length, mapping))
    }

    fn leaf(stack: &mut Stack) -> LayerId {
        let id = add(stack, Mapping::Leaf);
        stack.layer_mut(id).units.put_used(UnitKind::Granule, 4096, Source::Told, "");
        id
    }

    fn below(layer: LayerId, offset_bytes: u64) -> Below {
        Below { layer, offset_bytes }
    }

    /// A file whose first MiB lies at 1 GiB of a disk, and whose second 512 bytes behind a
    /// boundary.
    fn file(stack: &mut Stack, on: LayerId) -> LayerId {
        let segment =
            |at, to| Segment { range: range(at, 1 << 20), mapping: Mapping::Linear(below(on, to)) };
        let segments = vec![segment(0, 1 << 30), segment(1 << 20, (2 << 30) + 512)];
        add(stack, Mapping::Segments(segments))
    }

    fn alignment(stack: &Stack, id: LayerId, range: ByteRange) -> Alignment {
        let mut found = Alignment::default();
        walk(stack, id, range, &mut |piece| {
            found.take(stack, piece);
            true
        });
        found
    }

    #[test]
    fn half_of_a_file_with_one_shifted_extent_is_off_the_granule_by_its_shift() {
        let mut stack = Stack::new();
        let disk = leaf(&mut stack);
        let file = file(&mut stack, disk);
        let found = alignment(&stack, file, range(0, 2 << 20));
        let fit = Fit { kind: UnitKind::Granule, owner: disk, unit_bytes: 4096 };
        let share = &found.shares[&fit];
        assert_eq!((share.aligned_bytes, share.misaligned_bytes), (1 << 20, 1 << 20));
        assert_eq!(share.offsets_bytes, [512]);
        assert_eq!(found.placed_bytes, 2 << 20);
        let cost = cost(&stack, file, range(0, 2 << 20), 16384);
        assert_eq!((cost.ios, cost.counted, cost.writes_with_rmw), (128, 128, 64));
        assert_eq!(cost.write.writes, 64 * 4 + 64 * 5);
        assert_eq!(cost.write.rmws, 64 * 2);
        assert_eq!(cost.read.reads, 64 * 4 + 64 * 5);
    }

    #[test]
    fn every_copy_on_a_mirror_of_stripes_has_its_way_with_the_byte_on_each_layer() {
        let mut stack = Stack::new();
        let disks: Vec<LayerId> = (0..4).map(|_| leaf(&mut stack)).collect();
        let stripe = Stripe::new(65536, 2).unwrap();
        let members = disks.iter().map(|&disk| Some(below(disk, 1 << 20))).collect();
        let copies = Copies::Neighbours(2);
        let array = add(&mut stack, Mapping::Striped { stripe, copies, members });
        let file = add(&mut stack, Mapping::Linear(below(array, 65536)));
        let mut pieces = Vec::new();
        let end = walk(&stack, file, range(4096, 65536), &mut |piece| {
            pieces.push(piece.clone());
            true
        });
        assert_eq!(end, 4096 + 65536);
        assert_eq!(pieces.len(), 2);
        let to = (1 << 20) + 4096;
        let way = |disk: usize| Way {
            steps: vec![(file, 4096), (array, 65536 + 4096), (disks[disk], to)],
            end: On::Leaf(disks[disk], to),
        };
        assert_eq!(pieces[0].ways, [way(2), way(3)]);
        assert_eq!(pieces[0].length_bytes, 65536 - 4096);
        assert_eq!(pieces[1].ways[0].end, On::Leaf(disks[0], (1 << 20) + 65536));
        let found = alignment(&stack, file, range(0, 1 << 20));
        let off = |kind, unit_bytes| {
            found.shares[&Fit { kind, owner: array, unit_bytes }].misaligned_bytes
        };
        assert_eq!((off(UnitKind::Chunk, 65536), off(UnitKind::FullStripe, 131_072)), (0, 1 << 20));
    }

    #[test]
    fn holes_are_nowhere_and_writes_into_them_cannot_be_told() {
        let mut stack = Stack::new();
        let file = add(&mut stack, Mapping::Zeros);
        assert_eq!(alignment(&stack, file, range(0, 8192)).nowhere_bytes, 8192);
        let cost = cost(&stack, file, range(0, 8192), 4096);
        assert_eq!((cost.told(true), cost.untold_writes.len()), (0, 1));
    }

    #[test]
    fn boundaries_count_from_where_stripes_begin() {
        let unit = Unit::new(4096).unwrap();
        assert_eq!(offset(unit, 512 + 8192, 512, 4096), 0);
        assert_eq!(offset(unit, 8192, 512, 4096), 4096 - 512);
        assert_eq!(offset(unit, 512, 8192, 0), 512);
        let shifted = Unit::with_origin(4096, 3584).unwrap();
        assert_eq!(offset(shifted, 3584, 0, 0), 0);
        assert_eq!(offset(shifted, 0, 0, 0), 512);
    }
}
