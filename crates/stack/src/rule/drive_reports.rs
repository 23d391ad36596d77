//! Reports of a drive about itself that are known not to be so, impossible, or contradictory.

use super::{Finding, Remedy, RuleInput, Severity, finding};
use crate::drive::KernelDrive;
use crate::drive::misreporting_drives::{Liar, Lie};
use crate::id::LayerId;
use crate::layer::LayerKind;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        if let LayerKind::Drive(drive) = &layer.kind {
            found.extend(absurd(id, drive));
            found.extend(disagreeing(id, drive));
            found.extend(known(id, drive));
            found.extend(impossible(id, drive));
        }
    }
    found
}

fn absurd(id: LayerId, drive: &KernelDrive) -> Vec<Finding> {
    let rows = [
        ("ST603", Severity::Warning, "physical_block_size", drive.absurd_physical()),
        ("ST602", Severity::Info, "optimal_io_size", drive.absurd_optimal()),
    ];
    (rows.into_iter())
        .filter_map(|(code, severity, file, reason)| {
            let finding = finding(code, severity, id).says(format!("{file}: {}", reason?));
            Some(finding.fixed_by([Remedy::tell(match code {
                "ST602" => {
                    "ignore it: start partitions at multiples of 1 MiB (parted -a minimal), and \
                     give cryptsetup --offset"
                }
                _ => "give the true sector with --on 512e or --on 4Kn; start partitions at 1 MiB",
            })]))
        })
        .collect()
}

fn disagreeing(id: LayerId, drive: &KernelDrive) -> Option<Finding> {
    if drive.disagreements.is_empty() {
        return None;
    }
    let mut finding = finding("ST606", Severity::Warning, id);
    finding.evidence.clone_from(&drive.disagreements);
    Some(finding.fixed_by([Remedy::tell("give the true disk with --on 512e or --on 4Kn")]))
}

/// A drive that says what is not so. An optimal size that means nothing has a rule of its own.
fn known(id: LayerId, drive: &KernelDrive) -> Option<Finding> {
    let told: Vec<String> = drive
        .lies()
        .filter(|liar| !matches!(liar.lie, Lie::Optimal(_)))
        .map(Liar::sentence)
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
