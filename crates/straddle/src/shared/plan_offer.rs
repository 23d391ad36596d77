//! Plans that mend what else would have to be made again, which erases.

use std::collections::BTreeMap;

use layout::{DiskPlan, NoPlan};
use stack::rule::{self, Finding, Remedy, RuleInput};
use stack::{LayerId, LayerKind};

/// Offers a plan of a table for other sectors only where there is one, else says why there is none.
/// Puts the plan of the disk before each remedy of `findings` that erases, where moving the
/// partition below mends the same: an LVM volume whose data is off, on a partition that is not.
pub(crate) fn before_erasing(case: &RuleInput<'_>, findings: &mut [Finding]) {
    let mut plans: BTreeMap<LayerId, Result<DiskPlan, NoPlan>> = BTreeMap::new();
    for finding in findings.iter_mut().filter(|one| one.rule.code == "ST301") {
        let disk = finding.layer;
        let offers = finding.remedies.iter().any(Remedy::is_plan);
        if !offers && !rule::is_covered_iso(case, disk) {
            continue;
        }
        let plan = plans.entry(disk).or_insert_with(|| layout::plan(case, disk));
        if let Err(NoPlan { reason, hint, is_damage }) = plan {
            finding.remedies.retain(|remedy| !remedy.is_plan());
            // The finding on what is damaged stands beside this one.
            let hint = hint.as_ref().filter(|_| !*is_damage);
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            finding.remedies.push(Remedy::tell(format!("no plan: {reason}{hint}")));
        }
    }
    let erases = |one: &&mut Finding| {
        one.cost.is_some()
            && one.remedies.iter().any(Remedy::erases)
            && !one.remedies.iter().any(Remedy::is_plan)
    };
    for finding in findings.iter_mut().filter(erases) {
        let Some((disk, partition)) = place(case, finding.layer) else { continue };
        let mut is_planned = || {
            let plan = plans.entry(disk).or_insert_with(|| layout::plan(case, disk));
            plan.as_ref().is_ok_and(|plan| mends(plan, partition))
        };
        // A plan is much more work.
        if layout::surely_mends(case, disk, partition) || is_planned() {
            finding.remedies.splice(0..0, rule::plan_of(case, disk));
        }
    }
}

/// Returns whether a plan moves `partition`, and leaves nothing wrong in it.
fn mends(plan: &DiskPlan, partition: LayerId) -> bool {
    let Some(row) = plan.rows.iter().find(|row| row.layer == partition) else { return false };
    row.old.start_bytes() != row.new.start_bytes()
        && !plan.unmended.iter().any(|one| one.number == row.number)
}

/// The disk whose table is planned for a finding on layer `id`, and the partition that the layer
/// lies on; `None` where there is none, or several disks, or its bytes were not read.
fn place(case: &RuleInput<'_>, id: LayerId) -> Option<(LayerId, LayerId)> {
    let stack = case.stack;
    let mut under = stack.under(id);
    under.sort_unstable();
    let mut disks = under.iter().copied().filter(|&id| !stack.layer(id).tables.is_empty());
    let disk = disks.next().filter(|_| disks.next().is_none())?;
    // A guest's disk is planned in a raw copy.
    let is_guest = matches!(stack.layer(disk).kind, LayerKind::ImageFormat(_));
    let is_part = |&&part: &&LayerId| {
        matches!(stack.layer(part).kind, LayerKind::Partition(..))
            && stack.layer(part).mapping.below().contains(&disk)
    };
    let partition = under.iter().find(is_part).copied()?;
    (!is_guest && stack.bytes(disk).is_some()).then_some((disk, partition))
}
