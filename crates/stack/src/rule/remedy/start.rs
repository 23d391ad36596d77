//! Remedies that put a start right, in the words of the tools that make that kind of layer.

use device::disk;
use format::member::md::MdVersion;
use format::table::{Partition, PartitionTable, Repair, TableKind};
use units::SectorSize;
use units::prefix::Exact;

use super::image_copy::{converted, planned_as_raw};
use super::mkfs_options::{exfat, fat, other_file_system, udf};
use super::{Command, Remedy, node};
use crate::id::LayerId;
use crate::judge::{Judgment, Miss};
use crate::layer::{Layer, LayerKind, PartitionTableInfo};
use crate::mapping::Mapping;
use crate::rule::sector::sector_below;
use crate::rule::{RuleInput, rarely_written};
use crate::unit::UnitKind;

/// Address at which partitioners start, and a multiple of every common granule.
const GRAIN_BYTES: u64 = 1 << 20;

/// The extents of a volume group, by default.
const EXTENT_BYTES: u64 = 4 << 20;

/// LVM takes extents that are multiples of this where they are no power of two.
const EXTENT_STEP_BYTES: u64 = 128 << 10;

/// Sectors of a backup GPT: its entries, and its header.
const BACKUP_SECTORS: u64 = 33;

/// Number of starts looked at for one that fits everything.
const STARTS_TRIED: u64 = 4096;

/// Returns what puts layer `id` on the unit that it misses.
pub(in crate::rule) fn moved(case: &RuleInput<'_>, id: LayerId, miss: &Miss) -> Vec<Remedy> {
    let layer = case.stack.layer(id);
    let unit = unit_below(case, id, miss);
    let data = multiple(unit, GRAIN_BYTES);
    match &layer.kind {
        LayerKind::Partition(partition, info) => partition_moved(case, id, partition, *info, miss),
        LayerKind::KernelPartition => plan(case, id).into_iter().collect(),
        LayerKind::Luks(_) => {
            let sectors = multiple(unit, 16 * GRAIN_BYTES).div_euclid(512);
            let size = if unit.is_multiple_of(4096) { " --sector-size 4096" } else { "" };
            vec![Remedy::recreate(format!("cryptsetup luksFormat --offset {sectors}{size}"))]
        }
        LayerKind::LvmPhysical(_) | LayerKind::LvmLogical(_) => {
            vec![Remedy::recreate(format!(
                "pvcreate --dataalignment {}{}",
                tool_size(data),
                extents(unit)
            ))]
        }
        LayerKind::MdMember(member) | LayerKind::MdArray(member)
            if matches!(member.version, MdVersion::Imsm | MdVersion::Ddf) =>
        {
            vec![Remedy::tell("recreate the array in its container: the metadata sets the start")]
        }
        LayerKind::MdMember(_) | LayerKind::MdArray(_) => {
            let size = mdadm_size(data);
            vec![Remedy::recreate(format!("mdadm --create --data-offset={size}"))]
        }
        LayerKind::Bcache(_) => vec![Remedy::recreate_noted(
            format!("make-bcache -B --data-offset {}", data.div_euclid(512)),
            "make-bcache refuses until the old superblock is gone",
        )],
        LayerKind::FileSystem(system) => match system.kind {
            "exfat" => vec![exfat(data)],
            "vfat" => vec![fat(case, id, unit)],
            "udf" => vec![udf(unit)],
            _ if has_finding_below(case, id) => {
                vec![Remedy::tell("move the layer below; its finding says how")]
            }
            _ => in_partition(case, id, miss),
        },
        LayerKind::ImageFormat(image) => converted(case, id, image.kind, miss),
        _ => Vec::new(),
    }
}

/// Returns whether something below layer `id` is off, and so has a finding of its own.
fn has_finding_below(case: &RuleInput<'_>, id: LayerId) -> bool {
    let below = case.stack.under(id);
    below.into_iter().any(|below| below != id && case.judgment(below).miss().is_some())
}

/// Returns what helps where a file system starts with its disk: it cannot be moved in it.
fn in_partition(case: &RuleInput<'_>, id: LayerId, miss: &Miss) -> Vec<Remedy> {
    let Some(start) = aligned_start(case.judgment(id), 0, miss) else {
        return vec![other_file_system(miss.unit.length_bytes())];
    };
    let sector = sector_below(case, id).map_or(512, |(_, sector, _)| sector.bytes());
    vec![Remedy::tell(format!(
        "back up, recreate it in a partition that starts at sector {} ({}), restore",
        start.div_euclid(sector),
        Exact(start)
    ))]
}

/// The plan of the disk whose table holds partition `id`: `None` where no tool edits that table.
pub(in crate::rule) fn plan(case: &RuleInput<'_>, id: LayerId) -> Option<Remedy> {
    let below = case.stack.layer(id).mapping.below();
    plan_of(case, *below.first()?)
}

