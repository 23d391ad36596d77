//! LVM volume groups from their physical volumes.

use std::collections::BTreeMap;

use device::Disk;
use format::member::lvm::{Area, LogicalVolume, PhysicalVolume, SegmentKind, VolumeGroup};
use format::{Problem, ProblemKind};
use units::{ByteRange, DiskText, Known, SectorSize, Source};

use super::{Ahead, Assembler, LookedAt};
use crate::id::LayerId;
use crate::layer::{Layer, LayerKind};
use crate::mapping::{Below, Copies, Mapping, Segment};
use crate::raid_layout_names;
use crate::unit::UnitKind;

/// A volume group as far as its physical volumes were found.
pub(super) struct Gathered {
    /// The group as the newest of their texts describes it; the others are not kept.
    newest: VolumeGroup,
    found: Vec<FoundVolume>,
}

/// The most missing physical volumes that are named.
const NAMES_MAX: usize = 8;

/// A physical volume that was found.
struct FoundVolume {
    id: String,
    /// Place where its header says that extents begin, in bytes from its start.
    data_offset_bytes: u64,
    layer: LayerId,
    sector: SectorSize,
    depth: usize,
}

impl Assembler<'_> {
    pub(super) fn lvm_physical(
        &mut self,
        job: &LookedAt,
        mut volume: PhysicalVolume,
        problems: Vec<Problem>,
    ) {
        let is_same = |&below: &LayerId| match &self.stack.layer(below).kind {
            LayerKind::LvmPhysical(other) => other.id == volume.id,
            _ => false,
        };
        if self.stack.under(job.id).iter().any(is_same) {
            let detail = format!("physical volume {} lies within itself", volume.id);
            let problem = Problem::new(ProblemKind::Chain, 0, detail);
            return self.stack.layer_mut(job.id).problems.push(problem);
        }
        // The layer keeps what the group is called, not what is in it.
        let group = volume.group.take();
        volume.group = group.as_ref().map(outline);
        let id = volume.id.clone();
        let data_offset_bytes = volume.data_offset_bytes.unwrap_or(0);
        let below = Below { layer: job.id, offset_bytes: data_offset_bytes };
        let bytes = job.disk.length_bytes().saturating_sub(data_offset_bytes);
        let name = match &group {
            Some(group) => format!("PV of {}", group.name),
            None => "PV".to_owned(),
        };
        let kind = LayerKind::LvmPhysical(Box::new(volume));
        let length = Known::yes(bytes, Source::Derived);
        let mut layer = Layer::new(kind, name, length, Mapping::Linear(below));
        layer.problems = problems;
        let Some(layer) = self.add(job.id, layer) else { return };
        let depth = job.depth + 1;
        let found = FoundVolume { id, data_offset_bytes, layer, sector: job.sector, depth };
        if let Some(group) = group {
            self.gather(group, found);
        }
    }

    fn gather(&mut self, group: VolumeGroup, found: FoundVolume) {
        let Some(gathered) = self.groups.get_mut(&group.id) else {
            let id = group.id.clone();
            self.groups.insert(id, Gathered { newest: group, found: vec![found] });
            return;
        };
        if gathered.found.iter().any(|other| other.id == found.id) {
            let detail = "another one has the same UUID, and that one is taken";
            let problem = Problem::new(ProblemKind::Copies, 0, detail);
            self.stack.layer_mut(found.layer).problems.push(problem);
            return;
        }
        gathered.found.push(found);
        if group.sequence > gathered.newest.sequence {
            gathered.newest = group;
        }
    }

    /// Builds every volume group whose physical volumes were found; false when there is none.
    pub(super) fn build_groups(&mut self) -> bool {
        let groups = std::mem::take(&mut self.groups);
        let built = !groups.is_empty();
        let mut views = Vec::new();
        for (group_id, gathered) in groups {
            views.extend(self.build_group(&group_id, &gathered));
        }
        self.look_into_views(views);
        built
    }

    fn build_group(&mut self, group_id: &str, gathered: &Gathered) -> Vec<Ahead> {
        let Gathered { newest: group, found } = gathered;
        let depth = found.iter().map(|found| found.depth).max().unwrap_or(0);
        let sector = found.iter().map(|found| found.sector).max().unwrap_or(SectorSize::B512);
        let by_id: BTreeMap<&str, &FoundVolume> =
            found.iter().map(|found| (found.id.as_str(), found)).collect();
        let mut ground = GroupBase { group, areas: BTreeMap::new(), on: Vec::new() };
        let mut missing: Vec<&DiskText> = Vec::new();
        for member in &group.physical {
            let Some(here) = by_id.get(member.id.as_str()) else {
                missing.push(&member.name);
                continue;
            };
            ground.on.push(here.layer);
            // The layer of a physical volume begins where its header says that extents begin.
            let header = here.data_offset_bytes;
            let offset = member.data_offset_bytes.checked_sub(header);
            let below = offset.map(|offset_bytes| Below { layer: here.layer, offset_bytes });
            if below.is_none_or(|below| below.offset_bytes > 0) {
                let detail = format!(
                    "the header says that data starts at {header}, the group's text at {}",
                    member.data_offset_bytes
                );
                let problem = Problem::new(ProblemKind::Copies, 0, detail);
                self.stack.layer_mut(here.layer).problems.push(problem);
            }
            ground.areas.insert(member.name.clone(), below);
        }
        if !missing.is_empty() {
            self.incomplete.push(format!("vg {group_id}"));
        }
        if let Some(&first) = ground.on.first().filter(|_| !missing.is_empty()) {
            let count = missing.len();
            let names: Vec<String> =
                missing.iter().take(NAMES_MAX).map(ToString::to_string).collect();
            let more = if count > names.len() { " and others" } else { "" };
            let detail = format!(
                "{count} of {} physical volumes were not given: {}{more}",
                group.physical.len(),
                names.join(", ")
            );
            let problem = Problem::new(ProblemKind::Unreadable, 0, detail);
            self.stack.layer_mut(first).problems.push(problem);
        }
        let views = self.build_volumes(&mut ground);
        views.into_iter().map(|id| (id, sector, depth + 1)).collect()
    }

    /// Adds the volumes, those first that others lie on; returns those that users see.
    fn build_volumes(&mut self, ground: &mut GroupBase<'_>) -> Vec<LayerId> {
        let Some(&on) = ground.on.first() else { return Vec::new() };
        let names: std::collections::BTreeSet<&DiskText> =
            ground.group.logical.iter().map(|volume| &volume.name).collect();
        let mut waiting: Vec<&LogicalVolume> = ground.group.logical.iter().collect();
        let mut seen = Vec::new();
        while !waiting.is_empty() {
            let before = waiting.len();
            let mut later = Vec::new();
            for volume in waiting {
                let needs =
                    |name: &DiskText| names.contains(name) && !ground.areas.contains_key(name);
                if parts(volume).any(needs) {
                    later.push(volume);
                    continue;
                }
                let Some(id) = self.add(on, ground.layer(volume)) else { return seen };
                let below = Below { layer: id, offset_bytes: 0 };
                ground.areas.insert(volume.name.clone(), Some(below));
                if volume.visible && !is_pool(volume) {
                    seen.push(id);
                }
            }
            if later.len() == before {
                let detail = "volumes lie on each other in a circle, so they lie nowhere";
                let problem = Problem::new(ProblemKind::Chain, 0, detail);
                self.stack.layer_mut(on).problems.push(problem);
                break;
            }
            waiting = later;
        }
        seen
    }
}

