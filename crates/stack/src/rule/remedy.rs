//! How to put a start right, in the words of the tools that make that kind of layer.

use format::table::{Partition, TableKind};
use units::prefix::Exact;

use super::Case;
use super::sector::sector_below;
use crate::id::LayerId;
use crate::judge::{Judgement, Miss};
use crate::layer::{Layer, LayerKind, PartitionTableInfo};
use crate::mapping::Mapping;
use crate::unit::UnitKind;

/// What partitioners start at, and what is a multiple of every common granule.
const GRAIN_BYTES: u64 = 1 << 20;

/// How many starts are looked at for one that fits everything.
const STARTS_TRIED: u64 = 4096;

/// What to type so that layer `id` starts on the unit that it misses.
pub(super) fn moved(case: &Case<'_>, id: LayerId, miss: &Miss) -> Vec<String> {
    let layer = case.stack.layer(id);
    let unit = miss.full.map_or(miss.unit.length_bytes(), |(full, _)| full);
    let data = multiple(unit, GRAIN_BYTES);
    match &layer.kind {
        LayerKind::Partition(partition, info) => {
            let below = layer.mapping.below();
            let disk = below.first().map(|&below| typed(case.stack.layer(below)));
            let disk = disk.unwrap_or_else(|| "DISK".to_owned());
            partition_moved(case.judgement(id), partition, *info, miss, &disk)
        }
        LayerKind::KernelPartition => unseen_moved(case, id, miss),
        LayerKind::Luks(_) => {
            let sectors = multiple(unit, 16 * GRAIN_BYTES).div_euclid(512);
            vec![format!("new: cryptsetup luksFormat --offset {sectors} DEVICE (512-byte sectors)")]
        }
        LayerKind::LvmPhysical(_) | LayerKind::LvmLogical(_) => vec![format!(
            "new: pvcreate --dataalignment {} DEVICE; vgcreate -s with a multiple of {} keeps \
             later extents on it",
            tool_size(data),
            tool_size(unit)
        )],
        LayerKind::MdMember(_) | LayerKind::MdArray(_) => vec![format!(
            "new: mdadm --create --data-offset={} …, on members that start at 1 MiB",
            mdadm_size(data)
        )],
        LayerKind::Bcache(_) => vec![format!(
            "new: make-bcache -B --data-offset {} DEVICE (512-byte sectors; the default of 16 is \
             8 KiB)",
            data.div_euclid(512)
        )],
        LayerKind::FileSystem(system) => match system.kind {
            "exfat" => vec!["new: mkfs.exfat --boundary-align=1M DEVICE".to_owned()],
            "vfat" => vec![fat(case, id, unit)],
            _ => vec!["move what it lies on: see the layer below".to_owned()],
        },
        LayerKind::ImageFormat(_) => vec![
            format!(
                "qemu-img convert -O qcow2 -o cluster_size={} IMAGE NEW, or -O raw",
                cluster_size(miss.unit.length_bytes())
            ),
            "where it must stay VHD: qemu-img convert -O vpc -o subformat=fixed IMAGE NEW"
                .to_owned(),
        ],
        _ => Vec::new(),
    }
}

fn partition_moved(
    judgement: &Judgement,
    partition: &Partition,
    table: PartitionTableInfo,
    miss: &Miss,
    disk: &str,
) -> Vec<String> {
    let Some(next) = aligned_start(judgement, partition.range.start_bytes(), miss) else {
        return Vec::new();
    };
    let sector = table.sector.bytes();
    let first = next.div_euclid(sector);
    let last = partition.range.end_bytes().div_euclid(sector).saturating_sub(1);
    // In an MBR, numbers from 5 are those of logical partitions.
    let logical = table.kind == TableKind::Mbr && partition.number > 4;
    let words = match table.kind {
        TableKind::Mbr if logical => "logical",
        TableKind::Mbr => "primary",
        TableKind::Gpt => "data",
        TableKind::Bsd => {
            return vec![format!("bsdlabel or disklabel: an offset of {first} sectors")];
        }
        TableKind::Sgi | TableKind::Sun => {
            return vec!["back it up, make an aligned partition, restore".to_owned()];
        }
    };
    let place = Exact(next);
    let kept = "with data: back it up first, make the partition anew, restore".to_owned();
    // Where the boundary leaves nothing of it, it must go elsewhere.
    if last <= first {
        return vec![format!("start it at sector {first} ({place}) or a later MiB"), kept];
    }
    let number = partition.number;
    let parted = format!("parted -s -a none {disk} rm {number} mkpart {words} {first}s {last}s");
    vec![format!("empty: {parted} ({place})"), kept]
}

