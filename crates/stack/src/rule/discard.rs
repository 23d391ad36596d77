//! Partitions that start within a discard unit, and layers at which discards end.

use std::collections::BTreeMap;

use units::Unit;
use units::prefix::Exact;
use units::text::shell_word;

use super::remedy::Command;
use super::{Finding, Remedy, RuleInput, Severity, finding};
use crate::discard_path::{self, DiscardArrival, DiscardPath};
use crate::id::LayerId;
use crate::kernel::dm::{PoolDiscards, TableDiscards};
use crate::layer::{Layer, LayerKind, LayerType};
use crate::mapping::Mapping;
use crate::unit::UnitKind;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        let unit = match (&layer.kind, &layer.mapping) {
            (LayerKind::Drive(drive), _) => drive.discard_unit(),
            // Chunks of a thin volume count from its start.
            (_, Mapping::Scattered { chunk_bytes, .. }) => Unit::new(*chunk_bytes),
            _ => None,
        };
        found.extend(unit.into_iter().flat_map(|unit| discards(case, id, unit)));
    }
    found.extend(stopped(case));
    found
}

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
fn stopped(case: &RuleInput<'_>) -> Vec<Finding> {
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

/// Partitions within a discard unit. Those off a granule have their own finding, and discards no
/// larger than a granule say nothing more.
fn discards(case: &RuleInput<'_>, id: LayerId, unit: Unit) -> Vec<Finding> {
    let granule = case.stack.layer(id).units.used_bytes(UnitKind::Granule).unwrap_or(0);
    if unit.length_bytes() <= granule || case.told.is_some_and(|told| told.granule.is_some()) {
        return Vec::new();
    }
    let starts =
        case.stack.above(id).iter().filter_map(|&above| match &case.stack.layer(above).kind {
            LayerKind::Partition(partition, _) => Some((above, partition.range.start_bytes())),
            _ => None,
        });
    starts
        .filter(|&(above, start)| !unit.aligns(start) && !case.misaligned(above))
        .map(|(above, start)| {
            let finding = finding("ST608", Severity::Info, above).says(format!(
                "{} starts at {}, {} after the start of a discard unit of {}",
                case.stack.layer(above).name,
                case.place(above, start),
                Exact(unit.misalignment(start)),
                Exact(unit.length_bytes())
            ));
            finding.fixed_by([Remedy::tell(format!(
                "nothing to do: it costs space at the ends, not speed; when it is recreated, \
                 start it at a multiple of {}",
                Exact(unit.length_bytes())
            ))])
        })
        .collect()
}
