//! Partitions that start within a zone of a zoned drive.

use units::prefix::Exact;

use super::{Finding, Remedy, RuleInput, Severity, finding};
use crate::drive::KernelDrive;
use crate::id::LayerId;
use crate::layer::LayerKind;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        if let LayerKind::Drive(drive) = &layer.kind {
            found.extend(zones(case, id, drive));
        }
    }
    found
}

fn zones(case: &RuleInput<'_>, id: LayerId, drive: &KernelDrive) -> Vec<Finding> {
    let zoned = drive.zoned.value().is_some_and(|model| model != "none");
    let Some(&zone) = drive.zone_bytes.value().filter(|&&bytes| zoned && bytes > 0) else {
        return Vec::new();
    };
    let above = case.stack.above(id).iter().copied();
    let partitions = above.filter_map(|above| Some((above, case.partition_start(above)?)));
    (partitions.filter(|(_, start)| start % zone != 0))
        .map(|(above, start)| {
            let mut finding = finding("ST604", Severity::Warning, above).says(format!(
                "{} starts at {}, {} after the start of a zone of {}",
                case.stack.layer(above).name,
                case.place(above, start),
                Exact(start % zone),
                Exact(zone)
            ));
            // No move: such a drive is written at the end of what a zone holds, and nowhere else.
            if let Some(next) = start.checked_next_multiple_of(zone) {
                let place = case.place(above, next);
                finding.remedies.push(Remedy::tell(format!(
                    "back up, recreate it at {place}, where a zone starts, restore"
                )));
            }
            finding
        })
        .collect()
}