/// The plan of a disk; `None` where entries of an ISO cover each other, which no tool writes.
#[must_use]
pub fn plan_of(case: &RuleInput<'_>, disk: LayerId) -> Option<Remedy> {
    if rarely_written::is_covered_iso(case, disk) {
        return None;
    }
    let disk = node(case.stack.layer(disk))?;
    let on = case.told.map(ToString::to_string);
    Some(Remedy::command(Command::Plan { disk, on }))
}

/// Both copies of the GPT of a disk or raw image that is `disk_bytes` long then, written from the
/// sound one; `None` for anything else.
pub(in crate::rule) fn rewrite_gpt(
    case: &RuleInput<'_>,
    id: LayerId,
    disk_bytes: Option<u64>,
    when: &'static str,
) -> Option<Remedy> {
    let layer = case.stack.layer(id);
    let table = layer.tables.iter().find(|table| table.kind == TableKind::Gpt)?;
    if !is_backup_place_free(case, id, table, disk_bytes) {
        return None;
    }
    let sector = sector_of_file(layer, table);
    let (within_bytes, lacks_mbr, is_active) = match table.repair {
        Some(Repair::Unsafe(_) | Repair::FewerEntries(_) | Repair::Choose) => return None,
        Some(Repair::Rewrite(how)) => {
            let is_before = |end: &u64| disk_bytes.is_none_or(|bytes| *end < bytes);
            (how.backup_end_bytes.filter(is_before), how.lacks_mbr, how.is_active)
        }
        _ => (None, false, false),
    };
    let node = node(layer)?;
    let rewrite = |when, within_bytes| {
        let disk = node.clone();
        Remedy::when(when, Command::RewriteGpt { disk, sector, within_bytes, is_active })
    };
    let first =
        within_bytes.map(|end| rewrite("write the first copy again from the backup", Some(end)));
    let mbr = lacks_mbr.then(|| protective_mbr(layer)).flatten();
    [mbr, first, Some(rewrite(when, None))].into_iter().flatten().reduce(Remedy::then)
}

/// The protective MBR of a disk or raw image that has a GPT and no other entry in its MBR.
pub(in crate::rule) fn protective_mbr(layer: &Layer) -> Option<Remedy> {
    let when = "write the protective MBR, without which Linux and sfdisk find no GPT";
    let table = layer.tables.iter().find(|table| table.kind == TableKind::Gpt)?;
    let (disk, sector) = (node(layer)?, sector_of_file(layer, table));
    Some(Remedy::when(when, Command::ProtectiveMbr { disk, sector }))
}

/// The sector in which `table` counts, where its disk is a file of which sfdisk would think 512.
fn sector_of_file(layer: &Layer, table: &PartitionTable) -> Option<SectorSize> {
    let is_file = matches!(layer.kind, LayerKind::ImageFile);
    Some(table.sector).filter(|sector| is_file && sector.bytes() != 512)
}

/// Returns whether the backup, at the end of the disk when that is `disk_bytes` long, overwrites
/// nothing after the table that is not zero. What the table has now was looked at when it was read.
fn is_backup_place_free(
    case: &RuleInput<'_>,
    id: LayerId,
    table: &PartitionTable,
    disk_bytes: Option<u64>,
) -> bool {
    let backup = BACKUP_SECTORS.saturating_mul(table.sector.bytes());
    let length = case.stack.layer(id).length();
    let Some((disk_bytes, length)) = disk_bytes.zip(length).filter(|(new, old)| new > old) else {
        return true;
    };
    let table_end = table.usable.map_or(0, |usable| usable.end_bytes().saturating_add(backup));
    let start = disk_bytes.saturating_sub(backup).max(table_end);
    let Some(count) = length.checked_sub(start).filter(|&count| count > 0) else { return true };
    let bytes = case.stack.bytes(id).map(|bytes| disk::read_vec(bytes.as_ref(), start, count));
    bytes.is_some_and(|read| read.is_ok_and(|read| disk::is_filled_with(&read, 0)))
}

fn partition_moved(
    case: &RuleInput<'_>,
    id: LayerId,
    partition: &Partition,
    table: PartitionTableInfo,
    miss: &Miss,
) -> Vec<Remedy> {
    if matches!(table.kind, TableKind::Gpt | TableKind::Mbr)
        && let Some(plan) = plan(case, id).or_else(|| planned_as_raw(case, id))
    {
        return vec![plan];
    }
    let Some(next) = aligned_start(case.judgment(id), partition.range.start_bytes(), miss) else {
        return Vec::new();
    };
    let first = next.div_euclid(table.sector.bytes());
    let place = Exact(next);
    vec![Remedy::tell(format!("back up, recreate it at sector {first} ({place}), restore"))]
}

