//! Mapping of a layer's bytes to the layers below.

use std::fmt;
use std::rc::Rc;

use format::image::Image;
use units::ByteRange;
use units::stripe::{Rotation, Stripe, StripePlace};

use crate::id::LayerId;

/// Mapping of a layer's bytes to the layers below.
#[derive(Clone, Debug)]
pub enum Mapping {
    /// On nothing: a drive, an image file.
    Leaf,
    /// Nowhere: it reads as zeros until it is written.
    Zeros,
    /// All of it on one layer, from a byte of that on.
    Linear(Below),
    /// In runs, each with a mapping of its own; in order, without overlap.
    Segments(Vec<Segment>),
    /// In chunks, round the members.
    Striped {
        /// The chunk and the number of data members.
        stripe: Stripe,
        /// Number of members hold each chunk.
        copies: Copies,
        /// The members in order, copies side by side; `None` for one that was not given.
        members: Vec<Option<Below>>,
    },
    /// The same bytes on every member.
    Mirrored {
        /// The members; `None` for one that was not given.
        members: Vec<Option<Below>>,
    },
    /// In chunks, round the members, with parity.
    Parity {
        /// The chunk and the number of data members.
        stripe: Stripe,
        /// Members that hold parity in each stripe: 1 or 2.
        parity: u64,
        /// The rotation of parity; `None` for a layout whose addresses are not known here.
        rotation: Option<Rotation>,
        /// The members in order.
        members: Vec<Option<Below>>,
    },
    /// A mapping by the tables of an image format.
    Image {
        /// The image.
        image: Rc<Image>,
        /// The layer of its own file.
        file: LayerId,
        /// The layers of the files that it references, in its order; or why one was not read.
        references: Vec<Result<LayerId, Unread>>,
    },
    /// In chunks that lie anywhere at multiples of their length: the place within a chunk is kept.
    Scattered {
        /// Place where chunk 0 would begin.
        below: Below,
        /// The chunk's length in bytes.
        chunk_bytes: u64,
        /// Why the chunks' places are not known.
        reason: String,
    },
    /// In a way that no fixed offset expresses; the text says why.
    Opaque {
        /// The layers that it lies on.
        on: Vec<LayerId>,
        /// Why.
        reason: String,
    },
    /// In a way that could not be learnt; the text says why.
    Unknown {
        /// The layers that it lies on, as far as they were given.
        on: Vec<LayerId>,
        /// Why.
        reason: String,
    },
}

/// Number of members hold each chunk of a striped layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// This many neighbors: 1 for RAID 0, 2 for the usual RAID 10.
    Neighbors(u64),
    /// The first copy is striped over all members; others lie in their second halves (RAID 10 far).
    Far,
    /// Each stripe is followed by this many copies of it less one, turned by one member (RAID 10
    /// offset).
    Offset(u64),
}

impl Copies {
    /// The index of the first member that holds data `position` of a stripe; `None` when it does
    /// not fit in memory.
    #[must_use]
    pub fn first_member(self, position: u64) -> Option<usize> {
        match self {
            Copies::Neighbors(count) => usize::try_from(position.checked_mul(count)?).ok(),
            Copies::Far | Copies::Offset(_) => usize::try_from(position).ok(),
        }
    }

    /// The byte of the first member's data at which a place lies; `None` when it exceeds 64 bits.
    #[must_use]
    pub fn member_bytes(self, place: StripePlace, stripe: Stripe) -> Option<u64> {
        match self {
            Copies::Neighbors(_) | Copies::Far => Some(place.member_bytes),
            Copies::Offset(copies) => {
                let row = place.stripe.checked_mul(copies.checked_sub(1)?)?;
                row.checked_mul(stripe.chunk_bytes())?.checked_add(place.member_bytes)
            }
        }
    }
}

/// A file that an image names and that was not read, or not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The name, harmless to print.
    pub name: String,
    /// Why.
    pub why: Why,
}

/// Why a file that an image names was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is outside of the image's directory, and nobody asked for what is there.
    Outside,
    /// It is shorter than what the image has in it, in bytes.
    Short {
        /// Its length.
        length_bytes: u64,
        /// The length that it must have.
        wanted_bytes: u64,
    },
    /// It is a file of the same chain.
    Circle,
    /// It could not be opened: the reason.
    Failed(String),
}

impl fmt::Display for Unread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.why {
            Why::Outside => {
                write!(formatter, "the image names `{name}`, which is not in its directory")
            }
            Why::Short { length_bytes, wanted_bytes } => write!(
                formatter,
                "`{name}` is too short: {length_bytes} bytes; the image uses {wanted_bytes} of it"
            ),
            Why::Circle => {
                write!(formatter, "`{name}` leads back to a file of the same chain")
            }
            Why::Failed(reason) => write!(formatter, "`{name}`: {reason}"),
        }
    }
}

