//! Sending of flushes, by the counts of devices.

use super::mount_options;
use crate::evidence::{Evidence, PathLayer, SyncLayerKind, median};
use crate::flush_reach::{FlushReach, reach};
use crate::grade::Grade;
use crate::reason::POWER_CUT;
use crate::reason::{Reason, time_of};

const COUNTERS: &str = "flushes of /sys/block/*/stat";

/// Returns reasons from the layers' counts while syncs were made.
pub(crate) fn counted(evidence: &Evidence) -> Vec<Reason> {
    if let Some((layer, writes_per_sync)) = missed(evidence) {
        return vec![missing(evidence, layer, writes_per_sync)];
    }
    let mut reasons = Vec::new();
    for (place, layer) in evidence.layers.iter().enumerate() {
        if layer.write_back.value() != Some(&true) {
            continue;
        }
        let name = &layer.name;
        let drive = matches!(layer.kind, SyncLayerKind::Drive(_));
        match outcome(layer) {
            Some(FlushReach::Reached { per_sync }) => {
                reasons.push(Reason::speaks_for("flushed").seen(
                    format!("{name} completes {per_sync:.1} flushes for each sync"),
                    COUNTERS,
                ))
            }
            Some(FlushReach::Unclear) => reasons.push(
                Reason::open("others-flush", Grade::Unproven)
                    .seen(
                        format!(
                            "other programs flush {name} so often that its counter cannot show \
                             flushes of these syncs"
                        ),
                        COUNTERS,
                    )
                    .changes("look again when the machine is quiet"),
            ),
            Some(FlushReach::TooFew) => reasons.push(
                Reason::open("not-counted", Grade::Unproven)
                    .seen(format!("too few syncs to tell by the flush counter of {name}"), COUNTERS)
                    .changes("look for longer, with a larger --seconds"),
            ),
            // That no sync was made is a reason of its own.
            _ if evidence.untried.is_some() && layer.counted.is_ok() => {}
            // Only what is at the bottom must count: the kernel counts none of bio-based ones.
            _ if drive => {
                let why = layer.counted.as_ref().err().map_or("no sync was made", String::as_str);
                let above = evidence.layers.iter().any(|above| counts_for(above, place));
                let (code, at_best) = match above {
                    true => ("counted-above", Grade::Consistent),
                    false => ("not-counted", Grade::Unproven),
                };
                let reason = Reason::open(code, at_best)
                    .seen(format!("no flush of {name} could be counted: {why}"), COUNTERS);
                reasons.push(if above { reason } else { reason.changes(POWER_CUT) });
            }
            _ => {}
        }
    }
    reasons
}

/// The first layer that flushes do not reach, with the writes that came for each sync.
fn missed(evidence: &Evidence) -> Option<(&PathLayer, f64)> {
    evidence.layers.iter().find_map(|layer| match outcome(layer) {
        Some(FlushReach::Missed { writes_per_sync }) => Some((layer, writes_per_sync)),
        _ => None,
    })
}

/// Flushes on their way to the drive at `place`, as far as they were seen. What a sync took says
/// something of a drive only where its flushes arrived there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Each sync flushed the drive, and no layer above leaves flushes out.
    Seen,
    /// None is sent there, since its cache is declared write through.
    Needless,
    /// They were seen not to arrive, or it could not be seen.
    Unseen,
}

/// Returns whether a layer was told, or seen, to leave flushes out.
pub(super) fn leaves_out(evidence: &Evidence) -> bool {
    missed(evidence).is_some() || !mount_options::barriers(evidence).is_empty()
}

/// Returns the evidence that flushes arrive at the drive at `place`.
pub(super) fn arrival(evidence: &Evidence, place: usize) -> Arrival {
    let Some(drive) = evidence.layers.get(place) else { return Arrival::Unseen };
    if leaves_out(evidence) {
        return Arrival::Unseen;
    }
    let counted = matches!(outcome(drive), Some(FlushReach::Reached { .. }))
        || evidence.layers.iter().any(|above| counts_for(above, place));
    match drive.write_back.value() {
        Some(false) => Arrival::Needless,
        _ if counted => Arrival::Seen,
        _ => Arrival::Unseen,
    }
}

/// Returns whether `above` lies on the layer at `place` and counted flushes: it hands them on as
/// requests, as the paths of a drive get them.
fn counts_for(above: &PathLayer, place: usize) -> bool {
    above.below.contains(&place) && matches!(outcome(above), Some(FlushReach::Reached { .. }))
}

/// Returns the fate of flushes at a layer that the kernel sends them to.
fn outcome(layer: &PathLayer) -> Option<FlushReach> {
    (layer.write_back.value() == Some(&true)).then_some(())?;
    reach(layer.counted.as_ref().ok()?)
}

fn missing(evidence: &Evidence, layer: &PathLayer, writes_per_sync: f64) -> Reason {
    let name = &layer.name;
    if writes_per_sync == 0.0 {
        return Reason::against("nothing-written", Grade::NotDurable)
            .seen(format!("syncs return, and nothing at all reaches {name}"), COUNTERS)
            .changes("find what suppresses them: seccomp filters, libeatmydata");
    }
    let empty = median(&evidence.times.empty);
    let also = empty.map_or(String::new(), |ns| format!("; an empty fsync takes {}", time_of(ns)));
    Reason::against("no-flush", Grade::NotDurable)
        .seen(format!("writes reach {name} and flushes do not{also}"), COUNTERS)
        .changes(format!("find which layer above {name} drops them: barrier=0, write_cache"))
}