/// Every unit beneath a layer in one: granules, and full stripes of arrays and of the disk that the
/// user tells.
fn unit_below(case: &RuleInput<'_>, id: LayerId, miss: &Miss) -> u64 {
    let start = miss.full.map_or(miss.unit.length_bytes(), |(full, _)| full);
    let below = case.stack.under(id).into_iter().filter(|&below| below != id);
    below.fold(start, |unit, below| {
        let layer = case.stack.layer(below);
        let granule = matches!(layer.mapping, Mapping::Leaf)
            .then(|| layer.units.used_bytes(UnitKind::Granule))
            .flatten();
        let full = layer.units.used_bytes(UnitKind::FullStripe);
        granule.into_iter().chain(full).fold(unit, multiple)
    })
}

/// The next start behind `start` that fits the granule and the full stripe, on 1 MiB where that is
/// possible. Both are counted from where the layer is now, since what is beneath may be shifted.
fn aligned_start(judgment: &Judgment, start: u64, miss: &Miss) -> Option<u64> {
    let granule = judgment.granule.as_ref();
    let granule = granule.and_then(|miss| Some((miss.unit.length_bytes(), miss.offset_bytes?)));
    let stripe = judgment.stripe.as_ref().and_then(|miss| miss.full);
    let units: Vec<(u64, u64)> = granule.into_iter().chain(stripe).collect();
    if units.is_empty() {
        return None;
    }
    let fits = |at: &u64| {
        let moved = at - start;
        units.iter().all(|&(unit, behind)| {
            moved.checked_add(behind).is_some_and(|at| at.is_multiple_of(unit))
        })
    };
    let multiples = |step: u64, first: u64| {
        (0..STARTS_TRIED).filter_map(move |count| step.checked_mul(count)?.checked_add(first))
    };
    let grain = start.checked_next_multiple_of(GRAIN_BYTES)?;
    let &(unit, behind) = units.iter().max()?;
    let next = start.checked_add(unit - behind.checked_rem(unit)?)?;
    let (whole, any) = (multiples(GRAIN_BYTES, grain), multiples(unit, next));
    // Before 1 MiB are tables, and what boot loaders keep behind them.
    let any = any.skip_while(|&at| at < GRAIN_BYTES);
    whole.chain(any).find(fits).or_else(|| {
        let (unit, behind) = granule.filter(|_| miss.kind == UnitKind::Granule)?;
        start.checked_add(unit - behind.checked_rem(unit)?)
    })
}

/// The smallest common multiple of a unit and of a size that is preferred; the unit where that is
/// absurdly large.
fn multiple(unit: u64, preferred: u64) -> u64 {
    lcm(unit, preferred).filter(|&bytes| bytes > 0 && bytes <= 1 << 32).unwrap_or(unit)
}

/// Returns what keeps later extents of a volume group on a unit that those of 4 MiB miss.
fn extents(unit: u64) -> String {
    if EXTENT_BYTES.is_multiple_of(unit) {
        return String::new();
    }
    let step = multiple(unit, EXTENT_STEP_BYTES);
    format!(" and vgcreate -s {}", tool_size(EXTENT_BYTES.next_multiple_of(step)))
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a.checked_div(x)?.checked_mul(b)
}

/// Returns a size as mdadm takes it: as LVM does, but in capitals; it refuses `1m`.
fn mdadm_size(bytes: u64) -> String {
    tool_size(bytes).to_uppercase()
}

/// Returns a size as LVM takes it: whole MiB or KiB.
fn tool_size(bytes: u64) -> String {
    if bytes.is_multiple_of(GRAIN_BYTES) {
        format!("{}m", bytes.div_euclid(GRAIN_BYTES))
    } else {
        format!("{}k", bytes.div_ceil(1024))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mdadm_is_given_capitals_since_it_refuses_small_letters() {
        assert_eq!(mdadm_size(GRAIN_BYTES), "1M");
        assert_eq!(mdadm_size(1536 * 1024), "1536K");
    }

    #[test]
    fn the_common_multiple_of_a_mebibyte_and_three_chunks_is_three_mebibytes() {
        assert_eq!(lcm(3 * 512 * 1024, GRAIN_BYTES), Some(3 * GRAIN_BYTES));
        assert_eq!(lcm(0, 5), Some(0));
        assert_eq!(multiple(3 * 64 * 1024, GRAIN_BYTES), 3 * GRAIN_BYTES);
    }

    #[test]
    fn extents_are_named_where_those_of_4_mib_miss_the_full_stripe() {
        assert_eq!(extents(64 << 10), "");
        assert_eq!(extents(1536 << 10), " and vgcreate -s 4608k");
    }
}
