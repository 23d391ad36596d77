//! Facts that only the running kernel shows: limits that it made up from the layers below.

use units::Known;
use units::prefix::Exact;

use super::remedy::{Command, typed};
use super::{Finding, Remedy, RuleInput, Severity, finding};
use crate::id::LayerId;
use crate::kernel::DeviceLimits;
use crate::layer::{Layer, LayerKind};
use crate::mapping::Mapping;
use crate::unit::UnitKind;

/// More is read ahead only where optimal_io_size asks for it.
const READ_AHEAD_BYTES_MAX: u64 = 16 << 20;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        found.extend(failed_stacking(case, id));
        let Some(limits) = &layer.limits else { continue };
        found.extend(read_ahead(case, id, limits));
        found.extend(loop_sectors(case, id, limits));
        found.extend(lost_flushes(case, id, limits));
    }
    found
}

/// The kernel's alignment_offset of a layer.
fn offset(layer: &Layer) -> Option<i64> {
    let drive = match &layer.kind {
        LayerKind::Drive(drive) => drive.alignment_offset_bytes.value(),
        _ => None,
    };
    let stacked = layer.limits.as_ref().and_then(|limits| limits.alignment_offset_bytes.value());
    drive.or(stacked).copied()
}

/// The lowest layer of which the kernel says -1, with the members that are to blame: those off the
/// granule, or else those whose limits do not go into each other.
fn failed_stacking(case: &RuleInput<'_>, id: LayerId) -> Option<Finding> {
    let layer = case.stack.layer(id);
    let failed = |id: &LayerId| offset(case.stack.layer(*id)) == Some(-1);
    if !failed(&id) {
        return None;
    }
    let under = case.stack.under(id);
    if under.iter().any(|below| *below != id && failed(below)) {
        return None;
    }
    let mut finding = finding("ST601", Severity::Warning, id)
        .says(format!("alignment_offset of {} is -1", layer.name));
    let devices: Vec<LayerId> = (under.iter().copied())
        .filter(|&below| below != id && case.stack.layer(below).device.is_some())
        .collect();
    let off: Vec<String> = (devices.iter())
        .filter_map(|&below| {
            let miss = case.judgment(below).granule.as_ref()?;
            let name = &case.stack.layer(below).name;
            Some(match miss.offset_bytes {
                Some(bytes) => format!("{name}, {} off the granule", Exact(bytes)),
                None => format!("{name}, off the granule by several amounts"),
            })
        })
        .collect();
    if off.is_empty() {
        finding.evidence.push(unlike(case, &devices));
    } else {
        finding.evidence.push(format!("misaligned members: {}", off.join("; ")));
    }
    if let LayerKind::Drive(drive) = &layer.kind
        && !drive.slaves.is_empty()
    {
        let names = drive.slaves.iter().map(|name| units::text::escape(name.as_bytes()));
        let names: Vec<String> = names.map(|name| format!("/dev/{name}")).collect();
        finding.evidence.push(format!("below it: {}", names.join(", ")));
    }
    Some(finding.fixed_by([Remedy::tell("see the members above: their own verdicts are valid")]))
}

/// In what the members' limits differ.
fn unlike(case: &RuleInput<'_>, devices: &[LayerId]) -> String {
    let mut said: Vec<String> = devices
        .iter()
        .filter_map(|&id| {
            let layer = case.stack.layer(id);
            let limits = layer.limits.as_ref()?;
            let bytes = |known: &Known<u64>| known.value().map_or("?".to_owned(), u64::to_string);
            Some(format!(
                "{}: physical {}, minimum {}, optimal {}",
                layer.name,
                bytes(&limits.physical_bytes),
                bytes(&limits.minimum_io_bytes),
                bytes(&limits.optimal_io_bytes)
            ))
        })
        .collect();
    said.truncate(8);
    if said.is_empty() {
        return "the kernel does not show which member".to_owned();
    }
    format!(
        "no member is off the granule, so their sizes do not go into each other: {}",
        said.join("; ")
    )
}

/// A long read-ahead that follows a size that a drive reports and that cannot be right. A large
/// array has a long one for good reasons.
fn read_ahead(case: &RuleInput<'_>, id: LayerId, limits: &DeviceLimits) -> Option<Finding> {
    let ahead = *limits.read_ahead_bytes.value()?;
    let optimal = limits.optimal_io_bytes.value().copied().unwrap_or(0);
    let absurd = case.stack.under(id).into_iter().any(|below| {
        matches!(&case.stack.layer(below).kind, LayerKind::Drive(drive)
            if drive.absurd_optimal().is_some()
                && drive.optimal_io_bytes.value() == Some(&optimal))
    });
    if ahead <= READ_AHEAD_BYTES_MAX || ahead < optimal || !absurd {
        return None;
    }
    let finding = finding("ST701", Severity::Warning, id).says(format!(
        "read_ahead_kb is {}; optimal_io_size is {}",
        ahead.div_euclid(1024),
        Exact(optimal)
    ));
    let device = typed(case.stack.layer(id));
    Some(finding.fixed_by([Remedy::command(Command::ReadAhead(device))]))
}

fn loop_sectors(case: &RuleInput<'_>, id: LayerId, limits: &DeviceLimits) -> Option<Finding> {
    let layer = case.stack.layer(id);
    let is_loop = layer.device.as_ref().is_some_and(|name| name.starts_with("loop"));
    // What is never written is read through the page cache all the same.
    let is_read_only = limits.read_only.value() == Some(&true);
    if !is_loop || is_read_only || matches!(layer.mapping, Mapping::Leaf) {
        return None;
    }
    let own = *limits.logical_bytes.value()?;
    let below = (case.stack.under(id).into_iter())
        .filter(|&below| below != id)
        .filter_map(|below| case.stack.layer(below).units.used_bytes(UnitKind::LogicalSector))
        .max()?;
    if own >= below {
        return None;
    }
    let finding = finding("ST702", Severity::Warning, id).says(format!(
        "{} offers {own}-byte sectors; its file is on {below}-byte sectors",
        case.stack.layer(id).name
    ));
    Some(finding.fixed_by([Remedy::recreate_noted(
        format!("losetup --sector-size {below} --direct-io=on"),
        "a table or file system made for smaller sectors is not readable through it",
    )]))
}

fn lost_flushes(case: &RuleInput<'_>, id: LayerId, limits: &DeviceLimits) -> Option<Finding> {
    // What is never written needs no flush.
    let is_written = limits.read_only.value() != Some(&true);
    if limits.write_back.value() != Some(&false) || !is_written {
        return None;
    }
    let volatile = case.stack.under(id).into_iter().find(|&below| {
        let limits = case.stack.layer(below).limits.as_ref();
        below != id && limits.is_some_and(|limits| limits.write_back.value() == Some(&true))
    })?;
    let finding = finding("ST703", Severity::Warning, id).says(format!(
        "queue/write_cache says `write through` here and `write back` on {}",
        case.stack.layer(volatile).name
    ));
    let device = case.stack.layer(id).device.as_ref();
    Some(finding.fixed_by(device.map(|name| {
        Remedy::when(
            "unless the drive's cache is protected against power loss",
            Command::WriteBack(name.clone()),
        )
    })))
}
