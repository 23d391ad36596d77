//! All that is known of a disk before anything is placed, and what that alone decides.

use std::rc::Rc;

use device::Disk;
use format::table::{PartitionRole, PartitionTable};
use stack::rule::RuleInput;
use stack::{LayerId, LayerKind, Stack, UnitKind};
use units::Source;

use crate::best_places::{self, PartitionRoom};
use crate::boot_gap::boot_end;
use crate::free_space::FreeSpace;
use crate::new_table_bytes;
use crate::old_table_bytes::{Mbr, TableBytes};
use crate::partition_needs::{self, PartitionNeeds, StartUnit};
use crate::refusal::{self, NoPlan, reject_unsound};
use crate::wanted_table::{LongerDisk, WantedTable};

/// Returns whether [`crate::plan`] puts all that `partition` of `disk` holds on every unit even if
/// the first partition cannot start earlier than now. Of the disk's bytes, only the free space that
/// the moves take is read; what cannot be read is taken for zeros. False where only the plan can
/// tell.
#[must_use]
pub fn surely_mends(case: &RuleInput<'_>, disk: LayerId, partition: LayerId) -> bool {
    let layer = case.stack.layer(disk);
    let ([table], Some(bytes)) = (&layer.tables[..], case.stack.bytes(disk)) else { return false };
    let sector = sector_bytes(case, disk, table);
    if sector != table.sector.bytes() || reject_unsound(case, disk, table).is_err() {
        return false;
    }
    let marks = partition_needs::marks(case.stack, disk, sector);
    if partitions(case.stack, disk).len() > best_places::PIECES_MAX {
        return false;
    }
    let pieces = needs(case, disk, table, &marks, None);
    let is_logical = |piece: &PartitionNeeds| piece.record_at.is_some();
    if pieces.iter().any(is_logical) {
        return false;
    }
    let Some(first) = pieces.first() else { return false };
    let most = (1_u64 << 32).saturating_mul(sector);
    let end = table.usable.map_or(most, |usable| usable.end_bytes());
    let room = PartitionRoom {
        first: first.range.start_bytes(),
        end: end.min(bytes.length_bytes().div_euclid(sector) * sector),
        ends: partition_needs::end_grid(&marks),
        sector,
    };
    let is_mended = |pieces: &[PartitionNeeds]| {
        let places = best_places::settled(pieces, room).unwrap_or_default();
        let mut free = FreeSpace::new(bytes.as_ref(), None, pieces);
        let mut taken = pieces.iter().zip(&places);
        if taken.any(|(piece, &new)| {
            free.in_the_way(piece, new, room).is_some_and(|found| found.is_read)
        }) {
            return false;
        }
        pieces.iter().zip(places).any(|(piece, new)| {
            let is_met = piece.unmet.is_empty() && piece.missed(new.start).is_none();
            piece.layer == partition && is_met && new.start != piece.range.start_bytes()
        })
    };
    // The bytes decide which ends may move: all that may, or none.
    let kept: Vec<_> = pieces.iter().map(PartitionNeeds::at_its_length).collect();
    is_mended(&pieces) && is_mended(&kept)
}

/// Returns the sector that a new table counts in: the disk's own, else that of its table, in bytes.
fn sector_bytes(case: &RuleInput<'_>, disk: LayerId, table: &PartitionTable) -> u64 {
    match case.stack.layer(disk).units.used(UnitKind::LogicalSector) {
        Some((unit, source)) if source != Source::Assumed => unit.length_bytes(),
        _ => table.sector.bytes(),
    }
}

/// The partitions of `disk` that hold something or may.
fn partitions(stack: &Stack, disk: LayerId) -> Vec<LayerId> {
    stack.above(disk).iter().copied().filter(|&id| !is_container(stack, id)).collect()
}

/// The same, in the order of the disk, as far as its `bytes` tell their needs.
fn needs(
    case: &RuleInput<'_>,
    disk: LayerId,
    table: &PartitionTable,
    marks: &[StartUnit],
    bytes: Option<&dyn Disk>,
) -> Vec<PartitionNeeds> {
    let all = partitions(case.stack, disk).into_iter();
    let mut pieces: Vec<_> =
        all.filter_map(|id| PartitionNeeds::new(case, id, table, marks, bytes)).collect();
    pieces.sort_by_key(|piece| piece.range.start_bytes());
    pieces
}

