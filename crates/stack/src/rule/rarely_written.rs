//! Layers that are hardly ever written, so that their alignment costs nothing worth a warning.

use format::filesystem::FileSystem;
use format::table::{Partition, PartitionRole};
use format::{Problem, ProblemKind};

use super::RuleInput;
use super::top_layers::{is_extended, tops};
use crate::graph::Stack;
use crate::id::LayerId;
use crate::layer::LayerKind;

/// Why layer `id` is hardly ever written; `None` where it is written like any other.
pub(super) fn why(case: &RuleInput<'_>, id: LayerId) -> Option<String> {
    let layer = case.stack.layer(id);
    if let LayerKind::Partition(partition, _) = &layer.kind
        && !matches!(partition.role, PartitionRole::Ordinary | PartitionRole::BsdSlice)
    {
        return Some("written a few times in its life".to_owned());
    }
    if is_extended(case.stack, id) {
        return Some("an extended partition, which holds no data".to_owned());
    }
    let is_helper = |&below: &LayerId| {
        partition(case, below).is_some_and(|part| part.role == PartitionRole::EfiSystem)
    };
    if layer.mapping.below().iter().any(is_helper) {
        return Some("on an EFI system partition, which is written a few times in its life".into());
    }
    read_only(case, id).or_else(|| {
        let iso = iso_around(case, id)?;
        Some(format!("part of the ISO image on {}", case.stack.layer(iso).name))
    })
}

/// The disk of whose ISO image a partition, or what is in it, is a part.
///
/// An ISO may remain after a disk was partitioned anew, so what holds a file system that others
/// write in place is never taken for a part of it.
pub(super) fn iso_around(case: &RuleInput<'_>, id: LayerId) -> Option<LayerId> {
    let below = case.stack.layer(id).mapping.below();
    let holder = below.iter().copied().find(|&below| partition(case, below).is_some());
    let own = partition(case, id).map(|_| id).or(holder)?;
    let end = partition(case, own)?.range.end_bytes();
    let disk = *case.stack.layer(own).mapping.below().first()?;
    let image = iso_on(case, disk)?;
    let tops = tops(case, own);
    let is_all = systems(case, &tops).any(|system| system.kind == "iso9660");
    let is_bare = tops == [own];
    // xorriso lists the padding after the image as a partition: "Gap1" (libisofs, system_area.c).
    let name = partition(case, own)?.name.as_ref();
    let is_gap = is_bare && name.is_some_and(|name| name.raw().starts_with(b"Gap"));
    let is_within = is_all || is_gap || image.size_bytes.is_some_and(|size| end <= size);
    let is_made_with_it = |&top: &LayerId| {
        systems(case, &[top])
            .any(|system| system.is_read_only || matches!(system.kind, "hfs" | "hfsplus"))
    };
    (is_within && (is_bare || tops.iter().all(is_made_with_it))).then_some(disk)
}

/// Returns whether a problem of the table on `disk` is that a bootable ISO has entries for itself
/// and for its parts, which cover each other by design.
pub(super) fn is_by_design(case: &RuleInput<'_>, disk: LayerId, problem: &Problem) -> bool {
    let is_it = |&&part: &&LayerId| {
        partition(case, part).is_some_and(|part| part.entry_at_bytes == problem.at_bytes)
    };
    problem.kind == ProblemKind::Overlap
        && iso_on(case, disk).is_some()
        && case.stack.above(disk).iter().find(is_it).is_some_and(|&part| why(case, part).is_some())
}

/// Returns what is on a disk of which every part is made whole and never written in place: an ISO
/// image, a squashfs; `None` where anything else is on it.
#[must_use]
pub fn read_only_medium(stack: &Stack, disk: LayerId) -> Option<String> {
    let case = &RuleInput { stack, judgments: &[], told: None };
    if iso_on(case, disk).is_none() {
        return read_only(case, disk);
    }
    let is_part = |&top: &LayerId| {
        systems(case, &[top]).any(|system| system.is_read_only) || why(case, top).is_some()
    };
    tops(case, disk)
        .iter()
        .all(is_part)
        .then(|| "an ISO image is never written in place".to_owned())
}

/// Returns whether the disk is a bootable ISO whose entries cover each other, which no partitioner
/// writes.
#[must_use]
pub fn is_covered_iso(case: &RuleInput<'_>, disk: LayerId) -> bool {
    let mut problems = case.stack.layer(disk).problems.iter();
    problems.any(|problem| problem.kind == ProblemKind::Overlap) && iso_on(case, disk).is_some()
}

/// The ISO image that begins with `disk`.
pub(super) fn iso_on<'a>(case: &'a RuleInput<'_>, disk: LayerId) -> Option<&'a FileSystem> {
    systems(case, case.stack.above(disk)).find(|system| system.kind == "iso9660")
}

/// Returns where all that is on a layer is made whole and never written in place: what that is.
fn read_only(case: &RuleInput<'_>, id: LayerId) -> Option<String> {
    let tops = tops(case, id);
    let is_read_only = |&top: &LayerId| systems(case, &[top]).any(|system| system.is_read_only);
    let kind = systems(case, &tops).next()?.kind;
    tops.iter().all(is_read_only).then(|| format!("{kind} is never written in place"))
}

fn partition<'a>(case: &'a RuleInput<'_>, id: LayerId) -> Option<&'a Partition> {
    match &case.stack.layer(id).kind {
        LayerKind::Partition(partition, _) => Some(partition),
        _ => None,
    }
}

fn systems<'a>(
    case: &'a RuleInput<'_>,
    ids: &'a [LayerId],
) -> impl Iterator<Item = &'a FileSystem> {
    ids.iter().filter_map(|&id| match &case.stack.layer(id).kind {
        LayerKind::FileSystem(system) => Some(system.as_ref()),
        _ => None,
    })
}