/// The group without its volumes.
fn outline(group: &VolumeGroup) -> VolumeGroup {
    VolumeGroup {
        name: group.name.clone(),
        id: group.id.clone(),
        sequence: group.sequence,
        extent_bytes: group.extent_bytes,
        physical: Vec::new(),
        logical: Vec::new(),
    }
}

/// Returns whether a volume holds the chunks of others, so that what its bytes look like is theirs:
/// the first chunk of a thin volume often is the first of the pool.
fn is_pool(volume: &LogicalVolume) -> bool {
    let pool = |kind: &SegmentKind| matches!(kind, SegmentKind::ThinPool { .. });
    volume.segments.iter().any(|segment| pool(&segment.kind))
}

/// The names of what a volume lies on.
fn parts(volume: &LogicalVolume) -> impl Iterator<Item = &DiskText> {
    volume.segments.iter().flat_map(|segment| -> Vec<&DiskText> {
        match &segment.kind {
            SegmentKind::Striped { areas, .. } | SegmentKind::Mirror { areas } => {
                areas.iter().map(|area| &area.on).collect()
            }
            SegmentKind::Raid { images, .. } => images.iter().collect(),
            SegmentKind::Thin { pool } => vec![pool],
            SegmentKind::ThinPool { data, .. } => vec![data],
            SegmentKind::Other { .. } => Vec::new(),
        }
    })
}

/// Layers that a group's volumes are built on.
struct GroupBase<'a> {
    group: &'a VolumeGroup,
    /// Physical and logical volumes by name; `None` where data offsets contradict.
    areas: BTreeMap<DiskText, Option<Below>>,
    on: Vec<LayerId>,
}

