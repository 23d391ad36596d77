//! Reasons to plan nothing: tables that are damaged, or that no tool rewrites.

use format::ProblemKind;
use format::table::{PartitionRole, PartitionTable, TableKind, resume_script};
use stack::rule::{self, RuleInput};
use stack::{Layer, LayerId, LayerKind, Mapping};

use crate::best_places::PartitionRoom;
use crate::partition_needs::PartitionNeeds;

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPlan {
    /// Why, to follow "cannot plan DISK: ".
    pub reason: String,
    /// Advice, where there is any.
    pub hint: Option<String>,
    /// True if the table is damaged, which a finding of its own says, or the image.
    pub is_damage: bool,
}

impl NoPlan {
    pub(crate) fn new(reason: impl Into<String>, hint: Option<String>) -> NoPlan {
        NoPlan { reason: reason.into(), hint, is_damage: false }
    }

    fn damage(reason: impl Into<String>) -> NoPlan {
        let hint = "repair the table first; to see how: straddle check TARGET";
        NoPlan { is_damage: true, ..NoPlan::new(reason, Some(hint.to_owned())) }
    }
}

/// Rejects a table that is damaged, or that does not describe the disk.
pub(crate) fn reject_unsound(
    case: &RuleInput<'_>,
    disk: LayerId,
    table: &PartitionTable,
) -> Result<(), NoPlan> {
    let layer = case.stack.layer(disk);
    for id in std::iter::once(disk).chain(case.stack.over(disk)) {
        let Some(contest) = &case.stack.layer(id).contest else { continue };
        let name = &case.stack.layer(id).name;
        let place = if id == disk { String::new() } else { format!("{name}: ") };
        let reason = format!("{place}{}", contest.reason);
        let hint = "find out first which of them is in use: straddle check TARGET".to_owned();
        return Err(NoPlan { is_damage: true, ..NoPlan::new(reason, Some(hint)) });
    }
    let mut problems = layer.problems.iter();
    if let Some(problem) = problems.find(|one| one.kind == ProblemKind::HalfMoved) {
        let script = case.stack.bytes(disk).map(|disk| resume_script(disk.as_ref()));
        let script = script.unwrap_or_else(|| "DIR/resume.sh".to_owned());
        let hint = format!("finish that first: sh {script} TARGET");
        return Err(NoPlan::new(problem.detail.clone(), Some(hint)));
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
        return Err(NoPlan::damage(problem.detail.clone()));
    }
    if table.partitions.iter().any(|one| one.range.length_bytes() == 0) {
        return Err(NoPlan::damage("a partition has no length"));
    }
    Ok(())
}

/// Why nothing is planned on a layer of which no file or device has the bytes.
pub(crate) fn without_bytes(layer: &Layer) -> NoPlan {
    let reason = match (&layer.kind, &layer.mapping) {
        (LayerKind::MdArray(_), _) => {
            "a member of an md array, and the table is in the array".to_owned()
        }
        (_, Mapping::Leaf) => return NoPlan::new("the disk cannot be read", None),
        (kind, _) => format!("the table is on the {} in it", kind.word()),
    };
    NoPlan::new(reason, Some("assemble that, and name its device".to_owned()))
}

/// Why partitions do not fit on a disk whose table leaves `room` to them.
pub(crate) fn unfit(
    pieces: &[PartitionNeeds],
    table: &PartitionTable,
    room: PartitionRoom,
) -> NoPlan {
    let is_out = |piece: &&PartitionNeeds| {
        piece.range.start_bytes() < room.first || piece.range.end_bytes() > room.end
    };
    let mut out = pieces.iter().filter(is_out);
    let Some((piece, why)) = out.find_map(|piece| Some((piece, piece.fixed.as_ref()?))) else {
        let reason = "its partitions leave no room for the partition table and its backup";
        return NoPlan::new(
            reason,
            Some("back up, then recreate smaller or fewer partitions".to_owned()),
        );
    };
    let (number, sector) = (piece.number, room.sector);
    let role = table.partitions.iter().find(|one| one.number == number);
    let boots = role.is_some_and(|one| one.role == PartitionRole::BiosBoot);
    let last = if boots { ", install the boot loader again: grub-install DISK" } else { "" };
    NoPlan::new(
        format!(
            "a table of {sector}-byte sectors takes the place of partition {number}, which cannot \
             be moved: {why}"
        ),
        Some(format!(
            "back up, delete partition {number}, plan again, recreate it in free space{last}"
        )),
    )
}

/// Why nothing is written where something unknown is, at byte `at`.
pub(crate) fn unknown(at: u64) -> NoPlan {
    let reason = format!(
        "something unknown is at byte {at}, where the new table would be: a boot loader, perhaps"
    );
    NoPlan::new(reason, None)
}

/// All `obstacles` in one, by partition; `None` where there are none.
pub(crate) fn together(obstacles: Vec<NoPlan>) -> Option<NoPlan> {
    obstacles
        .into_iter()
        .reduce(|all, next| NoPlan { reason: format!("{}; {}", all.reason, next.reason), ..all })
}

/// Why a table of `sector` bytes cannot hold the best place of a partition.
pub(crate) fn inexpressible(piece: &PartitionNeeds, sector: u64) -> NoPlan {
    let (number, start) = (piece.number, piece.range.start_bytes());
    let length = piece.range.length_bytes();
    let is_length_kept = piece.exact.is_some() && !length.is_multiple_of(sector);
    let is_fixed = piece.fixed.is_some();
    let (what, stays, change) = if start.is_multiple_of(sector) || is_length_kept && !is_fixed {
        let what = format!("partition {number} has a length of {length} bytes");
        (what, piece.exact.or(piece.fixed.as_deref()), "change it")
    } else {
        let what = format!("partition {number} starts at byte {start}");
        (what, piece.fixed.as_deref(), "move it")
    };
    let lack = || match piece.in_the_way.first() {
        Some(found) => found.words(),
        None => format!("there is no room to {change}"),
    };
    let why = stays.map_or_else(lack, str::to_owned);
    NoPlan::new(
        format!("{what}, which is not a multiple of {sector} bytes, and {why}"),
        Some(format!("back up, recreate at multiples of {sector} bytes, restore")),
    )
}
