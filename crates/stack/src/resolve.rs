//! Resolves a range of a layer to bytes of leaves.

use format::image::{GuestPlace, Image, ReferenceRole};
use units::ByteRange;

use crate::graph::Stack;
use crate::id::LayerId;
use crate::mapping::{Below, Mapping, Segment, Unread};

/// The most pieces that one call returns: enough for any single I/O, and bounded on any layout.
pub const PIECES_MAX: usize = 65_536;

/// A run of a layer's bytes and where it finally lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafPiece {
    /// The byte of the layer that was asked about.
    pub at_bytes: u64,
    /// The run's length in bytes; not 0.
    pub length_bytes: u64,
    /// Place where it lies.
    pub on: On,
}

/// Place where a run of bytes lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// On a leaf, from this byte on. On a mirror this is the first member that is there.
    Leaf(LayerId, u64),
    /// Nowhere: it reads as zeros.
    Zeros,
    /// Compressed in an image's file.
    Compressed(LayerId),
    /// Nobody can say; the text says why.
    Unknown(String),
}

/// The pieces of `range` of layer `id` in order. A range that ends behind the layer gives
/// [`On::Unknown`] for what is behind.
///
/// At most [`PIECES_MAX`] pieces are returned; the last then is [`On::Unknown`] for the rest.
#[must_use]
pub fn resolve(stack: &Stack, id: LayerId, range: ByteRange) -> Vec<LeafPiece> {
    until(stack, id, range, None)
}

/// Same as [`resolve`], but for the layer `onto`, which counts as a leaf: where the range lies on
/// an array, before the array spreads it.
#[must_use]
pub fn resolve_onto(stack: &Stack, id: LayerId, range: ByteRange, onto: LayerId) -> Vec<LeafPiece> {
    until(stack, id, range, Some(onto))
}

fn until(stack: &Stack, id: LayerId, range: ByteRange, onto: Option<LayerId>) -> Vec<LeafPiece> {
    let mut done = Vec::new();
    let mut todo = vec![(id, range, range.start_bytes())];
    while let Some((id, range, at_bytes)) = todo.pop() {
        let (length_bytes, next) = if done.len() + todo.len() >= PIECES_MAX {
            let rest = todo.iter().map(|(_, range, _)| range.length_bytes()).sum::<u64>();
            todo.clear();
            let reason = "more pieces than are looked at".to_owned();
            (range.length_bytes() + rest, FirstRun::Done(On::Unknown(reason)))
        } else if onto == Some(id) {
            (range.length_bytes(), FirstRun::Done(On::Leaf(id, range.start_bytes())))
        } else {
            first(stack, id, range)
        };
        if let Some(rest) = behind(range, length_bytes) {
            todo.push((id, rest, at_bytes + length_bytes));
        }
        match next {
            FirstRun::Done(on) => done.push(LeafPiece { at_bytes, length_bytes, on }),
            FirstRun::Down(below) => match ByteRange::new(below.offset_bytes, length_bytes) {
                Some(range) => todo.push((below.layer, range, at_bytes)),
                None => {
                    let on = On::Unknown("it would end past the last address".to_owned());
                    done.push(LeafPiece { at_bytes, length_bytes, on });
                }
            },
        }
    }
    done.retain(|piece| piece.length_bytes > 0);
    done
}

/// Returns what of `range` lies behind its first `length_bytes`; `None` where nothing does.
pub(crate) fn behind(range: ByteRange, length_bytes: u64) -> Option<ByteRange> {
    let rest = range.length_bytes().checked_sub(length_bytes).filter(|&rest| rest > 0)?;
    ByteRange::new(range.start_bytes() + length_bytes, rest)
}

/// Place where the first run of some bytes lies: one level down, or finally.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FirstRun {
    Down(Below),
    Done(On),
}

/// The first run of `range` of layer `id` that lies contiguously one level down: its length, at
/// most the range's, and where. Mirrors give the first member that is there; parity gives data
/// members.
pub(crate) fn first(stack: &Stack, id: LayerId, range: ByteRange) -> (u64, FirstRun) {
    let layer = stack.layer(id);
    let offset = range.start_bytes();
    let mut length = range.length_bytes();
    if let Some(end) = layer.length() {
        if offset >= end {
            return (length, FirstRun::Done(On::Unknown(format!("it is past the end at {end}"))));
        }
        length = length.min(end - offset);
    }
    match &layer.mapping {
        Mapping::Leaf => (length, FirstRun::Done(On::Leaf(id, offset))),
        Mapping::Segments(segments) => {
            let found = Segment::behind(segments, offset).first();
            let found = found.filter(|segment| segment.range.start_bytes() <= offset);
            match found {
                Some(segment) => {
                    let length = length.min(segment.range.end_bytes() - offset);
                    let within = offset - segment.range.start_bytes();
                    step(stack, &segment.mapping, within, length)
                }
                None => (length, FirstRun::Done(On::Unknown("no segment holds it".to_owned()))),
            }
        }
        mapping => step(stack, mapping, offset, length),
    }
}

