//! Effects of a plan on the content of the disk: gains, and findings that stay.

use std::rc::Rc;

use device::Disk;
use layout::{DiskAfter, DiskPlan};
use stack::assemble::{self, Start, StartKind};
use stack::judge::{self, Verdict};
use stack::rule::{self, Case, Finding, Severity};
use stack::{Condition, LayerId, LayerKind, Stack};

/// Returns what one write costs before and after, for each row of the plan.
pub(super) fn gains(stack: &Stack, plan: &DiskPlan, findings: &[Finding]) -> Vec<String> {
    let gain = |layer: LayerId| {
        let over = stack.over(layer);
        let about = |id: LayerId| id == layer || over.contains(&id);
        let costs = findings.iter().filter(|one| about(one.layer));
        costs.filter_map(|one| one.cost.as_ref()).map(|cost| cost.sentence.clone()).next()
    };
    plan.rows.iter().map(|row| gain(row.layer).unwrap_or_default()).collect()
}

/// Returns what is still wrong in what lies on the partitions when the plan is carried out.
///
/// # Errors
/// When the disk would not hold the same as before: then straddle itself is at fault.
pub(super) fn verified(
    stack: &Stack,
    plan: &DiskPlan,
    on: Option<&Condition>,
) -> Result<Vec<String>, String> {
    let layer = stack.layer(plan.disk);
    let kind = match &layer.kind {
        LayerKind::Drive(drive) => StartKind::Drive(drive.clone()),
        LayerKind::ImageFile => {
            let path = layer.path.clone().unwrap_or_default().into_bytes();
            let identity = device::FileIdentity { device: 0, inode: 0 };
            StartKind::File { path, identity }
        }
        _ => return Ok(Vec::new()),
    };
    let Some(bytes) = stack.bytes(plan.disk) else { return Ok(Vec::new()) };
    let after: Rc<dyn Disk> = Rc::new(DiskAfter::new(Rc::clone(bytes), plan));
    let start = Start { kind, name: layer.name.clone(), bytes: Some(Ok(after)) };
    let after = assemble::assemble(vec![start], &device::NoFiles, on);
    let Some(disk) = layout::disk_of(&after.stack, None) else {
        return Err("the planned table cannot be read; please report this".to_owned());
    };
    let holds = |stack: &Stack, disk: LayerId| -> Vec<(u32, Vec<&'static str>)> {
        let mut found: Vec<_> = (stack.above(disk).iter())
            .filter_map(|&id| match &stack.layer(id).kind {
                LayerKind::Partition(partition, _) => {
                    let words = stack.above(id).iter().map(|&id| stack.layer(id).kind.word());
                    Some((partition.number, words.collect()))
                }
                _ => None,
            })
            .collect();
        found.sort();
        found
    };
    if holds(stack, plan.disk) != holds(&after.stack, disk) {
        return Err("the plan would change what is recognized; please report this".to_owned());
    }
    let stack = &after.stack;
    let judgments = judge::judge_all(stack);
    let findings = rule::findings(&Case { stack, judgments: &judgments, told: on });
    let over = stack.over(disk);
    let inside = |one: &&Finding| {
        over.contains(&one.layer)
            && !matches!(stack.layer(one.layer).kind, LayerKind::Partition(..))
    };
    Ok(findings.iter().filter(inside).filter_map(|one| left(stack, one)).collect())
}

/// Returns the findings on the image formats that hold the disk: no move in it mends them.
pub(super) fn in_format(stack: &Stack, disk: LayerId, on: Option<&Condition>) -> Vec<String> {
    let judgments = judge::judge_all(stack);
    let findings = rule::findings(&Case { stack, judgments: &judgments, told: on });
    let under = stack.under(disk);
    let about = findings.iter().filter(|one| {
        under.contains(&one.layer)
            && matches!(stack.layer(one.layer).kind, LayerKind::ImageFormat(_))
            && judgments[one.layer.0].verdict != Verdict::Aligned
    });
    about.filter_map(|one| left(stack, one)).collect()
}

/// A finding that stays after the plan, in a sentence; `None` for one that needs no action.
fn left(stack: &Stack, one: &Finding) -> Option<String> {
    let evidence = one.evidence.first().cloned().unwrap_or_default();
    let (name, code) = (&stack.layer(one.layer).name, one.rule.code);
    (one.severity >= Severity::Warning)
        .then(|| format!("{code} {name}: {evidence}; no move helps: straddle explain {code}"))
}
