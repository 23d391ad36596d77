//! Distance of a layer's data from the boundaries of a unit that lies somewhere beneath it.
//!
//! The question is always the same: when the layer above writes at one of its own boundaries, where
//! within the unit does that land? One *shift* answers for everything that is mapped by one offset;
//! arrays answer once for each member, images once for each way in which their blocks are placed.

use std::collections::BTreeMap;

use format::image::{self, Image, ImageKind};
use units::{ByteRange, Unit};

use crate::graph::Stack;
use crate::id::LayerId;
use crate::mapping::{Below, Mapping, Segment, Unread};
use crate::resolve;
use crate::work_budget::WorkBudget;

/// Why nothing in a stream-optimized VMDK has a place.
pub(crate) const COMPRESSED: &str = "every grain is compressed, so nothing has an alignment";

/// Why blocks of `block_bytes` that are not allocated yet have no place: the first write of each
/// decides. QEMU counts a qcow2 file in clusters from its start.
fn unplaced(kind: ImageKind, block_bytes: u64) -> String {
    match kind {
        ImageKind::Qcow2 => format!(
            "clusters of {block_bytes} bytes are placed at their first write, so each can land at \
             any multiple of {block_bytes} bytes"
        ),
        _ => format!(
            "blocks of {block_bytes} bytes are placed at their first write, so where each will \
             land is not known"
        ),
    }
}

/// The most paths that one question follows; layouts that need more are called unknown.
const PATHS_MAX: usize = 20_000;

/// Obstacle between a layer and the unit, for which a part of it has no answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// No fixed offset leads on.
    NotExpressible(String),
    /// It could not be learnt.
    Unknown(String),
    /// An array's chunk is not a multiple of the unit, so units are torn apart.
    ChunkBelowUnit {
        /// The array.
        array: LayerId,
        /// Its chunk in bytes.
        chunk_bytes: u64,
    },
}

impl Obstacle {
    /// There are more ways down than are followed.
    pub(crate) fn more_paths() -> Obstacle {
        Obstacle::Unknown("more paths than are followed".to_owned())
    }
}

/// The shifts of a layer against a unit, each with the bytes that have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shifts {
    /// Shift in bytes, below the unit's length, to the number of bytes of the layer that have it.
    pub bytes: BTreeMap<u64, u64>,
    /// The part that has no answer.
    pub obstacles: Vec<Obstacle>,
    /// Bytes that lie nowhere: holes of images.
    pub nowhere_bytes: u64,
    /// Bytes that lie nowhere yet, and are counted above where the image's format will put them.
    pub predicted_bytes: u64,
}

impl Shifts {
    /// The only shift, when there is just one and nothing stands between.
    #[must_use]
    pub fn single(&self) -> Option<u64> {
        let mut shifts = self.bytes.keys();
        let first = shifts.next().copied()?;
        shifts.next().is_none().then_some(first)
    }

    /// All bytes that have a shift.
    #[must_use]
    pub fn total_bytes(&self) -> u128 {
        self.bytes.values().map(|&bytes| u128::from(bytes)).sum()
    }

    /// The share of bytes for which `wanted` holds of the shift, from 0 to 1; 0 when there are
    /// none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share needs few digits")]
    pub fn share(&self, wanted: impl Fn(u64) -> bool) -> f64 {
        let total = self.total_bytes();
        let some: u128 = (self.bytes.iter())
            .filter(|(shift, _)| wanted(**shift))
            .map(|(_, &bytes)| u128::from(bytes))
            .sum();
        if total == 0 { 0.0 } else { some as f64 / total as f64 }
    }
}

/// A run of bytes of a layer on the way down, and how far its addresses are ahead of those of the
/// layer that was asked about, modulo the unit.
#[derive(Clone, Copy)]
pub(crate) struct DescendingRun {
    pub(crate) id: LayerId,
    pub(crate) range: ByteRange,
    pub(crate) shift: u64,
}

