//! Effects of a plan on the content of the disk: gains, and findings that stay.

use std::collections::BTreeMap;
use std::rc::Rc;

use device::Disk;
use layout::{DiskAfter, DiskPlan};
use stack::assemble::{self, Start, StartKind};
use stack::judge::{self, Verdict};
use stack::rule::{self, Finding, RuleInput, Severity};
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

/// The disk as it will be when the plan is carried out.
#[derive(Default)]
pub(super) struct EffectOnDisk {
    /// Sentences on what is still wrong in what lies on the partitions.
    pub(super) left: Vec<String>,
    /// Partitions in which something is worse than now, and the rule that would say so.
    pub(super) worse: BTreeMap<u32, &'static str>,
}

/// Returns what the plan leads to.
///
/// # Errors
/// When the disk would not hold the same as before: then straddle itself is at fault.
pub(super) fn verified(
    stack: &Stack,
    plan: &DiskPlan,
    on: Option<&Condition>,
) -> Result<EffectOnDisk, String> {
    let layer = stack.layer(plan.disk);
    let kind = match &layer.kind {
        LayerKind::Drive(drive) => StartKind::Drive(drive.clone()),
        LayerKind::ImageFile => {
            let path = layer.path.clone().unwrap_or_default().into_bytes();
            let identity = device::FileIdentity { device: 0, inode: 0 };
            StartKind::File { path, identity }
        }
        _ => return Ok(EffectOnDisk::default()),
    };
    let Some(bytes) = stack.bytes(plan.disk) else { return Ok(EffectOnDisk::default()) };
    let assembled = |bytes: Rc<dyn Disk>| {
        let start = Start { kind: kind.clone(), name: layer.name.clone(), bytes: Some(Ok(bytes)) };
        assemble::assemble(vec![start], &device::NoFiles, on)
    };
    let before = assembled(Rc::clone(bytes));
    let after = assembled(Rc::new(DiskAfter::new(Rc::clone(bytes), plan)));
    let Some(disk) = layout::disk_of(&after.stack, None) else {
        return Err("the planned table cannot be read; please report this".to_owned());
    };
    // What the kernel has on it, such as a loop device over a partition, is on neither of these.
    let held = layout::disk_of(&before.stack, None).map(|disk| contents(&before.stack, disk));
    if let Some(changed) = changed(&held.unwrap_or_default(), &contents(&after.stack, disk)) {
        return Err(changed);
    }
    let stack = &after.stack;
    let findings = findings(stack, on);
    let over = stack.over(disk);
    let inside = |one: &&Finding| {
        over.contains(&one.layer)
            && !matches!(stack.layer(one.layer).kind, LayerKind::Partition(..))
    };
    let left = findings.iter().filter(inside).filter_map(|one| left(stack, one, None)).collect();
    let old = worst(&before.stack, &self::findings(&before.stack, on));
    Ok(EffectOnDisk { left, worse: worse(&old, &worst(stack, &findings)) })
}

/// Names of what is recognized in each partition, by its number.
type Contents = BTreeMap<u32, Vec<&'static str>>;

fn contents(stack: &Stack, disk: LayerId) -> Contents {
    let of = |id: LayerId| match &stack.layer(id).kind {
        LayerKind::Partition(partition, _) => {
            let words = stack.above(id).iter().map(|&id| stack.layer(id).kind.word());
            Some((partition.number, words.collect()))
        }
        _ => None,
    };
    stack.above(disk).iter().filter_map(|&id| of(id)).collect()
}

/// Returns the first partition in which something else would be recognized, as a reason; `None`
/// where all stay what they are.
fn changed(before: &Contents, after: &Contents) -> Option<String> {
    let words = |one: Option<&Vec<&str>>| match one {
        None => "no partition".to_owned(),
        Some(names) if names.is_empty() => "nothing known".to_owned(),
        Some(names) => names.join(" + "),
    };
    let numbers = before.keys().chain(after.keys());
    let number = numbers.into_iter().find(|number| before.get(number) != after.get(number))?;
    Some(format!(
        "partition {number} would be read as {}, and is read as {} now: is there something old \
         beside it? please report this",
        words(after.get(number)),
        words(before.get(number))
    ))
}

