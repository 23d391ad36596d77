//! Remedies that put a start right, in the words of the tools that make that kind of layer.

use format::image::ImageKind;
use format::member::md::MdVersion;
use format::table::{Partition, Repair, TableKind};
use units::prefix::Exact;
use units::text::shell_word;

use super::device::path;
use super::{Command, Remedy, node, typed};
use crate::id::LayerId;
use crate::judge::{Judgment, Miss};
use crate::layer::{LayerKind, PartitionTableInfo};
use crate::mapping::Mapping;
use crate::rule::sector::sector_below;
use crate::rule::{RuleInput, rarely};
use crate::unit::UnitKind;

/// Address at which partitioners start, and a multiple of every common granule.
const GRAIN_BYTES: u64 = 1 << 20;

/// The extents of a volume group, by default.
const EXTENT_BYTES: u64 = 4 << 20;

/// LVM takes extents that are multiples of this where they are no power of two.
const EXTENT_STEP_BYTES: u64 = 128 << 10;

/// The largest block of mkfs.udf.
const UDF_BLOCK_BYTES_MAX: u64 = 32 << 10;

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
    if rarely::is_covered_iso(case, disk) {
        return None;
    }
    let disk = node(case.stack.layer(disk))?;
    let on = case.told.map(ToString::to_string);
    Some(Remedy::command(Command::Plan { disk, on }))
}