fn step(stack: &Stack, mapping: &Mapping, offset: u64, length: u64) -> (u64, FirstRun) {
    let unknown = |reason: &str| FirstRun::Done(On::Unknown(reason.to_owned()));
    match mapping {
        Mapping::Zeros => (length, FirstRun::Done(On::Zeros)),
        Mapping::Linear(below) => (length, down(Some(*below), offset)),
        Mapping::Mirrored { members } => {
            (length, down(members.iter().flatten().next().copied(), offset))
        }
        Mapping::Striped { stripe, copies, members } => {
            let place = stripe.place(offset);
            let member = copies.first_member(place.position).and_then(|n| members.get(n));
            let next = match copies.member_bytes(place, *stripe) {
                Some(address) => down(member.copied().flatten(), address),
                None => unknown("it would lie past the last address"),
            };
            (length.min(place.left_in_chunk_bytes), next)
        }
        Mapping::Parity { stripe, parity, rotation, members } => {
            let place = stripe.place(offset);
            let count = stripe.data_members() + parity;
            let Some(rotation) = rotation else {
                return (length, unknown("how parity moves in this layout is not known"));
            };
            let (_, member) = rotation.members(place.stripe, place.position, count, *parity);
            let member = usize::try_from(member).ok().and_then(|n| members.get(n));
            let next = down(member.copied().flatten(), place.member_bytes);
            (length.min(place.left_in_chunk_bytes), next)
        }
        Mapping::Image { image, file, references } => {
            in_image(stack, image, *file, references, offset, length)
        }
        Mapping::Scattered { reason, .. }
        | Mapping::Opaque { reason, .. }
        | Mapping::Unknown { reason, .. } => (length, unknown(reason)),
        Mapping::Leaf | Mapping::Segments(_) => {
            (length, unknown("the layout nests in a way that no format has"))
        }
    }
}

fn down(member: Option<Below>, offset: u64) -> FirstRun {
    let Some(below) = member else {
        return FirstRun::Done(On::Unknown("it lies on a member that was not given".to_owned()));
    };
    match below.offset_bytes.checked_add(offset) {
        Some(offset_bytes) => FirstRun::Down(Below { layer: below.layer, offset_bytes }),
        None => FirstRun::Done(On::Unknown("it would lie past the last address".to_owned())),
    }
}

fn in_image(
    stack: &Stack,
    image: &Image,
    file: LayerId,
    references: &[Result<LayerId, Unread>],
    offset: u64,
    length: u64,
) -> (u64, FirstRun) {
    let unknown = |reason: String| (length, FirstRun::Done(On::Unknown(reason)));
    let Some(disk) = stack.bytes(file) else {
        return unknown("the image's file was not given".to_owned());
    };
    let extent = match image.locate(disk.as_ref(), offset) {
        Ok(Some(extent)) => extent,
        Ok(None) => return unknown("it is past the end of the image".to_owned()),
        Err(error) => return unknown(error.to_string()),
    };
    let run = length.min(extent.guest.end_bytes().saturating_sub(offset).max(1));
    let to = |layer, offset_bytes| FirstRun::Down(Below { layer, offset_bytes });
    let within = |index: usize, at| match references.get(index) {
        Some(Ok(layer)) => to(*layer, at),
        Some(Err(unread)) => FirstRun::Done(On::Unknown(unread.to_string())),
        None => FirstRun::Done(On::Unknown("it lies in a file that was not given".to_owned())),
    };
    let next = match extent.place {
        GuestPlace::Here(at) => to(file, at),
        GuestPlace::In(index, at) => within(index, at),
        GuestPlace::Compressed(_) => FirstRun::Done(On::Compressed(file)),
        GuestPlace::Zero => FirstRun::Done(On::Zeros),
        GuestPlace::Backing => match backing_index(image) {
            Some(index) => within(index, offset),
            None => FirstRun::Done(On::Zeros),
        },
    };
    (run, next)
}