/// A byte of a layer below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Below {
    /// The layer.
    pub layer: LayerId,
    /// The byte of it where the mapped bytes begin.
    pub offset_bytes: u64,
}

/// A run of a layer's bytes and how it lies below; the mapping counts from the run's start.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The run.
    pub range: ByteRange,
    /// Its mapping.
    pub mapping: Mapping,
}

impl Segment {
    /// Those of `segments` that end past byte `offset_bytes`: the first of them holds it, or all
    /// begin behind it.
    #[must_use]
    pub fn behind(segments: &[Segment], offset_bytes: u64) -> &[Segment] {
        let first = segments.partition_point(|segment| segment.range.end_bytes() <= offset_bytes);
        &segments[first..]
    }
}

impl Mapping {
    /// The layers that this lies on, each once, in order.
    #[must_use]
    pub fn below(&self) -> Vec<LayerId> {
        let mut found = Vec::new();
        self.each_below(&mut |layer| found.push(layer));
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|layer| seen.insert(*layer));
        found
    }

    /// Visits the layers that this lies on, some of them perhaps more than once.
    pub(crate) fn each_below(&self, visit: &mut dyn FnMut(LayerId)) {
        match self {
            Mapping::Leaf | Mapping::Zeros => {}
            Mapping::Opaque { on, .. } | Mapping::Unknown { on, .. } => {
                on.iter().copied().for_each(visit);
            }
            Mapping::Linear(below) | Mapping::Scattered { below, .. } => visit(below.layer),
            // Segments hold no segments: the assembler never nests them.
            Mapping::Segments(segments) => {
                segments.iter().for_each(|segment| segment.mapping.each_below(visit));
            }
            Mapping::Striped { members, .. }
            | Mapping::Mirrored { members }
            | Mapping::Parity { members, .. } => {
                members.iter().flatten().for_each(|member| visit(member.layer));
            }
            Mapping::Image { file, references, .. } => {
                visit(*file);
                references.iter().flatten().copied().for_each(visit);
            }
        }
    }

    /// Visits the same layers to give them other numbers.
    pub(crate) fn each_below_mut(&mut self, visit: &mut dyn FnMut(&mut LayerId)) {
        match self {
            Mapping::Leaf | Mapping::Zeros => {}
            Mapping::Opaque { on, .. } | Mapping::Unknown { on, .. } => {
                on.iter_mut().for_each(visit);
            }
            Mapping::Linear(below) | Mapping::Scattered { below, .. } => visit(&mut below.layer),
            Mapping::Segments(segments) => {
                segments.iter_mut().for_each(|segment| segment.mapping.each_below_mut(visit));
            }
            Mapping::Striped { members, .. }
            | Mapping::Mirrored { members }
            | Mapping::Parity { members, .. } => {
                members.iter_mut().flatten().for_each(|member| visit(&mut member.layer));
            }
            Mapping::Image { file, references, .. } => {
                visit(file);
                references.iter_mut().flatten().for_each(visit);
            }
        }
    }

    /// Every stripe that this mapping lays out, with the byte of this layer at which it starts.
    #[must_use]
    pub fn stripes(&self) -> Vec<LaidStripe> {
        match self {
            Mapping::Segments(segments) => segments
                .iter()
                .filter_map(|segment| segment.mapping.stripe(segment.range.start_bytes()))
                .collect(),
            other => other.stripe(0).into_iter().collect(),
        }
    }

    /// Returns how many members it lacks, over all of its runs.
    #[must_use]
    pub fn missing(&self) -> usize {
        match self {
            Mapping::Striped { members, .. }
            | Mapping::Mirrored { members }
            | Mapping::Parity { members, .. } => {
                members.iter().filter(|member| member.is_none()).count()
            }
            Mapping::Segments(segments) => {
                segments.iter().map(|segment| segment.mapping.missing()).sum()
            }
            _ => 0,
        }
    }

    fn stripe(&self, start_bytes: u64) -> Option<LaidStripe> {
        match self {
            Mapping::Striped { stripe, .. } => {
                Some(LaidStripe { start_bytes, stripe: *stripe, parity: 0 })
            }
            Mapping::Parity { stripe, parity, .. } => {
                Some(LaidStripe { start_bytes, stripe: *stripe, parity: *parity })
            }
            _ => None,
        }
    }
}

/// A stripe and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaidStripe {
    /// The byte of the layer at which the first stripe starts.
    pub start_bytes: u64,
    /// The chunk and the number of data members.
    pub stripe: Stripe,
    /// Members that hold parity in each stripe.
    pub parity: u64,
}