/// All that is known before anything is placed.
pub(crate) struct SurveyedDisk<'a> {
    pub(crate) case: &'a RuleInput<'a>,
    pub(crate) disk: LayerId,
    pub(crate) bytes: Rc<dyn Disk>,
    pub(crate) table: &'a PartitionTable,
    pub(crate) raw: TableBytes,
    pub(crate) marks: Vec<StartUnit>,
    pub(crate) room: PartitionRoom,
    /// In the order of the disk.
    pub(crate) pieces: Vec<PartitionNeeds>,
}

impl<'a> SurveyedDisk<'a> {
    /// The disk for the table that is wanted, or for one of the disk's own sectors and length.
    pub(crate) fn survey(
        case: &'a RuleInput<'a>,
        disk: LayerId,
        wanted: Option<WantedTable>,
    ) -> Result<SurveyedDisk<'a>, NoPlan> {
        let layer = case.stack.layer(disk);
        let table = match &layer.tables[..] {
            [table] => table,
            [] => return Err(NoPlan::new("no partition table was found", None)),
            _ => return Err(NoPlan::new("there is more than one partition table", None)),
        };
        let bytes = case.stack.bytes(disk).cloned();
        let bytes = bytes.ok_or_else(|| refusal::without_bytes(layer))?;
        reject_unsound(case, disk, table)?;
        let raw =
            TableBytes::read(bytes.as_ref(), table).map_err(|reason| NoPlan::new(reason, None))?;
        let sector =
            wanted.map_or_else(|| sector_bytes(case, disk, table), |wanted| wanted.sector_bytes);
        let bytes = match wanted {
            Some(wanted) => Rc::new(LongerDisk::new(bytes, wanted.disk_bytes)) as Rc<dyn Disk>,
            None => bytes,
        };
        let marks = partition_needs::marks(case.stack, disk, sector);
        if partitions(case.stack, disk).len() > best_places::PIECES_MAX {
            return Err(NoPlan::new("there are more than 256 partitions", None));
        }
        let mut pieces = needs(case, disk, table, &marks, Some(bytes.as_ref()));
        if let TableBytes::Mbr(Mbr { chain_fault: Some(fault), .. }) = &raw {
            for piece in pieces.iter_mut().filter(|piece| piece.record_at.is_some()) {
                piece.fixed.get_or_insert_with(|| fault.clone());
            }
        }
        let mut room = room(bytes.as_ref(), table, &raw, &marks, sector, &pieces);
        // Zeros before the first partition may be part of what is left over there.
        if let (false, Some(first)) = (layer.also.is_empty(), pieces.first()) {
            room.first = room.first.max(first.range.start_bytes());
        }
        Ok(SurveyedDisk { case, disk, bytes, table, raw, marks, room, pieces })
    }
}

fn is_container(stack: &Stack, id: LayerId) -> bool {
    matches!(&stack.layer(id).kind, LayerKind::Partition(partition, _)
        if matches!(partition.role, PartitionRole::Extended | PartitionRole::Protective))
}

/// The first and last byte for partitions, and the grids of starts and ends.
fn room(
    bytes: &dyn Disk,
    table: &PartitionTable,
    raw: &TableBytes,
    marks: &[StartUnit],
    sector: u64,
    pieces: &[PartitionNeeds],
) -> PartitionRoom {
    let whole = bytes.length_bytes().div_euclid(sector) * sector;
    let ends = partition_needs::end_grid(marks);
    let (first, end) = match raw {
        TableBytes::Gpt(gpt) if table.sector.bytes() != sector => {
            let (head, tail) = new_table_bytes::gpt_overhead(gpt, sector);
            // The old table must stay whole until the new one is written.
            let old = table.usable.map_or((0, whole), |one| (one.start_bytes(), one.end_bytes()));
            (head.max(old.0), whole.saturating_sub(tail).min(old.1))
        }
        TableBytes::Gpt(_) => table
            .usable
            .map_or((0, whole), |usable| (usable.start_bytes(), usable.end_bytes().min(whole))),
        TableBytes::Mbr(_) => {
            let most = (1_u64 << 32).saturating_mul(sector);
            (boot_end(bytes, pieces, sector), whole.min(most))
        }
    };
    PartitionRoom { first, end, ends, sector }
}
