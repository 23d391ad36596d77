//! The same partitions, byte for byte, in a table that counts in other sectors.

use stack::LayerId;
use stack::rule::RuleInput;

use crate::plan::DiskPlan;
use crate::refusal::NoPlan;
use crate::surveyed_disk::SurveyedDisk;
use crate::wanted_table::WantedTable;

/// The table on layer `disk` of the stack of `case` for the disk that is wanted. Every partition
/// starts at the same byte; an end that is not on a sector is cut where its content allows that.
///
/// # Errors
/// Why there is none: a table that is damaged or that no tool rewrites, a partition that is not on
/// such sectors or is in the way of the table, or something unknown in its place.
pub fn rescaled(
    case: &RuleInput<'_>,
    disk: LayerId,
    wanted: WantedTable,
) -> Result<DiskPlan, NoPlan> {
    let mut ground = SurveyedDisk::survey(case, disk, Some(wanted))?;
    for piece in &mut ground.pieces {
        piece.fixed.get_or_insert_with(|| "a conversion moves no data".to_owned());
    }
    ground.plan(case.judgments)
}
