//! Plans that findings offer: where they help, and before what erases.

use std::collections::BTreeMap;

use layout::{DiskPlan, NoPlan};
use stack::rule::{self, Finding, Remedy, RuleInput};
use stack::{LayerId, LayerKind};

/// Offers the plan of a disk in `findings` where there is one that helps, and nowhere else.
pub(crate) fn settle(case: &RuleInput<'_>, findings: &mut [Finding]) {
    let mut plans = Plans { case, known: BTreeMap::new() };
    for finding in findings {
        match finding.rule.code {
            "ST301" => plans.for_other_sectors(finding),
            _ if finding.cost.is_none() => {}
            _ if finding.remedies.iter().any(Remedy::is_plan) => plans.that_moves(finding),
            _ if finding.remedies.iter().any(Remedy::erases) => plans.before_erasing(finding),
            _ => {}
        }
    }
}

/// The plans of disks, each made once. One is much more work than what is looked at before.
struct Plans<'a> {
    case: &'a RuleInput<'a>,
    known: BTreeMap<LayerId, Result<DiskPlan, NoPlan>>,
}

impl Plans<'_> {
    fn of(&mut self, disk: LayerId) -> &Result<DiskPlan, NoPlan> {
        self.known.entry(disk).or_insert_with(|| layout::plan(self.case, disk))
    }

    /// Leaves the plan of a table for other sectors only where there is one, else says why there is
    /// none.
    fn for_other_sectors(&mut self, finding: &mut Finding) {
        let disk = finding.layer;
        let offers = finding.remedies.iter().any(Remedy::is_plan);
        if !offers && !rule::is_covered_iso(self.case, disk) {
            return;
        }
        if let Err(NoPlan { reason, hint, is_damage }) = self.of(disk) {
            // The finding on what is damaged stands beside this one.
            let hint = hint.as_ref().filter(|_| !*is_damage);
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            tell_instead(finding, format!("no plan: {reason}{hint}"));
        }
    }

    /// Leaves the plan only where it moves the partition, else says what to do instead.
    fn that_moves(&mut self, finding: &mut Finding) {
        let Some((disk, partition)) = place(self.case, finding.layer) else { return };
        if layout::surely_mends(self.case, disk, partition) {
            return;
        }
        match self.of(disk) {
            Ok(plan) => {
                if let Some(instead) = stays(plan, partition) {
                    tell_instead(finding, format!("no plan moves it: {instead}"));
                }
            }
            Err(NoPlan { is_damage: true, .. }) => {}
            Err(NoPlan { reason, .. }) => tell_instead(finding, format!("no plan: {reason}")),
        }
    }

    /// Puts the plan before remedies that erase, where moving the partition below mends the same:
    /// an LVM volume whose data is off, on a partition that is not.
    fn before_erasing(&mut self, finding: &mut Finding) {
        let Some((disk, partition)) = place(self.case, finding.layer) else { return };
        let is_mended = layout::surely_mends(self.case, disk, partition)
            || self.of(disk).as_ref().is_ok_and(|plan| mends(plan, partition));
        if is_mended {
            finding.remedies.splice(0..0, rule::plan_of(self.case, disk));
        }
    }
}

fn tell_instead(finding: &mut Finding, text: String) {
    finding.remedies.retain(|remedy| !remedy.is_plan());
    finding.remedies.push(Remedy::tell(text));
}

/// Returns whether a plan moves `partition`, and leaves nothing wrong in it.
fn mends(plan: &DiskPlan, partition: LayerId) -> bool {
    let Some(row) = plan.rows.iter().find(|row| row.layer == partition) else { return false };
    row.moves() && !plan.unmended.iter().any(|one| one.number == row.number)
}

/// Returns what to do about `partition` where a plan leaves it as it is, or why nothing helps;
/// `None` where the plan moves it or nothing is wrong with it.
fn stays(plan: &DiskPlan, partition: LayerId) -> Option<String> {
    let row = plan.rows.iter().find(|row| row.layer == partition && !row.moves())?;
    let left = plan.unmended.iter().find(|one| one.number == row.number)?;
    let (_, why) = left.what.split_once(": ")?;
    Some(why.split_once(". Back").map_or(why.to_owned(), |(_, advice)| format!("back{advice}")))
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
