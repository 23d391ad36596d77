//! Final places of the bytes of a file, address by address, and the cost of I/O on them.
//!
//! Unlike [`resolve`](crate::resolve::resolve), which gives one leaf for each byte, this follows
//! every copy and keeps the address on each layer passed.

mod alignment;
mod cost;

use units::ByteRange;

use crate::graph::Stack;
use crate::id::LayerId;
use crate::mapping::{Below, Copies, Mapping, Segment};
use crate::resolve::{self, FirstRun, On};

pub use alignment::{Alignment, Fit, Share};
pub use cost::{Cost, IOS_MAX, cost};

/// The most pieces that one walk visits: 1 TiB on chunks of 64 KiB.
pub const PIECES_MAX: u64 = 1 << 24;
/// The most copies of one byte that are followed.
const WAYS_MAX: usize = 64;
/// The most different reasons that are kept.
const REASONS_MAX: usize = 16;

/// One way down from a byte, to one copy of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayDown {
    /// The layers passed and the byte on each, from the top.
    pub steps: Vec<(LayerId, u64)>,
    /// Place where it ends.
    pub end: On,
}

/// A run of bytes of which every copy lies in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedPiece {
    /// The byte of the layer that was asked about.
    pub at_bytes: u64,
    /// The run's length in bytes; not 0.
    pub length_bytes: u64,
    /// The ways down, one for each copy that is followed; not empty.
    pub ways: Vec<WayDown>,
}

/// Visits the pieces of `range` of layer `id` in order, until `visit` says `false`. Returns the
/// byte at which it ended: the range's end, or where it was stopped, by `visit` or after
/// [`PIECES_MAX`] pieces.
pub fn walk(
    stack: &Stack,
    id: LayerId,
    range: ByteRange,
    visit: &mut dyn FnMut(&TracedPiece) -> bool,
) -> u64 {
    let mut at = range.start_bytes();
    let mut left = PIECES_MAX;
    while at < range.end_bytes() && left > 0 {
        left -= 1;
        let Some(rest) = ByteRange::new(at, range.end_bytes() - at) else { break };
        let mut descent = Descent { stack, steps: Vec::new(), ways: Vec::new() };
        let length_bytes = descent.descend(id, rest).max(1);
        let piece = TracedPiece { at_bytes: at, length_bytes, ways: descent.ways };
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
    ways: Vec<WayDown>,
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
                FirstRun::Down(below) => self.below(Some(below), length),
                FirstRun::Done(end) => {
                    self.ways.push(WayDown { steps: self.steps.clone(), end });
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
        self.ways.push(WayDown { steps: self.steps.clone(), end });
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
        Mapping::Striped { stripe, copies: Copies::Neighbors(count), members } if *count > 1 => {
            let place = stripe.place(offset);
            let first = Copies::Neighbors(*count).first_member(place.position)?;
            let count = usize::try_from(*count).ok()?;
            let members = members.get(first..first.checked_add(count)?)?;
            Some(members.iter().map(|member| at(member, place.member_bytes)).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