impl GroupBase<'_> {
    fn layer(&self, volume: &LogicalVolume) -> Layer {
        let extents = volume.segments.iter().map(|segment| segment.extents);
        let extents = extents.fold(0, u64::saturating_add);
        let length = extents.saturating_mul(self.group.extent_bytes);
        let mut segments: Vec<Segment> = Vec::new();
        let mut end = 0;
        for segment in &volume.segments {
            let start = self.extents(segment.start_extent);
            let range = start.zip(self.extents(segment.extents));
            let range = range.and_then(|(start, length)| ByteRange::new(start, length));
            // Of two that claim the same extents, which the text's problems tell, the first counts.
            if let Some(range) = range.filter(|range| range.start_bytes() >= end) {
                end = range.end_bytes();
                segments.push(Segment { range, mapping: self.mapping(&segment.kind) });
            }
        }
        let mapping = match segments.as_mut_slice() {
            [only] if only.range.start_bytes() == 0 => {
                std::mem::replace(&mut only.mapping, Mapping::Leaf)
            }
            _ => Mapping::Segments(segments),
        };
        let name = format!("{}/{}", self.group.name, volume.name);
        let stripe = mapping.stripes().first().copied();
        let kind = LayerKind::LvmLogical(Box::new(volume.clone()));
        let mut layer = Layer::new(kind, name, Known::yes(length, Source::OnDisk), mapping);
        if let Some(laid) = stripe {
            let (chunk, full) = (laid.stripe.chunk_bytes(), laid.stripe.full_bytes());
            layer.units.put_used(UnitKind::Chunk, chunk, Source::OnDisk, "LVM stripe size");
            let note = "stripe size x data stripes";
            layer.units.put_used(UnitKind::FullStripe, full, Source::Derived, note);
        }
        layer
    }

    fn extents(&self, count: u64) -> Option<u64> {
        count.checked_mul(self.group.extent_bytes)
    }

    fn below(&self, name: &DiskText, extent: u64) -> Option<Below> {
        let below = (*self.areas.get(name)?)?;
        let offset_bytes = below.offset_bytes.checked_add(self.extents(extent)?)?;
        Some(Below { layer: below.layer, offset_bytes })
    }

    fn members(&self, areas: &[Area]) -> Vec<Option<Below>> {
        areas.iter().map(|area| self.below(&area.on, area.extent)).collect()
    }

    fn unknown(&self, reason: String) -> Mapping {
        Mapping::Unknown { on: self.on.clone(), reason }
    }

    fn mapping(&self, kind: &SegmentKind) -> Mapping {
        match kind {
            SegmentKind::Striped { areas, .. } if areas.len() == 1 => {
                match self.members(areas).first().copied().flatten() {
                    Some(below) => Mapping::Linear(below),
                    None => self.unknown(format!("{} was not given", areas[0].on)),
                }
            }
            SegmentKind::Striped { stripe_bytes, areas } => {
                let count = u64::try_from(areas.len()).unwrap_or(0);
                let members = self.members(areas);
                raid_layout_names::striped(*stripe_bytes, count, Copies::Neighbors(1), members)
                    .unwrap_or_else(|reason| self.unknown(reason))
            }
            SegmentKind::Mirror { areas } => Mapping::Mirrored { members: self.members(areas) },
            SegmentKind::Raid { type_name, stripe_bytes, images, .. } => {
                let members = images.iter().map(|name| self.below(name, 0)).collect();
                raid_layout_names::raid(&type_name.to_string(), *stripe_bytes, members)
                    .unwrap_or_else(|reason| self.unknown(reason))
            }
            SegmentKind::Thin { pool } => self.thin(pool),
            SegmentKind::ThinPool { data, .. } => match self.below(data, 0) {
                Some(below) => Mapping::Linear(below),
                None => self.unknown(format!("{data} was not given")),
            },
            SegmentKind::Other { type_name } => Mapping::Opaque {
                on: self.on.clone(),
                reason: format!("a segment of type {type_name} has no fixed offset"),
            },
        }
    }

    fn thin(&self, pool: &DiskText) -> Mapping {
        let chunk = self.group.logical.iter().find(|volume| volume.name == *pool);
        let chunk = chunk.and_then(|volume| volume.segments.first()).and_then(|segment| {
            match &segment.kind {
                SegmentKind::ThinPool { chunk_bytes, .. } => Some(*chunk_bytes),
                _ => None,
            }
        });
        let reason = "where a thin volume's chunks lie stands in the pool's metadata".to_owned();
        match (self.below(pool, 0), chunk) {
            (Some(below), Some(chunk_bytes)) if chunk_bytes > 0 => {
                Mapping::Scattered { below, chunk_bytes, reason }
            }
            _ => self.unknown(format!("the thin pool {pool} was not given")),
        }
    }
}
