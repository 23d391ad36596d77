//! The graph of a group's volumes: names resolved, claims counted, loops cut.
//!
//! Afterwards every name in a segment exists, no two segments claim the same extents of a logical
//! volume, and following names ends after at most [`DEPTH_MAX`] volumes. So whoever walks the group
//! visits each extent once, whatever the disk says. What had to be cut becomes a kind without
//! names.

use std::collections::{BTreeMap, BTreeSet};

use units::DiskText;

use super::notes::{Notes, Position};
use super::{SegmentKind, VolumeGroup};
use crate::ProblemKind;

/// LVM stacks less than ten: thin, pool, data, cache, RAID, integrity, linear.
const DEPTH_MAX: usize = 32;

/// A volume of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum GroupVolume {
    Physical(usize),
    Logical(usize),
}

/// A segment: the logical volume's number in the group, and its own in the volume.
type Place = (usize, usize);

/// Extents of a volume that a segment lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SegmentExtents {
    on: GroupVolume,
    start: u64,
    /// Behind the last; `u64::MAX` for a whole volume.
    end: u64,
    by: Place,
}

/// A name in a segment: a claim, or a volume that others may name as well (a thin pool).
enum SegmentName<'a> {
    Area { on: &'a DiskText, start: u64, length: u64 },
    Whole(&'a DiskText),
    Shared(&'a DiskText),
}

/// Cuts what does not hold; `places[n]` is where logical volume `n` stands in the text.
pub(super) fn settle(group: &mut VolumeGroup, places: &[Position], notes: &mut Notes<'_>) {
    let mut graph = Graph::new(group);
    graph.resolve(group, places, notes);
    graph.check_claims(group, places, notes);
    graph.check_depth(group, places, notes);
    for (volume, segment) in graph.cut {
        let kind = &mut group.logical[volume].segments[segment].kind;
        *kind = SegmentKind::Other { type_name: type_name(kind) };
    }
}

struct Graph {
    physical: BTreeMap<Vec<u8>, usize>,
    logical: BTreeMap<Vec<u8>, usize>,
    claims: Vec<SegmentExtents>,
    /// Each logical volume's length in extents.
    lengths: Vec<u64>,
    /// For each logical volume the logical volumes below it, and by which of its segments.
    below: Vec<Vec<(usize, usize)>>,
    cut: BTreeSet<Place>,
}

impl Graph {
    fn new(group: &VolumeGroup) -> Graph {
        let numbered = |names: Vec<&DiskText>| {
            names.into_iter().enumerate().map(|(at, name)| (name.raw().to_vec(), at)).collect()
        };
        Graph {
            physical: numbered(group.physical.iter().map(|member| &member.name).collect()),
            logical: numbered(group.logical.iter().map(|volume| &volume.name).collect()),
            claims: Vec::new(),
            lengths: group.logical.iter().map(length).collect(),
            below: vec![Vec::new(); group.logical.len()],
            cut: BTreeSet::new(),
        }
    }

    /// Turns names into claims; cuts segments that name what is not there or lies behind its end.
    fn resolve(&mut self, group: &VolumeGroup, places: &[Position], notes: &mut Notes<'_>) {
        for (at, volume) in group.logical.iter().enumerate() {
            for (number, segment) in volume.segments.iter().enumerate() {
                for named in named(&segment.kind, segment.extents) {
                    if let Err((kind, detail)) = self.claim(group, (at, number), &named) {
                        notes.note(kind, places[at], format!("{}: {detail}", volume.name));
                        self.cut.insert((at, number));
                        break;
                    }
                }
            }
        }
    }

    fn claim(
        &mut self,
        group: &VolumeGroup,
        by: Place,
        named: &SegmentName<'_>,
    ) -> Result<(), (ProblemKind, String)> {
        let (name, start, length) = match named {
            SegmentName::Area { on, start, length } => (*on, *start, Some(*length)),
            SegmentName::Whole(name) | SegmentName::Shared(name) => (*name, 0, None),
        };
        // Only areas may be on a physical volume, and there that name comes first.
        let physical = length.and_then(|_| self.physical.get(name.raw()));
        let on = match (physical, self.logical.get(name.raw())) {
            (Some(&at), _) => GroupVolume::Physical(at),
            (None, Some(&at)) => GroupVolume::Logical(at),
            (None, None) => {
                return Err((ProblemKind::Field, format!("it lies on {name}, which is not there")));
            }
        };
        let there = match on {
            GroupVolume::Physical(at) => group.physical[at].extents,
            GroupVolume::Logical(at) => self.lengths[at],
        };
        // Both are below 2^32.
        let end = length.map_or(u64::MAX, |length| start + length);
        if length.is_some() && end > there {
            let detail = format!("extents {start} to {end} of {name}, which has {there}");
            return Err((ProblemKind::Outside, detail));
        }
        if let GroupVolume::Logical(at) = on {
            self.below[by.0].push((by.1, at));
        }
        if !matches!(named, SegmentName::Shared(_)) {
            self.claims.push(SegmentExtents { on, start, end, by });
        }
        Ok(())
    }

    /// Notes extents that are claimed twice; on a logical volume the later claim is cut.
    fn check_claims(&mut self, group: &VolumeGroup, places: &[Position], notes: &mut Notes<'_>) {
        self.claims.retain(|claim| !self.cut.contains(&claim.by));
        self.claims.sort_unstable();
        let mut reached: Option<SegmentExtents> = None;
        for &claim in &self.claims {
            let Some(before) = reached.filter(|before| before.on == claim.on) else {
                reached = Some(claim);
                continue;
            };
            if claim.start < before.end && claim.start < claim.end {
                let name = |place: Place| &group.logical[place.0].name;
                let (one, two, start) = (name(before.by), name(claim.by), claim.start);
                let on = match claim.on {
                    GroupVolume::Physical(at) => &group.physical[at].name,
                    GroupVolume::Logical(at) => &group.logical[at].name,
                };
                let detail = format!("{one} and {two} both lie on extent {start} of {on}");
                notes.note(ProblemKind::Overlap, places[claim.by.0], detail);
                if matches!(claim.on, GroupVolume::Logical(_)) {
                    self.cut.insert(claim.by);
                }
            }
            if claim.end > before.end {
                reached = Some(claim);
            }
        }
    }

    /// Cuts segments that lead back to their own volume, and those that lead too deep: a walk,
    /// depth first, with a stack of its own.
    fn check_depth(&mut self, group: &VolumeGroup, places: &[Position], notes: &mut Notes<'_>) {
        let mut state = vec![Visit::Not; self.below.len()];
        for first in 0..self.below.len() {
            let mut path: Vec<(usize, usize, usize)> = Vec::new();
            if state[first] == Visit::Not {
                state[first] = Visit::Open;
                path.push((first, 0, 1));
            }
            // Volume, the number of its next edge, and its height as far as known.
            while let Some((volume, edge, height)) = path.pop() {
                let Some(&(segment, below)) = self.below[volume].get(edge) else {
                    state[volume] = Visit::Done { height };
                    continue;
                };
                let name = &group.logical[volume].name;
                let (wrong, height) = match state[below] {
                    _ if self.cut.contains(&(volume, segment)) => (None, height),
                    Visit::Not => {
                        // The edge is looked at again when the height below is known.
                        path.push((volume, edge, height));
                        path.push((below, 0, 1));
                        state[below] = Visit::Open;
                        continue;
                    }
                    Visit::Open => (Some("lies on itself"), height),
                    Visit::Done { height: under } if under >= DEPTH_MAX => {
                        (Some("lies on too many volumes"), height)
                    }
                    Visit::Done { height: under } => (None, height.max(under + 1)),
                };
                if let Some(wrong) = wrong {
                    let detail = format!("{name} {wrong}, by way of {}", group.logical[below].name);
                    notes.note(ProblemKind::Chain, places[volume], detail);
                    self.cut.insert((volume, segment));
                }
                path.push((volume, edge + 1, height));
            }
        }
    }
}

/// The state of the walk at a volume.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Not,
    Open,
    Done { height: usize },
}

/// Returns what a segment of `kind` and `extents` names.
fn named(kind: &SegmentKind, extents: u64) -> Vec<SegmentName<'_>> {
    match kind {
        SegmentKind::Striped { areas, .. } => {
            let count = u64::try_from(areas.len()).unwrap_or(u64::MAX);
            let length = extents.checked_div(count).unwrap_or(extents);
            areas
                .iter()
                .map(|area| SegmentName::Area { on: &area.on, start: area.extent, length })
                .collect()
        }
        SegmentKind::Mirror { areas } => areas
            .iter()
            .map(|area| SegmentName::Area { on: &area.on, start: area.extent, length: extents })
            .collect(),
        SegmentKind::Raid { images, metadata, .. } => {
            images.iter().chain(metadata).map(SegmentName::Whole).collect()
        }
        SegmentKind::Thin { pool } => vec![SegmentName::Shared(pool)],
        SegmentKind::ThinPool { metadata, data, .. } => {
            vec![SegmentName::Whole(metadata), SegmentName::Whole(data)]
        }
        SegmentKind::Other { .. } => Vec::new(),
    }
}

fn length(volume: &super::LogicalVolume) -> u64 {
    let ends = volume.segments.iter().map(|segment| segment.start_extent + segment.extents);
    ends.max().unwrap_or(0)
}

fn type_name(kind: &SegmentKind) -> DiskText {
    match kind {
        SegmentKind::Striped { .. } => "striped".into(),
        SegmentKind::Mirror { .. } => "mirror".into(),
        SegmentKind::Thin { .. } => "thin".into(),
        SegmentKind::ThinPool { .. } => "thin-pool".into(),
        SegmentKind::Raid { type_name, .. } | SegmentKind::Other { type_name } => type_name.clone(),
    }
}