/// A partition of a table that was not read.
fn unseen_moved(case: &Case<'_>, id: LayerId, miss: &Miss) -> Vec<String> {
    let layer = case.stack.layer(id);
    let Mapping::Linear(below) = &layer.mapping else { return Vec::new() };
    let Some(next) = aligned_start(case.judgement(id), below.offset_bytes, miss) else {
        return Vec::new();
    };
    let disk = typed(case.stack.layer(below.layer));
    vec![
        format!(
            "make it anew at {} ({} sectors of 512 bytes): parted -s -a none {disk} unit B mkpart \
             NAME {next}B END",
            Exact(next),
            next.div_euclid(512)
        ),
        "with data: back it up first, make the partition anew, restore".to_owned(),
    ]
}

/// What to type for a layer: the node of a device, the name of a file.
pub(super) fn typed(layer: &Layer) -> String {
    if let Some(device) = &layer.device {
        return format!("/dev/{}", device.replace('!', "/"));
    }
    match layer.kind {
        LayerKind::Drive(_) => format!("/dev/{}", layer.name),
        LayerKind::ImageFile => quoted(layer.path.as_ref().unwrap_or(&layer.name)),
        _ => "DEVICE".to_owned(),
    }
}

/// A word as a shell takes it: in quotes where it holds anything but what names are made of. What
/// was escaped to be printed cannot be typed at all, so it stays as it is shown.
pub(super) fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+:@%,=".contains(letter);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        return word.to_owned();
    }
    let dash = if word.starts_with('-') { "./" } else { "" };
    format!("'{dash}{}'", word.replace('\'', "'\\''"))
}

/// The next start behind `start` that fits the granule and the full stripe, on 1 MiB where that is
/// possible. Both are counted from where the layer is now, since what is beneath may be shifted.
fn aligned_start(judgement: &Judgement, start: u64, miss: &Miss) -> Option<u64> {
    let granule = judgement.granule.as_ref();
    let granule = granule.and_then(|miss| Some((miss.unit.length_bytes(), miss.offset_bytes?)));
    let stripe = judgement.stripe.as_ref().and_then(|miss| miss.full);
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

/// mkfs.fat counts `-s` in sectors, at most 128, and rounds its areas to whole clusters.
fn fat(case: &Case<'_>, id: LayerId, unit: u64) -> String {
    let sector = sector_below(case, id).map_or(512, |(_, sector, _)| sector.bytes());
    match unit.div_ceil(sector) {
        clusters if clusters.is_power_of_two() && clusters <= 128 => format!(
            "new: mkfs.fat -s {clusters} DEVICE, without -a: it puts its data on a multiple of \
             that, counted from the start of the partition"
        ),
        _ => format!("new: a file system with clusters of {}, such as exFAT", Exact(unit)),
    }
}

/// Clusters of a qcow2 image that hold whole units: 64 KiB, or up to 2 MiB.
pub(super) fn cluster_size(unit: u64) -> String {
    let bytes = unit.checked_next_power_of_two().unwrap_or(0).clamp(64 << 10, 2 << 20);
    format!("{}K", bytes.div_euclid(1024))
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a.checked_div(x)?.checked_mul(b)
}

/// As mdadm takes it: as LVM does, but in capitals; it refuses `1m`.
fn mdadm_size(bytes: u64) -> String {
    tool_size(bytes).to_uppercase()
}

/// As LVM takes it: whole MiB or KiB.
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
    fn a_path_is_quoted_so_that_it_can_be_typed() {
        assert_eq!(quoted("/srv/vm/disk-1.raw"), "/srv/vm/disk-1.raw");
        assert_eq!(quoted("a b.raw"), "'a b.raw'");
        assert_eq!(quoted("it's;rm"), r"'it'\''s;rm'");
        assert_eq!(quoted("-x"), "'./-x'");
    }

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
}
