//! Answers of a drive about itself: known not to be so, impossible, or better than how it is used.

use units::prefix::Exact;

use super::{Finding, Remedy, RuleInput, Severity, finding};
use crate::drive::KernelDrive;
use crate::drive::liar::Lie;
use crate::id::LayerId;
use crate::layer::LayerKind;
use crate::unit::UnitKind;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        if let LayerKind::Drive(drive) = &layer.kind {
            found.extend(known(id, drive));
            found.extend(impossible(id, drive));
            found.extend(better_format(id, drive));
            found.extend(discards(case, id, drive));
        }
    }
    found
}

/// A drive that says what is not so. An optimal size that means nothing has a rule of its own.
fn known(id: LayerId, drive: &KernelDrive) -> Option<Finding> {
    let told: Vec<String> = drive
        .lies()
        .filter(|liar| !matches!(liar.lie, Lie::Optimal(_)))
        .map(crate::drive::liar::Liar::sentence)
        .collect();
    if told.is_empty() {
        return None;
    }
    let mut finding = finding("ST607", Severity::Info, id);
    finding.evidence = told;
    Some(finding.fixed_by([Remedy::tell("give the true granule with --on: --on granule=16K")]))
}

fn impossible(id: LayerId, drive: &KernelDrive) -> Option<Finding> {
    if drive.said.problems.is_empty() {
        return None;
    }
    let mut finding = finding("ST610", Severity::Info, id);
    finding.evidence.clone_from(&drive.said.problems);
    Some(finding.fixed_by([Remedy::tell("look for newer firmware of the drive or of its bridge")]))
}

/// A format that the drive itself calls faster, for data of the same kind.
fn better_format(id: LayerId, drive: &KernelDrive) -> Option<Finding> {
    let said = drive.said.namespace.value()?;
    let used = said.format?;
    let better = said
        .formats
        .iter()
        .filter(|format| format.metadata_bytes == used.metadata_bytes)
        .filter(|format| format.data_bytes > used.data_bytes)
        .filter(|format| format.performance < used.performance)
        .min_by_key(|format| format.performance)?;
    let finding = finding("ST609", Severity::Info, id).says(format!(
        "format {} has blocks of {} and is called {}; the one in use has {} and is called {}",
        better.number,
        Exact(better.data_bytes),
        better.performance.word(),
        Exact(used.data_bytes),
        used.performance.word()
    ));
    Some(finding.fixed_by([Remedy::recreate_noted(
        format!("nvme format --lbaf={}", better.number),
        "measure first whether it gains anything",
    )]))
}

/// Partitions that start within a discard unit. What is not on a granule has its own finding, and
/// discards no larger than a granule say nothing more.
fn discards(case: &RuleInput<'_>, id: LayerId, drive: &KernelDrive) -> Vec<Finding> {
    let Some(unit) = drive.discard_unit() else { return Vec::new() };
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
