//! Layers at which discards end.

use std::collections::BTreeMap;

use units::text::shell_word;

use super::remedy::Command;
use super::{Finding, Remedy, RuleInput, Severity, finding};
use crate::discard_path::{self, DiscardArrival, DiscardPath};
use crate::id::LayerId;
use crate::kernel::dm::{PoolDiscards, TableDiscards};
use crate::layer::{Layer, LayerKind, LayerType};

/// A layer's stop of discards.
#[derive(Default)]
struct Stop {
    why: String,
    /// The file systems whose discards end there.
    systems: Vec<LayerId>,
    /// Layers above that would stop them too, with the evidence.
    also: BTreeMap<LayerId, String>,
}

/// Layers that take no discards, or hand none down, while all below them take some. One finding
/// for each, however many file systems are on it.
pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found: BTreeMap<LayerId, Stop> = BTreeMap::new();
    for (id, _) in case.stack.iter() {
        let path = discard_path::of(case.stack, id);
        if let Some(DiscardPath { arrival: DiscardArrival::Stopped { by, why, also }, .. }) = path
            // A drive that takes none is as it is.
            && !matches!(case.stack.layer(by).kind, LayerKind::Drive(_))
        {
            let stop = found.entry(by).or_insert_with(|| Stop { why, ..Stop::default() });
            stop.systems.push(id);
            stop.also.extend(also);
        }
    }
    let findings = found.into_iter().map(|(by, Stop { why, systems, also })| {
        let layer = case.stack.layer(by);
        let wanting = systems.iter().map(|&id| case.stack.layer(id)).find(|it| it.discards);
        let severity = if wanting.is_some() { Severity::Warning } else { Severity::Info };
        let mut finding = finding("ST611", severity, by).says(format!("{}: {why}", layer.name));
        if let Some(system) = wanting {
            let point = system.mount_points.first().unwrap_or(&system.name);
            finding.evidence.push(format!("{point} is mounted with discard"));
        }
        for (above, why) in also {
            let name = &case.stack.layer(above).name;
            finding.evidence.push(format!("{name} would stop them too: {why}"));
        }
        finding.fixed_by([let_through(layer)])
    });
    findings.collect()
}

/// Ways to let discards through, where they harm nothing.
fn let_through(layer: &Layer) -> Remedy {
    let limits = layer.limits.as_ref();
    match limits.and_then(|limits| limits.table_discards.as_ref()) {
        Some(TableDiscards::Crypt { others, .. }) if layer.kind.kind() == LayerType::Luks => {
            let is_kept = limits.is_some_and(|limits| limits.keeps_flags);
            let name = shell_word(&layer.name);
            let command = Command::AllowDiscards { name, is_kept, others: others.clone() };
            let refresh =
                Remedy::when("if it may be seen which blocks of the drive are free", command);
            match is_kept {
                true => refresh,
                false => refresh.then(Remedy::tell(
                    "to keep it, add discard to the options of its line in /etc/crypttab",
                )),
            }
        }
        Some(TableDiscards::Pool(fate)) => match (fate, pool(&layer.name)) {
            (PoolDiscards::KeptInPool, Some(pool)) => {
                Remedy::when("if the drive should get the space too", Command::PassDiscards(pool))
            }
            _ => Remedy::tell(
                "deactivate the pool, then let it pass discards: lvchange --discards passdown",
            ),
        },
        _ => Remedy::tell(match &layer.kind {
            _ if discard_path::has_parity(layer) => {
                "leave it so: parity may become wrong where a member does not read zeros after a \
                 discard"
            }
            kind if kind.kind() == LayerType::Loop => {
                "to free blocks of its file, keep that on ext4, XFS or btrfs, which can punch holes"
            }
            _ => "nothing to do, unless the drive runs out of erased blocks",
        }),
    }
}

/// A pool as lvchange takes it: LVM calls the device of `group/pool` that discards reach
/// `group/pool-tpool`. `None` of a pool that LVM did not make.
fn pool(name: &str) -> Option<String> {
    let (group, volume) = name.split_once('/')?;
    let volume = volume.strip_suffix("-tpool").unwrap_or(volume);
    Some(shell_word(&format!("{group}/{volume}")))
}
