//! Layers at the bottom that no flush can pass or that cannot be seen.

use crate::evidence::{Evidence, SyncLayerKind};
use crate::grade::Grade;
use crate::reason::Reason;

/// Memory at the bottom: power takes it all.
pub(crate) fn memory(evidence: &Evidence) -> Vec<Reason> {
    let of = |layer: &super::super::PathLayer| match &layer.kind {
        SyncLayerKind::Memory(what) => Some((layer.name.clone(), what.clone())),
        _ => None,
    };
    let one = |(name, what): (String, String)| {
        let named = if name == what { name } else { format!("{name} ({what})") };
        let above = if evidence.layers.len() > 1 { ", the lowest layer," } else { "" };
        Reason::against("in-memory", Grade::NotDurable)
            .seen(
                format!("{named}{above} is memory, so a power failure loses everything"),
                "the kernel",
            )
            .changes("keep the files on a drive")
    };
    evidence.bottoms().filter_map(of).map(one).collect()
}

/// A layer that hides what is below.
pub(crate) fn opaque(evidence: &Evidence) -> Vec<Reason> {
    let of = |layer: &super::super::PathLayer| match &layer.kind {
        SyncLayerKind::Opaque { kind, reason, .. } => Some((kind.clone(), reason.clone())),
        _ => None,
    };
    let one = |(kind, reason): (String, String)| {
        let change = match kind.as_str() {
            "overlay" => {
                "run straddle fsync on its upper directory, where that is seen: findmnt -t overlay"
            }
            "zd" => "ask ZFS what it does with syncs of that volume: zfs get sync",
            word if word.starts_with("fuse") || word == "ublkb" => {
                "run straddle fsync on the path that the program behind it writes to"
            }
            _ => "run straddle fsync on the machine that has the drives",
        };
        let seen = match reason.as_str() {
            "" => format!("opaque layer ({kind}): no flush seen below it, unproven"),
            why => format!("{kind} hides what is below it: {why}"),
        };
        Reason::open("opaque-layer", Grade::Opaque).seen(seen, "the kernel").changes(change)
    };
    evidence.bottoms().filter_map(of).map(one).collect()
}

/// Returns reasons from layers that could not be followed down.
pub(crate) fn lost(evidence: &Evidence) -> Vec<Reason> {
    let of = |layer: &super::super::PathLayer| match &layer.kind {
        SyncLayerKind::Lost(reason) => Some(
            Reason::open("lost", Grade::Unproven)
                .seen(format!("what lies under {} is not known: {reason}", layer.name), "straddle")
                .changes(
                    "run straddle fsync where that is seen: as root, in the mount namespace that \
                     has it",
                ),
        ),
        _ => None,
    };
    evidence.bottoms().filter_map(of).collect()
}
