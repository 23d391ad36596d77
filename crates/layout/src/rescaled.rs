//! The same partitions, byte for byte, in a table that counts in other sectors.

use device::disk as bytes;
use stack::LayerId;
use stack::rule::RuleInput;
use units::ByteRange;

use crate::plan::DiskPlan;
use crate::refusal::NoPlan;
use crate::surveyed_disk::SurveyedDisk;
use crate::wanted_table::WantedTable;

/// The most that is read at once, in bytes.
const CHUNK_BYTES: u64 = 1 << 20;

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
    let plan = ground.plan(case.judgments)?;
    unknown_bytes(&ground, &plan).map_or(Ok(plan), |at| {
        let reason = format!(
            "something unknown is at byte {at}, where the new table would be: a boot loader, \
             perhaps"
        );
        Err(NoPlan::new(reason, None))
    })
}

/// The first byte that the new table takes, and that is neither blank nor of the old one.
fn unknown_bytes(ground: &SurveyedDisk<'_>, plan: &DiskPlan) -> Option<u64> {
    let known = plan.known_table.iter().chain(&plan.known_content);
    let known: Vec<ByteRange> =
        known.filter_map(|(at, bytes)| ByteRange::new(*at, bytes::length_of(bytes))).collect();
    let regions = plan.regions.iter().filter(|region| region.old.is_none());
    regions.into_iter().find_map(|region| {
        let end = region.at_bytes + bytes::length_of(&region.new);
        let mut at = region.at_bytes;
        while at < end {
            let length = CHUNK_BYTES.min(end - at);
            let Ok(now) = bytes::read_vec(ground.bytes.as_ref(), at, length) else {
                return Some(at);
            };
            let is_known = |at: u64| {
                known.iter().any(|one| (one.start_bytes()..one.end_bytes()).contains(&at))
            };
            let found = (at..).zip(&now).find(|&(at, &byte)| byte != 0 && !is_known(at));
            if let Some((found, _)) = found {
                return Some(found);
            }
            at += length;
        }
        None
    })
}