/// Both copies of the GPT of a disk or raw image, written from the sound one; `None` for anything
/// else.
pub(in crate::rule) fn rewrite_gpt(
    case: &RuleInput<'_>,
    id: LayerId,
    when: &'static str,
) -> Option<Remedy> {
    let layer = case.stack.layer(id);
    let table = layer.tables.iter().find(|table| table.kind == TableKind::Gpt)?;
    let is_file = matches!(layer.kind, LayerKind::ImageFile);
    let sector = Some(table.sector).filter(|sector| is_file && sector.bytes() != 512);
    let (within_bytes, lacks_mbr) = match table.repair {
        Some(Repair::Rewrite(how)) => (how.within_bytes, how.lacks_mbr),
        _ => (None, false),
    };
    let disk = node(layer)?;
    let when =
        if within_bytes.is_some() { "write the first copy again from the backup" } else { when };
    let rewrite =
        Remedy::when(when, Command::RewriteGpt { disk: disk.clone(), sector, within_bytes });
    Some(match lacks_mbr {
        true => Remedy::when(
            "write the protective MBR, without which sgdisk finds no GPT here",
            Command::ProtectiveMbr(disk),
        )
        .then(rewrite),
        false => rewrite,
    })
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

/// Planned in a raw copy, since no partitioner opens the guest of an image format.
pub(in crate::rule) fn planned_as_raw(case: &RuleInput<'_>, id: LayerId) -> Option<Remedy> {
    let [disk] = case.stack.layer(id).mapping.below()[..] else { return None };
    image_file(case, disk)?;
    let on = case.told.map(ToString::to_string);
    let (copy, new) = raw_copy(case, disk);
    Some(copy.then(Remedy::when("then plan the copy", Command::Plan { disk: new, on })))
}

/// Mended in a raw copy, for the same reason.
pub(in crate::rule) fn as_raw(case: &RuleInput<'_>, image: LayerId) -> Remedy {
    let (copy, new) = raw_copy(case, image);
    let is_vhd = matches!(&case.stack.layer(image).kind, LayerKind::ImageFormat(image)
        if matches!(image.kind, ImageKind::VhdDynamic | ImageKind::VhdFixed));
    let size = if is_vhd { " -O vpc -o force_size=on" } else { "" };
    copy.then(Remedy::tell(format!("then repair the copy; to see how: straddle check {new}")))
        .then(Remedy::tell(format!("then convert it into a new image: qemu-img convert{size}")))
}

/// The guest's disk of a fixed VHD whose footer is damaged, so that qemu-img does not open it: the
/// first `bytes` of its file.
pub(in crate::rule) fn without_footer(case: &RuleInput<'_>, image: LayerId, bytes: u64) -> Remedy {
    let file = image_file(case, image).unwrap_or_else(|| "IMAGE".to_owned());
    let new = convert(case, image, "raw".to_owned()).1;
    let copy = Command::Head { bytes, file, new };
    Remedy::when("copy the guest's disk without the footer", copy).then(Remedy::tell(
        "then convert it into a new VHD: qemu-img convert -O vpc -o subformat=fixed,force_size=on",
    ))
}

/// Returns the command that copies the guest's disk of `image`, and the copy as it is typed.
fn raw_copy(case: &RuleInput<'_>, image: LayerId) -> (Remedy, String) {
    let convert = convert(case, image, "raw".to_owned());
    let new = convert.1;
    (Remedy::when("copy the guest's disk to a raw file", convert.0), new)
}

/// The command that puts the guest's disk of `image` into a new file of `format`, which may have
/// options, and that file as it is typed.
pub(in crate::rule) fn convert(
    case: &RuleInput<'_>,
    image: LayerId,
    format: String,
) -> (Command, String) {
    let file = case.stack.layer(image).mapping.below().first().copied();
    let path = file.and_then(|file| path(case.stack.layer(file)));
    let path = path.unwrap_or_else(|| "IMAGE".to_owned());
    let is_named = |new: &str| {
        case.stack.iter().any(|(_, layer)| layer.path.as_deref().unwrap_or(&layer.name) == new)
    };
    let new = shell_word(&copy_name(&path, &format, is_named));
    let kind = match &case.stack.layer(image).kind {
        LayerKind::ImageFormat(image) => Some(image.kind),
        _ => None,
    };
    (Command::Convert { kind, image: shell_word(&path), format, new: new.clone() }, new)
}

/// A name for a copy of the file at `path` in `format`, after which options may follow: no name
/// that `is_named` knows, and one that hardly any file has, since the copy is written over it.
#[must_use]
pub fn copy_name(path: &str, format: &str, is_named: impl Fn(&str) -> bool) -> String {
    let extension = match format.split(' ').next() {
        Some("vpc") => "vhd",
        Some(word) => word,
        None => "raw",
    };
    let stem = path.strip_suffix(&format!(".{extension}"));
    let mut new = match stem {
        Some(stem) => format!("{stem}.new.{extension}"),
        None => format!("{path}.{extension}"),
    };
    let mut number = 2_u32;
    while is_named(&new) {
        new = format!("{}.new-{number}.{extension}", stem.unwrap_or(path));
        number += 1;
    }
    new
}

/// The file of an image format, as it is typed.
pub(in crate::rule) fn image_file(case: &RuleInput<'_>, id: LayerId) -> Option<String> {
    let layer = case.stack.layer(id);
    let (LayerKind::ImageFormat(_), Mapping::Image { file, .. }) = (&layer.kind, &layer.mapping)
    else {
        return None;
    };
    Some(typed(case.stack.layer(*file)))
}

/// A format whose clusters begin on the granule. A VHD stays one where it has to.
fn converted(case: &RuleInput<'_>, id: LayerId, kind: ImageKind, miss: &Miss) -> Vec<Remedy> {
    let convert = |format: String| convert(case, id, format).0;
    let mut remedies = Vec::new();
    let clusters = cluster_size(miss.unit.length_bytes());
    match clusters {
        Some(size) => {
            remedies.push(Remedy::command(convert(format!("qcow2 -o cluster_size={size}"))));
        }
        None => remedies.push(Remedy::command(convert("raw".to_owned()))),
    }
    if matches!(kind, ImageKind::VhdDynamic | ImageKind::VhdFixed) {
        let fixed = convert("vpc -o subformat=fixed,force_size=on".to_owned());
        remedies.push(Remedy::when("if it must stay a VHD", fixed));
    }
    remedies
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

/// mkfs.exfat takes boundaries that are powers of two, counted from the start of the disk.
fn exfat(grain: u64) -> Remedy {
    match grain.is_power_of_two() {
        true => {
            Remedy::recreate(format!("mkfs.exfat --boundary-align={}K", grain.div_euclid(1024)))
        }
        false => other_file_system(grain),
    }
}

/// mkfs.fat counts `-s` in sectors, at most 128, and rounds its areas to whole clusters.
fn fat(case: &RuleInput<'_>, id: LayerId, unit: u64) -> Remedy {
    let sector = sector_below(case, id).map_or(512, |(_, sector, _)| sector.bytes());
    match unit.div_ceil(sector) {
        clusters if clusters.is_power_of_two() && clusters <= 128 => Remedy::recreate_noted(
            mkfs_fat(sector, clusters),
            "without -a its data starts on a multiple of that",
        ),
        _ => other_file_system(unit),
    }
}

/// The command for a FAT on a disk with such sectors, in clusters of so many of them at least. On
/// 512-byte sectors mkfs.fat may choose clusters of one; on larger ones the best it chooses is
/// enough, and often the only number that fits the disk.
pub(in crate::rule) fn mkfs_fat(sector: u64, clusters: u64) -> String {
    match (sector, clusters) {
        (512, _) => format!("mkfs.fat -s {clusters}"),
        (_, 0 | 1) => format!("mkfs.fat -S {sector}"),
        _ => format!("mkfs.fat -S {sector} -s {clusters}"),
    }
}

/// mkfs.udf starts the space at a multiple of its blocks, which are powers of two up to 32 KiB.
fn udf(unit: u64) -> Remedy {
    match unit.next_power_of_two() {
        block if block.is_multiple_of(unit) && block <= UDF_BLOCK_BYTES_MAX => {
            Remedy::recreate(format!("mkfs.udf -b {block}"))
        }
        _ => other_file_system(unit),
    }
}

fn other_file_system(unit: u64) -> Remedy {
    let unit = Exact(unit);
    Remedy::tell(format!(
        "back up, recreate it with another kind of file system, whose data \
         starts at a multiple of {unit}, restore"
    ))
}

/// Clusters of a qcow2 image that hold whole units, at least 64 KiB; `None` above the 2 MiB that
/// the format allows.
pub(in crate::rule) fn cluster_size(unit: u64) -> Option<String> {
    let bytes = unit.checked_next_power_of_two()?.max(64 << 10);
    (bytes <= 2 << 20).then(|| format!("{}K", bytes.div_euclid(1024)))
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

    #[test]
    fn a_copy_has_a_name_that_no_known_file_has() {
        let none = |_: &str| false;
        assert_eq!(
            copy_name("dir/dyn.vhd", "qcow2 -o cluster_size=64K", none),
            "dir/dyn.vhd.qcow2"
        );
        assert_eq!(copy_name("disk.qcow2", "qcow2", none), "disk.new.qcow2");
        assert_eq!(copy_name("disk.vhd", "vpc", none), "disk.new.vhd");
        assert_eq!(copy_name("NEW", "raw", none), "NEW.raw");
        let taken = |name: &str| matches!(name, "NEW.raw" | "NEW.new-2.raw");
        assert_eq!(copy_name("NEW", "raw", taken), "NEW.new-3.raw");
    }

    #[test]
    fn clusters_hold_whole_units_or_are_not_offered() {
        assert_eq!(cluster_size(4096).as_deref(), Some("64K"));
        assert_eq!(cluster_size(100 << 10).as_deref(), Some("128K"));
        assert_eq!(cluster_size(4 << 20), None);
    }
}