/// The shifts of `range` of layer `from` on layer `to`, modulo `unit_bytes`: byte *x* of `from` is
/// at
/// *x* + shift of `to`. Parts that lie on other layers than `to` are left out.
///
/// # Panics
/// When `unit_bytes` is 0.
#[must_use]
pub fn shifts(
    stack: &Stack,
    from: LayerId,
    range: ByteRange,
    to: LayerId,
    unit_bytes: u64,
) -> Shifts {
    shifts_within(
        stack,
        &DescendingRun { id: from, range, shift: 0 },
        to,
        unit_bytes,
        &WorkBudget::of(PATHS_MAX),
    )
}

/// Same as [`shifts`] on the way that `path` begins, and no more than `budget` allows.
pub(crate) fn shifts_within(
    stack: &Stack,
    path: &DescendingRun,
    to: LayerId,
    unit_bytes: u64,
    budget: &WorkBudget,
) -> Shifts {
    assert!(unit_bytes > 0, "a unit has a length");
    let mut walk = PlacementWalk {
        stack,
        budget,
        to,
        unit_bytes,
        todo: Vec::new(),
        waited: 0,
        found: Shifts::default(),
    };
    walk.todo.push(*path);
    let mut steps = 0;
    while let Some(path) = walk.todo.pop() {
        steps += 1;
        // What waits counts too: one layer may lead to thousands.
        if steps > PATHS_MAX || !budget.spend(1 + walk.grown()) {
            walk.obstacle(Obstacle::more_paths());
            break;
        }
        walk.step(path);
    }
    walk.found
}

struct PlacementWalk<'a> {
    stack: &'a Stack,
    budget: &'a WorkBudget,
    to: LayerId,
    unit_bytes: u64,
    todo: Vec<DescendingRun>,
    /// Number that waited when that was last asked.
    waited: usize,
    found: Shifts,
}

