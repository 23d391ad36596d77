//! Declared caches, and drives' own reports of theirs.

use crate::evidence::{DriveWord, Evidence, PathLayer, Protection, SyncLayerKind};
use crate::grade::Grade;
use crate::reason::Reason;

const DECLARED: &str = "queue/write_cache";

/// Layers that are declared write through, so that the kernel drops flushes there.
pub(crate) fn write_through(evidence: &Evidence) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for (place, layer) in evidence.layers.iter().enumerate() {
        match (&layer.kind, layer.write_back.value()) {
            (SyncLayerKind::Drive(_), None) => reasons.push(undeclared(layer)),
            (SyncLayerKind::Drive(word), Some(false)) => reasons.push(of_drive(&layer.name, word)),
            (SyncLayerKind::Memory(_), _) | (_, Some(true) | None) => {}
            (_, Some(false)) => reasons.extend(of_mapped(evidence, place, layer)),
        }
    }
    reasons
}

/// A drive of which the kernel does not say whether it sends flushes there.
fn undeclared(layer: &PathLayer) -> Reason {
    let (name, why) = (&layer.name, layer.write_back.reason().unwrap_or("no answer"));
    Reason::open("cache-undeclared", Grade::Unproven)
        .seen(format!("whether flushes are sent to {name} is not known: {why}"), DECLARED)
        .changes(format!("cat /sys/block/{name}/queue/write_cache"))
}

/// A drive's own word against what is declared of it.
fn of_drive(name: &str, word: &DriveWord) -> Reason {
    let declared = format!("{name} is declared write through, so the kernel sends no flushes");
    match (word.volatile_cache.value(), word.protection) {
        (_, Protection::Good) => Reason::speaks_for("protected").seen(
            format!("{declared}; its power-loss protection passed its own test"),
            word.protection_source.clone(),
        ),
        // Drives with protection may call their cache volatile all the same.
        (Some(true), _) => Reason::against("write-through-lie", Grade::Suspect)
            .seen(
                format!(
                    "{declared}, but the drive reports a volatile cache and no working \
                     protection"
                ),
                "the drive",
            )
            .changes(format!("echo 'write back' > /sys/block/{name}/queue/write_cache")),
        (Some(false), _) => Reason::speaks_for("no-volatile-cache")
            .seen(format!("{declared}; the drive reports no volatile cache"), "the drive"),
        (None, _) => Reason::open("write-through", Grade::Unproven)
            .seen(format!("{declared}; no other source says that the cache is safe"), DECLARED)
            .changes(if word.is_virtual {
                "ask who runs the host how it caches this disk"
            } else {
                "compare with the drive's own data sheet"
            }),
    }
}

/// A device on others that drops flushes which those would want.
fn of_mapped(evidence: &Evidence, place: usize, layer: &PathLayer) -> Option<Reason> {
    let wants = |layer: &&&PathLayer| layer.write_back.value() == Some(&true);
    let under = evidence.under(place);
    let wants = under.iter().find(wants)?;
    let (name, below) = (&layer.name, &wants.name);
    // A partition has no queue of its own, and the kernel's own stacking never does this.
    Some(
        Reason::against("flush-dropped", Grade::NotDurable)
            .seen(
                format!("{name} is declared write through, so flushes never get to {below}"),
                DECLARED,
            )
            .changes(format!("echo 'write back' > /sys/block/{name}/queue/write_cache")),
    )
}

/// Returns reasons from drives' reports of their protection and wear.
pub(crate) fn drives(evidence: &Evidence) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for layer in &evidence.layers {
        let SyncLayerKind::Drive(word) = &layer.kind else { continue };
        reasons.extend(protection(layer, word));
        reasons.extend(wear(layer, word));
        reasons.extend(word.warnings.iter().map(|warning| {
            Reason::open("drive-warns", Grade::Consistent)
                .seen(format!("{} warns that {}", layer.name, warning.says), warning.source)
                .changes(warning.change)
        }));
        if word.is_virtual {
            reasons.push(
                Reason::open("virtual-drive", Grade::Consistent)
                    .seen(
                        format!(
                            "{} is a virtual disk: what its host does is not visible",
                            layer.name
                        ),
                        "sysfs",
                    )
                    .changes("run straddle on the host too, on the storage that holds this disk"),
            );
        }
    }
    reasons
}

fn protection(layer: &PathLayer, word: &DriveWord) -> Option<Reason> {
    let (name, source) = (&layer.name, word.protection_source.clone());
    match word.protection {
        Protection::Failed => {
            // Without flushes all rests on the protection; with them only what is in flight.
            let flushed = layer.write_back.value() == Some(&true);
            let at_best = if flushed { Grade::Suspect } else { Grade::NotDurable };
            Some(
                Reason::against("protection-failed", at_best)
                    .seen(format!("{name} says that its power-loss protection failed"), source)
                    .changes("replace the drive"),
            )
        }
        Protection::Good if layer.write_back.value() == Some(&true) => {
            Some(Reason::speaks_for("protected").seen(
                format!("{name} says that its power-loss protection passed its own test"),
                source,
            ))
        }
        _ => None,
    }
}

fn wear(layer: &PathLayer, word: &DriveWord) -> Option<Reason> {
    let used = word.life_used_percent.value().filter(|used| **used >= 100)?;
    let name = &layer.name;
    Some(
        Reason::open("worn-out", Grade::Consistent)
            .seen(
                format!("{name} has used {used} % of the life that its maker gives it"),
                "the drive",
            )
            .changes("plan to replace the drive"),
    )
}
