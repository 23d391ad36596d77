//! The part of the document.

use durability::{
    self as honesty, CountedWindow, Evidence, Grading, LayerCounts, POWER_CUT, PathLayer,
    Protection, SyncLayerKind, fewest_per_sync,
};
use report::fsync::{self, DriveWord, Honesty, LayerFlushes};
use units::Known;

use super::process_words;

/// Returns what was seen, and what follows.
pub(super) fn of(evidence: &Evidence, grading: &Grading) -> Honesty {
    let mut would_change: Vec<String> = Vec::new();
    let proof = (grading.grade <= honesty::Grade::Unproven).then(|| POWER_CUT.to_owned());
    let changes = grading.reasons.iter().filter_map(|reason| reason.change.clone());
    for change in changes.chain(proof) {
        if !would_change.contains(&change) {
            would_change.push(change);
        }
    }
    Honesty {
        grade: grading.grade,
        sentence: sentence(&grading.sentence),
        evidence: grading.reasons.iter().map(reason).collect(),
        // Without a full stop: most end with a command that is copied.
        would_change,
        layers: evidence.layers.iter().map(layer).collect(),
        drive: drive(evidence),
        process: evidence.process.as_ref().map(process_words::of),
    }
}

/// With its full stop. It begins with a name as often as not, so no capital is put.
fn sentence(text: &str) -> String {
    format!("{text}.")
}

fn reason(reason: &honesty::Reason) -> fsync::Evidence {
    fsync::Evidence {
        code: reason.code.to_owned(),
        direction: reason.direction,
        sentence: sentence(&reason.sentence),
        source: reason.source.clone(),
    }
}

fn layer(layer: &PathLayer) -> LayerFlushes {
    let counts = layer.counted.as_ref().ok().filter(|counts| !counts.overwrites.is_empty());
    let windows = |counts: &LayerCounts| -> Vec<CountedWindow> {
        counts.overwrites.iter().chain(&counts.appends).copied().collect()
    };
    let sum = |of: fn(&CountedWindow) -> u64| {
        counts.map(|counts| windows(counts).iter().map(of).fold(0, u64::saturating_add))
    };
    let write_cache = layer.write_back.value().map(|&write_back| match write_back {
        true => "write back".to_owned(),
        false => "write through".to_owned(),
    });
    LayerFlushes {
        name: layer.name.clone(),
        kind: kind(&layer.kind),
        flushes: sum(|window| window.flushes),
        writes: sum(|window| window.writes),
        syncs: sum(|window| window.syncs).unwrap_or(0),
        flushes_per_sync: counts.and_then(|counts| fewest_per_sync(&counts.overwrites)),
        append_flushes_per_sync: counts.and_then(|counts| fewest_per_sync(&counts.appends)),
        empty_flushes_per_sync: counts.and_then(|counts| fewest_per_sync(&counts.empty)),
        write_cache,
        forced_unit_access: layer.forced_unit_access.value().copied(),
    }
}

fn kind(kind: &SyncLayerKind) -> String {
    match kind {
        SyncLayerKind::FileSystem { .. } => "file system".to_owned(),
        SyncLayerKind::Memory(_) => "memory".to_owned(),
        SyncLayerKind::Opaque { .. } => "opaque".to_owned(),
        SyncLayerKind::File => "file".to_owned(),
        SyncLayerKind::Loop(Some(true)) => "loop, direct".to_owned(),
        SyncLayerKind::Loop(_) => "loop, through the page cache".to_owned(),
        SyncLayerKind::Partition => "partition".to_owned(),
        SyncLayerKind::Mapped(what) => what.clone(),
        SyncLayerKind::Drive(_) => "drive".to_owned(),
        SyncLayerKind::Lost(_) => "unknown".to_owned(),
    }
}

/// The drive that has the worst to tell.
fn drive(evidence: &Evidence) -> Option<DriveWord> {
    let words = evidence.layers.iter().filter_map(|layer| match &layer.kind {
        SyncLayerKind::Drive(word) => Some(word),
        _ => None,
    });
    let rank = |word: &honesty::DriveWord| {
        let protection = match word.protection {
            Protection::Failed => 2,
            Protection::Unknown => 1,
            Protection::Good => 0,
        };
        (protection, word.life_used_percent.value().copied())
    };
    let worst = words.max_by_key(|word| rank(word))?;
    Some(DriveWord {
        power_loss_protection: worst.protection,
        power_loss_source: worst.protection_source.clone(),
        life_used_percent: worst.life_used_percent.value().map(|&used| used.into()),
        life_source: match &worst.life_used_percent {
            Known::Yes(_) => "the drive's own estimate".to_owned(),
            Known::No(reason) => reason.clone(),
        },
    })
}