impl PlacementWalk<'_> {
    /// Returns how many more wait than when that was last asked.
    fn grown(&mut self) -> usize {
        let grown = self.todo.len().saturating_sub(self.waited);
        self.waited = self.todo.len();
        grown
    }

    fn obstacle(&mut self, obstacle: Obstacle) {
        if !self.found.obstacles.contains(&obstacle) {
            self.found.obstacles.push(obstacle);
        }
    }

    fn step(&mut self, path: DescendingRun) {
        if path.id == self.to {
            let bytes = self.found.bytes.entry(path.shift % self.unit_bytes).or_default();
            *bytes = bytes.saturating_add(path.range.length_bytes());
            return;
        }
        // Layers below have lower numbers, so the wanted one cannot be beneath a lower one.
        if path.id < self.to {
            return;
        }
        let stack = self.stack;
        match &stack.layer(path.id).mapping {
            Mapping::Leaf => {}
            Mapping::Segments(segments) => {
                for segment in Segment::behind(segments, path.range.start_bytes()) {
                    let Some(part) = segment.range.intersection(path.range) else { break };
                    let start = part.start_bytes() - segment.range.start_bytes();
                    let range = ByteRange::new(start, part.length_bytes()).expect("a part");
                    let shift = self.less(path.shift, segment.range.start_bytes());
                    // A file has many extents, and below each the way is the same: it is not walked
                    // for each.
                    if let Mapping::Linear(below) = &segment.mapping
                        && let Some(offset) = self.straight(below.layer)
                    {
                        let shift = self.plus(self.plus(shift, below.offset_bytes), offset);
                        let bytes = self.found.bytes.entry(shift % self.unit_bytes).or_default();
                        *bytes = bytes.saturating_add(range.length_bytes());
                        continue;
                    }
                    self.map(&segment.mapping, DescendingRun { id: path.id, range, shift });
                }
            }
            mapping => self.map(mapping, path),
        }
    }

    fn map(&mut self, mapping: &Mapping, path: DescendingRun) {
        match mapping {
            Mapping::Linear(below) => self.down(Some(*below), path, path.range),
            Mapping::Mirrored { members } => {
                members.iter().for_each(|member| self.down(*member, path, path.range));
            }
            Mapping::Scattered { below, chunk_bytes, reason } => {
                if chunk_bytes % self.unit_bytes == 0 {
                    self.down(Some(*below), path, path.range);
                } else {
                    self.obstacle(Obstacle::NotExpressible(reason.clone()));
                }
            }
            Mapping::Striped { stripe, members, .. } | Mapping::Parity { stripe, members, .. } => {
                if members.len() > 1 && stripe.chunk_bytes() % self.unit_bytes != 0 {
                    self.obstacle(Obstacle::ChunkBelowUnit {
                        array: path.id,
                        chunk_bytes: stripe.chunk_bytes(),
                    });
                    return;
                }
                let first = stripe.place(path.range.start_bytes()).stripe;
                let last = stripe.place(path.range.end_bytes().saturating_sub(1)).stripe;
                let chunk = stripe.chunk_bytes();
                let length = (last - first + 1).saturating_mul(chunk);
                let range = ByteRange::new(first.saturating_mul(chunk), length);
                let Some(range) = range else { return };
                members.iter().for_each(|member| self.down(*member, path, range));
            }
            Mapping::Image { image, file, references } => {
                self.image(image, *file, references, path);
            }
            Mapping::Opaque { reason, .. } => {
                self.obstacle(Obstacle::NotExpressible(reason.clone()))
            }
            Mapping::Unknown { reason, .. } => self.obstacle(Obstacle::Unknown(reason.clone())),
            Mapping::Zeros => self.nowhere(path.range.length_bytes()),
            Mapping::Leaf | Mapping::Segments(_) => {}
        }
    }

    /// An image places its blocks where its tables say: each way of placing them is a path.
    fn image(
        &mut self,
        image: &Image,
        file: LayerId,
        references: &[Result<LayerId, Unread>],
        path: DescendingRun,
    ) {
        let Some(disk) = self.stack.bytes(file).cloned() else {
            self.obstacle(Obstacle::Unknown("the image's file was not given".to_owned()));
            return;
        };
        if image.kind == ImageKind::VmdkStream {
            // New grains are compressed, too.
            self.obstacle(Obstacle::NotExpressible(COMPRESSED.to_owned()));
            return;
        }
        let unit = Unit::new(self.unit_bytes).expect("a unit has a length");
        let length = path.range.length_bytes();
        if let Some(shift) = image.constant_shift(unit) {
            self.branch(path, file, length, shift);
            for layer in references {
                match layer {
                    Ok(layer) => self.branch(path, *layer, length, 0),
                    Err(unread) => self.obstacle(Obstacle::Unknown(unread.to_string())),
                }
            }
            return;
        }
        let most = self.budget.table_bytes();
        let found = image.shifts_within(disk.as_ref(), path.range, unit, most);
        // Each walk costs something, whatever it looks at.
        self.budget.spend_table_bytes(found.walked.table_bytes.max(4096));
        for (&shift, &bytes) in &found.here {
            self.branch(path, file, bytes, shift);
        }
        for (&(index, shift), &bytes) in &found.references {
            self.refer(path, references.get(index), bytes, shift);
        }
        match resolve::backing_index(image).filter(|_| found.backing_bytes > 0) {
            Some(index) => {
                self.refer(path, references.get(index), found.backing_bytes, 0);
                self.nowhere(found.zero_bytes);
            }
            // Where it will lie follows from the format.
            None => {
                let unwritten = found.backing_bytes.saturating_add(found.zero_bytes);
                self.unwritten(image, file, disk.length_bytes(), path, unwritten);
            }
        }
        self.untold(&found);
    }

    /// On to where `bytes` of an image that are not allocated will lie.
    fn unwritten(
        &mut self,
        image: &Image,
        file: LayerId,
        file_bytes: u64,
        path: DescendingRun,
        bytes: u64,
    ) {
        let range = ByteRange::new(0, bytes).filter(|_| bytes > 0);
        let unit = Unit::new(self.unit_bytes).expect("a unit has a length");
        let Some(range) = range else { return };
        let shifts = image.new_shifts(file_bytes, range, unit);
        for (&shift, &bytes) in &shifts {
            self.branch(path, file, bytes, shift);
        }
        if let (true, Some(block)) = (shifts.is_empty(), image.block_bytes) {
            let reason = unplaced(image.kind, block);
            self.obstacle(Obstacle::NotExpressible(reason));
        } else if shifts.is_empty() {
            self.nowhere(bytes);
        } else {
            self.found.predicted_bytes = self.found.predicted_bytes.saturating_add(bytes);
        }
    }

    fn branch(&mut self, path: DescendingRun, layer: LayerId, bytes: u64, shift: u64) {
        let range = ByteRange::new(0, bytes).expect("a range from 0");
        let shift = self.plus(path.shift, shift);
        self.todo.push(DescendingRun { id: layer, range, shift });
    }

    /// On to a file that the image names; what lies in one that is not at hand stays unknown.
    fn refer(
        &mut self,
        path: DescendingRun,
        reference: Option<&Result<LayerId, Unread>>,
        bytes: u64,
        shift: u64,
    ) {
        match reference {
            Some(Ok(layer)) => self.branch(path, *layer, bytes, shift),
            Some(Err(unread)) => self.obstacle(Obstacle::Unknown(unread.to_string())),
            None => self.obstacle(Obstacle::Unknown("a file that it names was not read".into())),
        }
    }

    fn nowhere(&mut self, bytes: u64) {
        self.found.nowhere_bytes = self.found.nowhere_bytes.saturating_add(bytes);
    }

    fn untold(&mut self, found: &image::shift::Shifts) {
        if found.compressed_bytes > 0 {
            let reason =
                format!("{} of it are compressed", units::prefix::Size(found.compressed_bytes));
            self.obstacle(Obstacle::NotExpressible(reason));
        }
        if !found.walked.complete {
            let reason = "its tables have more entries than are looked at".to_owned();
            self.obstacle(Obstacle::Unknown(reason));
        }
        if found.other_bytes > 0 {
            let reason = "its blocks are placed in more ways than are told apart".to_owned();
            self.obstacle(Obstacle::Unknown(reason));
        }
        if let Some(error) = &found.first_error {
            self.obstacle(Obstacle::Unknown(error.to_string()));
        }
    }

    /// The address on the layer that is looked for of byte 0 of `layer`, where all in between lies
    /// in one piece.
    fn straight(&self, layer: LayerId) -> Option<u64> {
        let (mut here, mut at) = (layer, 0_u64);
        while here != self.to {
            let Mapping::Linear(below) = &self.stack.layer(here).mapping else { return None };
            at = at.checked_add(below.offset_bytes)?;
            here = below.layer;
        }
        Some(at)
    }

    fn down(&mut self, member: Option<Below>, path: DescendingRun, range: ByteRange) {
        let Some(below) = member else { return };
        let start = range.start_bytes().checked_add(below.offset_bytes);
        let Some(range) = start.and_then(|start| ByteRange::new(start, range.length_bytes()))
        else {
            self.obstacle(Obstacle::Unknown("it would lie past the last address".to_owned()));
            return;
        };
        let shift = self.plus(path.shift, below.offset_bytes);
        self.todo.push(DescendingRun { id: below.layer, range, shift });
    }

    fn plus(&self, shift: u64, bytes: u64) -> u64 {
        let sum = u128::from(shift) + u128::from(bytes);
        u64::try_from(sum % u128::from(self.unit_bytes)).expect("below a 64-bit unit")
    }

    fn less(&self, shift: u64, bytes: u64) -> u64 {
        let back = self.unit_bytes - bytes % self.unit_bytes;
        self.plus(shift, back)
    }
}

#[cfg(test)]
mod tests {
    use units::{Known, Source};

    use super::*;
    use crate::layer::{Layer, LayerKind};

    #[test]
    fn an_extent_that_begins_off_the_unit_in_its_file_is_shifted_back_by_that() {
        let mut stack = Stack::new();
        let mut add = |mapping| {
            let length = Known::yes(1 << 30, Source::OnDisk);
            stack.add(Layer::new(LayerKind::File, "x".to_owned(), length, mapping))
        };
        let layer = add(Mapping::Leaf);
        let range = ByteRange::new(512, 8192).expect("a range");
        let mapping = Mapping::Linear(Below { layer, offset_bytes: 1 << 20 });
        let file = add(Mapping::Segments(vec![Segment { range, mapping }]));
        let found = shifts(&stack, file, range, layer, 4096);
        // Byte 512 of the file is at 1 MiB, so that its byte 4096 is 512 before a boundary.
        assert_eq!((found.single(), found.total_bytes()), (Some(3584), 8192));
    }
}
