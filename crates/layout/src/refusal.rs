//! Reasons to plan nothing: tables that are damaged, or that no tool rewrites.

use format::ProblemKind;
use format::table::{PartitionTable, TableKind};
use stack::rule::{self, Case};
use stack::{LayerId, LayerKind};

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPlan {
    /// Why, to follow "cannot plan DISK: ".
    pub reason: String,
    /// Advice, where there is any.
    pub hint: Option<String>,
}

impl NoPlan {
    pub(crate) fn new(reason: impl Into<String>, hint: Option<String>) -> NoPlan {
        NoPlan { reason: reason.into(), hint }
    }
}

/// Rejects a table that is damaged, or that does not describe the disk.
pub(crate) fn reject_unsound(
    case: &Case<'_>,
    disk: LayerId,
    table: &PartitionTable,
) -> Result<(), NoPlan> {
    let layer = case.stack.layer(disk);
    let mends = "mend the table first: straddle check --explain shows what is wrong".to_owned();
    let mut problems = layer.problems.iter();
    if let Some(problem) = problems.find(|one| one.kind == ProblemKind::HalfMoved) {
        let hint = "finish that first, DIR being that directory: sh DIR/resume.sh DISK";
        return Err(NoPlan::new(problem.detail.clone(), Some(hint.to_owned())));
    }
    if let LayerKind::Drive(drive) = &layer.kind
        && drive.zoned.value().is_some_and(|model| model == "host-managed")
    {
        let reason = "a host-managed zoned drive cannot be rewritten in place";
        let hint = "back up, recreate the partitions where zones start, restore".to_owned();
        return Err(NoPlan::new(reason, Some(hint)));
    }
    if table.kind == TableKind::Bsd {
        let hint = "back up, recreate the slices on 1 MiB, restore".to_owned();
        return Err(NoPlan::new("BSD disklabels are not rewritten", Some(hint)));
    }
    if rule::is_covered_iso(case, disk) {
        let reason = "its bootable ISO image has a partition entry that no partitioner can write";
        let hint =
            "straddle check names the new start of each partition after the image".to_owned();
        return Err(NoPlan::new(reason, Some(hint)));
    }
    let is_bad = |kind: ProblemKind| kind.spoils_table() || kind == ProblemKind::Unreadable;
    let bad = layer.problems.iter().find(|problem| is_bad(problem.kind));
    if let Some(problem) = bad {
        return Err(NoPlan::new(problem.detail.clone(), Some(mends)));
    }
    if table.partitions.iter().any(|one| one.range.length_bytes() == 0) {
        return Err(NoPlan::new("a partition has no length", Some(mends)));
    }
    Ok(())
}