/// Number of the reference that is an image's backing file; `None` when it has none.
pub(crate) fn backing_index(image: &Image) -> Option<usize> {
    image.references.iter().position(|reference| reference.role == ReferenceRole::Backing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{Layer, LayerKind};
    use crate::mapping::Copies;
    use units::stripe::{Rotation, Stripe};
    use units::{Known, Source};

    fn bytes(length: u64) -> Known<u64> {
        Known::yes(length, Source::OnDisk)
    }

    fn range(start: u64, length: u64) -> ByteRange {
        ByteRange::new(start, length).unwrap()
    }

    fn add(stack: &mut Stack, length: u64, mapping: Mapping) -> LayerId {
        stack.add(Layer::new(LayerKind::ImageFile, "x".into(), bytes(length), mapping))
    }

    fn below(layer: LayerId, offset_bytes: u64) -> Below {
        Below { layer, offset_bytes }
    }

    #[test]
    fn a_write_over_a_chunk_boundary_lies_on_two_members() {
        let mut stack = Stack::new();
        let members: Vec<_> =
            (0..2).map(|_| Some(below(add(&mut stack, 1 << 30, Mapping::Leaf), 4096))).collect();
        let stripe = Stripe::new(16384, 2).unwrap();
        let copies = Copies::Neighbors(1);
        let array = add(&mut stack, 1 << 30, Mapping::Striped { stripe, copies, members });
        let pieces = resolve(&stack, array, range(16384 - 512, 1024));
        assert_eq!(
            pieces.iter().map(|piece| (piece.length_bytes, piece.on.clone())).collect::<Vec<_>>(),
            [(512, On::Leaf(LayerId(0), 4096 + 16384 - 512)), (512, On::Leaf(LayerId(1), 4096))]
        );
    }

    #[test]
    fn a_range_is_resolved_onto_the_array_in_one_piece() {
        let mut stack = Stack::new();
        let members: Vec<_> =
            (0..2).map(|_| Some(below(add(&mut stack, 1 << 30, Mapping::Leaf), 4096))).collect();
        let stripe = Stripe::new(16384, 2).unwrap();
        let copies = Copies::Neighbors(1);
        let array = add(&mut stack, 1 << 30, Mapping::Striped { stripe, copies, members });
        let top = add(&mut stack, 1 << 20, Mapping::Linear(below(array, 512)));
        let piece = |length_bytes, on| LeafPiece { at_bytes: 0, length_bytes, on };
        let pieces = resolve_onto(&stack, top, range(0, 65536), array);
        assert_eq!(pieces, [piece(65536, On::Leaf(array, 512))]);
        assert_eq!(resolve_onto(&stack, array, range(7, 9), array)[0].on, On::Leaf(array, 7));
        let elsewhere = resolve_onto(&stack, top, range(0, 512), top);
        assert_eq!(elsewhere, [piece(512, On::Leaf(top, 0))]);
    }

    #[test]
    fn resolved_pieces_cover_the_range_without_gap_on_every_layout() {
        let mut random = units::random::Random::new(3);
        for _ in 0..200 {
            let mut stack = Stack::new();
            let chunk = 512 << random.below(8);
            let parity = random.below(3);
            let data = 1 + random.below(4);
            let members = (0..data + parity)
                .map(|_| {
                    Some(below(add(&mut stack, 1 << 40, Mapping::Leaf), 512 * random.below(9)))
                })
                .collect();
            let stripe = Stripe::new(chunk, data).unwrap();
            let mapping = match parity {
                0 => Mapping::Striped { stripe, copies: Copies::Neighbors(1), members },
                _ => Mapping::Parity {
                    stripe,
                    parity,
                    rotation: Some(Rotation::LeftSymmetric),
                    members,
                },
            };
            let array = add(&mut stack, 1 << 40, mapping);
            let part = add(&mut stack, 1 << 30, Mapping::Linear(below(array, 512 * 63)));
            let asked = range(random.below(1 << 20), 1 + random.below(1 << 18));
            let mut next = asked.start_bytes();
            let mut seen = std::collections::BTreeSet::new();
            for piece in resolve(&stack, part, asked) {
                assert_eq!(piece.at_bytes, next);
                next += piece.length_bytes;
                let On::Leaf(leaf, at) = piece.on else { panic!("{piece:?}") };
                assert!(seen.insert((leaf, at)), "no byte of a leaf is used twice");
            }
            assert_eq!(next, asked.end_bytes());
        }
    }

    #[test]
    fn what_is_behind_the_end_is_unknown() {
        let mut stack = Stack::new();
        let leaf = add(&mut stack, 1000, Mapping::Leaf);
        let pieces = resolve(&stack, leaf, range(900, 200));
        assert_eq!(pieces[0].length_bytes, 100);
        assert!(matches!(pieces[1].on, On::Unknown(_)));
    }
}
