//! Reports of drives and the kernel that cannot be right, or that need care.

use units::prefix::Exact;

use super::{Finding, Remedy, RuleInput, Severity, finding};
use crate::drive::KernelDrive;
use crate::id::LayerId;
use crate::layer::LayerKind;
use crate::mapping::Mapping;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        match &layer.kind {
            LayerKind::Drive(drive) => {
                found.extend(absurd(id, drive));
                found.extend(disagreeing(id, drive));
                found.extend(zones(case, id, drive));
            }
            LayerKind::FileSystem(system) => {
                found.extend(moved(case, id, system.partition_offset_bytes));
            }
            _ => {}
        }
    }
    found
}

fn absurd(id: LayerId, drive: &KernelDrive) -> Vec<Finding> {
    let of = |code, severity, file: &str, reason: Option<String>, remedy: &str| {
        let mut finding = finding(code, severity, id);
        finding.evidence.push(format!("{file}: {}", reason?));
        finding.remedies.push(Remedy::tell(remedy));
        Some(finding)
    };
    let physical = of(
        "ST603",
        Severity::Warning,
        "physical_block_size",
        drive.absurd_physical(),
        "give the true sector with --on 512e or --on 4Kn; start partitions at 1 MiB",
    );
    let optimal = of(
        "ST602",
        Severity::Info,
        "optimal_io_size",
        drive.absurd_optimal(),
        "ignore it: start partitions at multiples of 1 MiB (parted -a minimal), and give \
         cryptsetup --offset",
    );
    physical.into_iter().chain(optimal).collect()
}

fn disagreeing(id: LayerId, drive: &KernelDrive) -> Option<Finding> {
    if drive.disagreements.is_empty() {
        return None;
    }
    let mut finding = finding("ST606", Severity::Warning, id);
    finding.evidence.clone_from(&drive.disagreements);
    finding.remedies.push(Remedy::tell("give the true disk with --on 512e or --on 4Kn"));
    Some(finding)
}

fn zones(case: &RuleInput<'_>, id: LayerId, drive: &KernelDrive) -> Vec<Finding> {
    let zoned = drive.zoned.value().is_some_and(|model| model != "none");
    let Some(&zone) = drive.zone_bytes.value().filter(|&&bytes| zoned && bytes > 0) else {
        return Vec::new();
    };
    let partitions = case.stack.above(id).iter().filter_map(|&above| {
        let layer = case.stack.layer(above);
        match (&layer.kind, &layer.mapping) {
            (LayerKind::Partition(..) | LayerKind::KernelPartition, Mapping::Linear(below)) => {
                Some((above, below.offset_bytes))
            }
            _ => None,
        }
    });
    (partitions.filter(|(_, start)| start % zone != 0))
        .map(|(above, start)| {
            let mut finding = finding("ST604", Severity::Warning, above);
            finding.evidence.push(format!(
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

/// A file system that believes that its partition is elsewhere was copied, or the table was
/// changed.
fn moved(case: &RuleInput<'_>, id: LayerId, believed: Option<u64>) -> Option<Finding> {
    let believed = believed?;
    let below = case.stack.layer(id).mapping.below();
    let [below] = below.as_slice() else { return None };
    let LayerKind::Partition(partition, _) = &case.stack.layer(*below).kind else { return None };
    let actual = partition.range.start_bytes();
    if believed == actual {
        return None;
    }
    let mut finding = finding("ST605", Severity::Info, id);
    finding.evidence.push(format!(
        "the boot sector places the partition at {}; the table at {}",
        case.place(id, believed),
        case.place(id, actual)
    ));
    finding.remedies.push(Remedy::tell(
        "nothing to do for Linux; if Windows must boot from it: bootrec /fixboot, in its recovery \
         console",
    ));
    Some(finding)
}
