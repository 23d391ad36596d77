//! A sector format that the drive itself calls faster than the one in use.

use units::prefix::Exact;

use super::{Finding, Remedy, RuleInput, Severity, finding};
use crate::drive::KernelDrive;
use crate::id::LayerId;
use crate::layer::LayerKind;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        if let LayerKind::Drive(drive) = &layer.kind {
            found.extend(better_format(id, drive));
        }
    }
    found
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
