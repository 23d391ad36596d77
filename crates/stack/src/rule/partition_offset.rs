//! File systems whose boot sector places their partition elsewhere.

use super::{Finding, Remedy, RuleInput, Severity, finding};
use crate::id::LayerId;
use crate::layer::LayerKind;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let systems = case.stack.iter().filter_map(|(id, layer)| match &layer.kind {
        LayerKind::FileSystem(system) => Some((id, system.partition_offset_bytes)),
        _ => None,
    });
    systems.filter_map(|(id, believed)| moved(case, id, believed)).collect()
}

/// A file system that believes that its partition is elsewhere was copied, or the table was
/// changed.
fn moved(case: &RuleInput<'_>, id: LayerId, believed: Option<u64>) -> Option<Finding> {
    let believed = believed?;
    let below = case.stack.layer(id).mapping.below();
    let [below] = below.as_slice() else { return None };
    let actual = case.partition_start(*below)?;
    if believed == actual {
        return None;
    }
    let finding = finding("ST605", Severity::Info, id).says(format!(
        "the boot sector places the partition at {}; the table at {}",
        case.place(id, believed),
        case.place(id, actual)
    ));
    Some(finding.fixed_by([Remedy::tell(
        "nothing to do for Linux; if Windows must boot from it: bootrec /fixboot, in its recovery \
         console",
    )]))
}
