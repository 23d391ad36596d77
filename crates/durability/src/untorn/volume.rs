//! Layers between a file system and its drives: none of them may cut a page in two.

use std::collections::BTreeSet;

use stack::{Layer, LayerKind, Mapping};
use units::Known;
use units::prefix::Exact;

use super::page_layer::PageFate;

/// Targets of device-mapper that pass each write on in one piece, apart from the cuts that their
/// mapping shows. Source: Linux `drivers/md/dm-{linear,crypt,stripe,raid}.c`.
const PASSING: [&str; 4] = ["linear", "crypt", "striped", "raid"];

/// Mirrors of md pass no write across a multiple of this. Source: Linux `drivers/md/raid1.h`,
/// `BARRIER_UNIT_SECTOR_SIZE`.
const MIRROR_BYTES: u64 = 64 << 20;

/// Returns whether a page crosses a boundary, of those every `distance_bytes` from `origin_bytes`
/// on, when pages start `shift` past the multiples of a page.
pub(super) fn crosses(page: u64, shift: u64, distance_bytes: u64, origin_bytes: u64) -> bool {
    !distance_bytes.is_multiple_of(page) || shift % page != origin_bytes % page
}

/// Fate of pages in `layer`, where they start `shifts` past the multiples of a page.
pub(super) fn fate(layer: &Layer, page: u64, shifts: &BTreeSet<u64>) -> (PageFate, String) {
    let passes = match &layer.kind {
        LayerKind::Partition(..)
        | LayerKind::KernelPartition
        | LayerKind::MdMember(_)
        | LayerKind::MdArray(_)
        | LayerKind::LvmPhysical(_)
        | LayerKind::LvmLogical(_)
        | LayerKind::Luks(_) => true,
        LayerKind::Mapped(mapped) => PASSING.contains(&mapped.what.as_str()),
        _ => false,
    };
    if let Some(fault) = cut(&layer.mapping, page, shifts) {
        return fault;
    }
    if !passes {
        let what = match &layer.kind {
            LayerKind::Mapped(mapped) if !mapped.what.is_empty() => format!("{} ", mapped.what),
            _ => String::new(),
        };
        return (PageFate::Unknown, format!("{what}does not promise whole writes"));
    }
    match layer.limits.as_ref().map(|limits| &limits.command_bytes) {
        Some(Known::Yes(fact)) if fact.value < page => {
            let most = Exact(fact.value);
            (PageFate::Torn, format!("splits writes above {most} (queue/max_sectors_kb)"))
        }
        Some(Known::No(reason)) => {
            (PageFate::Unknown, format!("its longest write is not known: {reason}"))
        }
        _ => (PageFate::Whole, "passes each page on in one piece".to_owned()),
    }
}

/// Why `mapping` does not keep pages in one piece.
fn cut(mapping: &Mapping, page: u64, shifts: &BTreeSet<u64>) -> Option<(PageFate, String)> {
    let is_cut = |distance| shifts.iter().any(|&shift| crosses(page, shift, distance, 0));
    match mapping {
        Mapping::Leaf | Mapping::Zeros | Mapping::Linear(_) => None,
        Mapping::Mirrored { .. } => is_cut(MIRROR_BYTES).then(|| {
            let reason = "pages start off its boundaries of 64 MiB, across which it splits writes";
            (PageFate::Torn, reason.to_owned())
        }),
        Mapping::Striped { stripe, members, .. } => {
            let chunk = stripe.chunk_bytes();
            (members.len() > 1 && is_cut(chunk)).then(|| {
                (PageFate::Torn, format!("a page may cross its chunks of {}", Exact(chunk)))
            })
        }
        Mapping::Parity { .. } => {
            Some((PageFate::Torn, "parity arrays write in pieces of 4 KiB".to_owned()))
        }
        Mapping::Segments(segments) => segments.iter().find_map(|segment| {
            let start = segment.range.start_bytes();
            let is_inside = |&shift: &u64| start > 0 && shift % page != start % page;
            if shifts.iter().any(is_inside) {
                let at = Exact(start);
                return Some((PageFate::Torn, format!("its extents cut a page at {at}")));
            }
            let inner = |shift: &u64| (shift % page + page - start % page) % page;
            cut(&segment.mapping, page, &shifts.iter().map(inner).collect())
        }),
        Mapping::Scattered { reason, .. }
        | Mapping::Opaque { reason, .. }
        | Mapping::Unknown { reason, .. } => Some((PageFate::Unknown, reason.clone())),
        Mapping::Image { .. } => {
            Some((PageFate::Unknown, "an image format keeps no write whole".to_owned()))
        }
    }
}