/// The worst finding on each layer in a partition, by the partition's number and the layer's name.
type Worst = BTreeMap<(u32, String), (Severity, &'static str)>;

/// Returns the partitions in which more layers get worse than better.
fn worse(old: &Worst, new: &Worst) -> BTreeMap<u32, &'static str> {
    let severity =
        |all: &Worst, key| all.get(key).map_or(Severity::Info, |&(severity, _)| severity);
    let mut worse: BTreeMap<u32, (i64, &'static str)> = BTreeMap::new();
    for (key, &(now, code)) in new {
        if now > severity(old, key) {
            let (count, held) = worse.entry(key.0).or_insert((0, code));
            *count += 1;
            *held = code;
        }
    }
    for (key, &(was, _)) in old {
        if let Some((count, _)) = worse.get_mut(&key.0).filter(|_| was > severity(new, key)) {
            *count -= 1;
        }
    }
    let grave = worse.into_iter().filter(|(_, (count, _))| *count > 0);
    grave.map(|(number, (_, code))| (number, code)).collect()
}

fn findings(stack: &Stack, on: Option<&Condition>) -> Vec<Finding> {
    let judgments = judge::judge_all(stack);
    rule::findings(&RuleInput { stack, judgments: &judgments, told: on })
}

fn worst(stack: &Stack, findings: &[Finding]) -> Worst {
    let mut worst = BTreeMap::new();
    for one in findings {
        for id in stack.under(one.layer) {
            let LayerKind::Partition(partition, _) = &stack.layer(id).kind else { continue };
            let key = (partition.number, stack.layer(one.layer).name.clone());
            let held = worst.entry(key).or_insert((one.severity, one.rule.code));
            *held = (*held).max((one.severity, one.rule.code));
        }
    }
    worst
}

/// Returns whether anything in an image has a cost.
pub(super) fn is_priced(stack: &Stack, on: Option<&Condition>) -> bool {
    findings(stack, on).iter().any(|one| one.cost.is_some())
}

/// Returns the findings on the image formats that hold the disk: no move in it mends them.
/// `copy` is the name of its raw copy.
pub(super) fn in_format(
    stack: &Stack,
    disk: LayerId,
    on: Option<&Condition>,
    copy: &str,
) -> Vec<String> {
    let judgments = judge::judge_all(stack);
    let findings = rule::findings(&RuleInput { stack, judgments: &judgments, told: on });
    let under = stack.under(disk);
    let about = findings.iter().filter(|one| {
        under.contains(&one.layer)
            && matches!(stack.layer(one.layer).kind, LayerKind::ImageFormat(_))
            // The plan writes the table for the sectors of the disk.
            && one.rule.code != "ST301"
            && judgments[one.layer.0].verdict != Verdict::Aligned
    });
    about.filter_map(|one| left(stack, one, Some(copy))).collect()
}

/// A finding that stays after the plan, in a sentence; `None` for one that needs no action. `copy`
/// is the name of the raw copy that is planned in place of an image.
fn left(stack: &Stack, one: &Finding, copy: Option<&str>) -> Option<String> {
    let evidence = one.evidence.first().cloned().unwrap_or_default();
    let (name, code) = (&stack.layer(one.layer).name, one.rule.code);
    // What an image's own clusters bring.
    let then = match copy.filter(|_| matches!(code, "ST501" | "ST502" | "ST504")) {
        Some(copy) => format!("true of this image only, not of its raw copy {copy}"),
        None if code == "ST302" => {
            format!("moved or not, it cannot be mounted there: straddle explain {code}")
        }
        None => format!("no move helps: straddle explain {code}"),
    };
    (one.severity >= Severity::Warning).then(|| format!("{code} {name}: {evidence}; {then}"))
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    fn stack_of(disk: &Rc<dyn Disk>, on: &Condition) -> Stack {
        let identity = device::FileIdentity { device: 0, inode: 0 };
        let kind = StartKind::File { path: b"disk".to_vec(), identity };
        let start = Start { kind, name: "disk".to_owned(), bytes: Some(Ok(Rc::clone(disk))) };
        assemble::assemble(vec![start], &device::NoFiles, Some(on)).stack
    }

    #[test]
    fn a_partition_that_would_be_read_as_something_else_is_named() {
        let ext4 = BTreeMap::from([(1, vec!["ext4"]), (2, vec![])]);
        assert_eq!(changed(&ext4, &ext4), None);
        let both = BTreeMap::from([(1, vec!["ext4"]), (2, vec!["md member"])]);
        let said = changed(&ext4, &both).expect("it changes");
        let expected = "partition 2 would be read as md member, and is read as nothing known now";
        assert!(said.starts_with(expected), "{said}");
        assert!(changed(&BTreeMap::new(), &ext4).is_some_and(|said| said.contains("no partition")));
    }

    #[test]
    fn a_move_off_the_full_stripe_is_seen_to_make_a_partition_worse() {
        let mut disk = MemoryDisk::new(64 << 20);
        disk.put(446 + 4, &[0x83]);
        // On 3 MiB, which is no multiple of 4 MiB.
        disk.put(446 + 8, &6144_u32.to_le_bytes());
        disk.put(446 + 12, &40_960_u32.to_le_bytes());
        disk.put(510, &[0x55, 0xaa]);
        let disk: Rc<dyn Disk> = Rc::new(disk);
        let [large, stripe] = ["granule=4M", "512e,stripe=512Kx3+1"]
            .map(|words| words.parse::<Condition>().expect("a condition"));
        let stack = stack_of(&disk, &large);
        let judgments = judge::judge_all(&stack);
        let case = RuleInput { stack: &stack, judgments: &judgments, told: Some(&large) };
        let id = layout::disk_of(&stack, None).expect("there is a table");
        let plan = layout::plan(&case, id).expect("there is a plan");
        assert_eq!(plan.moves[0].to_bytes, 4 << 20);
        let effect = |on: &Condition| verified(&stack_of(&disk, on), &plan, Some(on));
        assert_eq!(effect(&large).expect("it is judged").worse, BTreeMap::new());
        let worse = effect(&stripe).expect("it is judged").worse;
        assert_eq!(worse, BTreeMap::from([(1, "ST202")]));
        // What would be worse stays.
        let held = BTreeMap::from([(1, "a move would raise ST202 in it".to_owned())]);
        let plan = layout::plan_around(&case, id, &held).expect("there is a plan");
        assert!(plan.is_empty());
        assert!(plan.unmended.iter().any(|one| one.what.contains("would raise ST202")));
    }
}
