//! Options of mkfs.exfat, mkfs.fat and mkfs.udf that put their data on a unit.

use units::prefix::Exact;

use super::Remedy;
use crate::id::LayerId;
use crate::rule::RuleInput;
use crate::rule::sector::sector_below;

/// The largest block of mkfs.udf.
const UDF_BLOCK_BYTES_MAX: u64 = 32 << 10;

/// mkfs.exfat takes boundaries that are powers of two, counted from the start of the disk.
pub(super) fn exfat(grain: u64) -> Remedy {
    match grain.is_power_of_two() {
        true => {
            Remedy::recreate(format!("mkfs.exfat --boundary-align={}K", grain.div_euclid(1024)))
        }
        false => other_file_system(grain),
    }
}

/// mkfs.fat counts `-s` in sectors, at most 128, and rounds its areas to whole clusters.
pub(super) fn fat(case: &RuleInput<'_>, id: LayerId, unit: u64) -> Remedy {
    let sector = sector_below(case, id).map_or(512, |(_, sector, _)| sector.bytes());
    match unit.div_ceil(sector) {
        clusters if clusters.is_power_of_two() && clusters <= 128 => Remedy::recreate_noted(
            mkfs_fat(sector, clusters),
            "without -a, so that the data area starts on a cluster",
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
pub(super) fn udf(unit: u64) -> Remedy {
    match unit.next_power_of_two() {
        block if block.is_multiple_of(unit) && block <= UDF_BLOCK_BYTES_MAX => {
            Remedy::recreate(format!("mkfs.udf -b {block}"))
        }
        _ => other_file_system(unit),
    }
}

pub(super) fn other_file_system(unit: u64) -> Remedy {
    let unit = Exact(unit);
    Remedy::tell(format!(
        "back up, recreate it with another kind of file system, whose data \
         starts at a multiple of {unit}, restore"
    ))
}
