//! 512 or 4096: tables, file systems and volumes made for other sectors than those beneath.

use format::filesystem::FileSystem;
use format::table::{PartitionRole, TableKind};
use units::prefix::Exact;
use units::{SectorSize, Source};

use super::remedy::Command;
use super::{Finding, Remedy, RuleInput, Severity, finding, rarely_written, remedy};
use crate::id::LayerId;
use crate::layer::{Layer, LayerKind};
use crate::unit::UnitKind;

/// Number of clusters from which on a FAT is a FAT16, and a FAT32.
const FAT16_CLUSTERS_MIN: u64 = 4085;
const FAT32_CLUSTERS_MIN: u64 = 65525;
/// The smallest size that mkfs.xfs accepts.
const XFS_BYTES_MIN: u64 = 300 << 20;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        found.extend(other_table(case, id));
        found.extend(booting(case, id));
        match &layer.kind {
            LayerKind::FileSystem(system) => {
                found.extend(small_sector(case, id, system));
                found.extend(small_block(case, id, system.kind, system.block_bytes));
                found.extend(few_clusters(case, id, system));
                found.extend(large_block(case, id, system));
            }
            LayerKind::Swap(system) => found.extend(large_block(case, id, system)),
            LayerKind::Luks(luks) => {
                let sector = luks.segments.first().map(|segment| segment.sector_bytes);
                found.extend(small_luks(case, id, sector));
            }
            LayerKind::MdArray(_) | LayerKind::LvmLogical(_) => found.extend(mixed(case, id)),
            _ => {}
        }
    }
    found
}

/// The disk that a layer is on: its logical sector, where a drive or the user says so.
pub(super) fn sector_below(
    case: &RuleInput<'_>,
    id: LayerId,
) -> Option<(LayerId, SectorSize, Source)> {
    let under = case.stack.under(id);
    let known = under.iter().rev().filter(|&&below| below != id).find_map(|&below| {
        let (unit, source) = case.stack.layer(below).units.used(UnitKind::LogicalSector)?;
        Some((below, SectorSize::new(unit.length_bytes())?, source))
    });
    known.filter(|(_, _, source)| *source != Source::Assumed)
}

/// The logical sector of a disk; 512, assumed, of a guest's where the image's format has no field
/// for it, or where the field holds what every tool writes that was not asked.
fn own_sector(layer: &Layer) -> Option<(SectorSize, Source)> {
    let used = layer.units.used(UnitKind::LogicalSector);
    let said =
        used.and_then(|(unit, source)| Some((SectorSize::new(unit.length_bytes())?, source)));
    match (&layer.kind, said) {
        (LayerKind::ImageFormat(_), None | Some((SectorSize::B512, Source::OnDisk))) => {
            Some((SectorSize::B512, Source::Assumed))
        }
        _ => said,
    }
}

/// A partition table that counts in other sectors than its disk has: nobody will find it, or its
/// partitions will be eight times off.
fn other_table(case: &RuleInput<'_>, id: LayerId) -> Vec<Finding> {
    let layer = case.stack.layer(id);
    let Some((sector, source)) = own_sector(layer) else { return Vec::new() };
    (layer.tables.iter())
        .filter(|table| table.sector != sector && table.kind != TableKind::Bsd)
        .map(|table| {
            let assumed = source == Source::Assumed;
            let severity = if assumed { Severity::Info } else { Severity::Error };
            let mut finding = finding("ST301", severity, id).says(format!(
                "the {} table is for {}-byte sectors; the disk has {}-byte sectors ({source})",
                table.kind.word(),
                table.sector.bytes(),
                sector.bytes()
            ));
            if matches!(layer.kind, LayerKind::ImageFile) {
                let file = remedy::typed(layer);
                finding.remedies.push(Remedy::when(
                    "use it as it was made",
                    Command::Loop { file, sector: table.sector },
                ));
            } else if assumed {
                let bytes = table.sector.bytes();
                finding.remedies.push(Remedy::tell(format!(
                    "use it as it was made, as a disk with {bytes}-byte sectors; in QEMU: \
                     logical_block_size={bytes},physical_block_size={bytes}"
                )));
            }
            // Nobody says yet that its disk will have other sectors.
            if !assumed {
                let plan = remedy::plan_of(case, id);
                finding.remedies.extend(plan.or_else(|| remedy::guest_planned_as_raw(case, id)));
            }
            finding
        })
        .collect()
}

/// Firmware and boot loaders that read 512-byte sectors do not start from a 4Kn disk.
fn booting(case: &RuleInput<'_>, id: LayerId) -> Vec<Finding> {
    let layer = case.stack.layer(id);
    let four = own_sector(layer).is_some_and(|(sector, source)| {
        sector.bytes() > 512 && source != Source::Assumed && !layer.tables.is_empty()
    });
    if !four {
        return Vec::new();
    }
    let mut found = Vec::new();
    for table in &layer.tables {
        if table.boot_code {
            let finding = finding("ST307", Severity::Warning, id)
                .says("the first sector holds BIOS boot code".to_owned());
            found.push(finding.fixed_by([Remedy::tell(
                "boot it by UEFI: BIOS code does not start from such a disk",
            )]));
        }
    }
    for &above in case.stack.above(id) {
        if let LayerKind::Partition(partition, _) = &case.stack.layer(above).kind
            && partition.role == PartitionRole::EfiSystem
        {
            let is_made_for_it = case.stack.above(above).iter().any(|&top| {
                let LayerKind::FileSystem(system) = &case.stack.layer(top).kind else {
                    return false;
                };
                let own = own_sector(layer).map(|(sector, _)| sector.bytes());
                system.kind == "vfat" && system.sector_bytes == own
            });
            let severity = if is_made_for_it { Severity::Info } else { Severity::Warning };
            let finding = finding("ST307", severity, above)
                .says("an EFI system partition, which firmware must be able to read".to_owned());
            found.push(
                finding.fixed_by([Remedy::tell(
                    "test that the firmware reads it before you rely on it",
                )]),
            );
        }
    }
    found
}

/// Something that reads or writes less than a logical sector at once cannot be used at all. Not
/// NTFS, nor LUKS: tried on a 4Kn disk with Linux 6.12, ntfs3 mounts one of 512-byte sectors, and
/// dm-crypt opens and writes another.
fn small_sector(case: &RuleInput<'_>, id: LayerId, system: &FileSystem) -> Option<Finding> {
    let own = system.sector_bytes.filter(|&bytes| bytes > 0)?;
    let (below, sector, source) = sector_below(case, id)?;
    if own >= sector.bytes() || system.kind == "ntfs" {
        return None;
    }
    if system.kind == "iso9660" {
        let finding = finding("ST302", Severity::Info, id).says(format!(
            "an ISO has blocks of {own} bytes: it cannot be mounted from a disk with {}-byte \
             sectors",
            sector.bytes()
        ));
        return Some(finding.fixed_by([Remedy::tell("attach it as an optical drive")]));
    }
    // What is read-only is not made again, nor is a part of an ISO.
    if system.is_read_only || rarely_written::iso_around(case, id).is_some() {
        return None;
    }
    let has_sectors = matches!(system.kind, "xfs" | "vfat" | "exfat");
    let is_block = !has_sectors && system.block_bytes == Some(own);
    let unit = if is_block { "blocks" } else { "sectors" };
    let finding = finding("ST302", Severity::Error, id).says(format!(
        "{} uses {own}-byte {unit}; {} has {}-byte sectors ({source})",
        case.stack.layer(id).name,
        case.stack.layer(below).name,
        sector.bytes()
    ));
    let size = sector.bytes();
    let with = match system.kind {
        "xfs" => format!("mkfs.xfs -s size={size}"),
        "vfat" => format!("mkfs.fat -S {size}"),
        "exfat" => "mkfs.exfat on the disk itself, whose sectors it takes".to_owned(),
        "zfs_member" => "zpool create -o ashift=12".to_owned(),
        kind @ ("ext2" | "ext3" | "ext4") => format!("mkfs.{kind} -b {size}"),
        kind => format!("{kind} of blocks of at least {size} bytes"),
    };
    Some(finding.fixed_by([Remedy::recreate(with)]))
}

/// A FAT32 of so few clusters that drivers which go by their number take it for another type.
///
/// Source: Microsoft's FAT specification, "FAT Type Determination".
fn few_clusters(case: &RuleInput<'_>, id: LayerId, system: &FileSystem) -> Option<Finding> {
    let clusters = system.clusters.filter(|&clusters| clusters < FAT32_CLUSTERS_MIN)?;
    if system.variant.as_deref() != Some("FAT32") {
        return None;
    }
    let bits = if clusters < FAT16_CLUSTERS_MIN { 12 } else { 16 };
    let finding = finding("ST309", Severity::Warning, id).says(format!(
        "{} has {clusters} clusters: below {FAT32_CLUSTERS_MIN}, drivers that go by the number \
         expect FAT{bits}",
        case.stack.layer(id).name
    ));
    let sector_bytes = system.sector_bytes.unwrap_or(512);
    let sector = if sector_bytes == 512 { String::new() } else { format!(" -S {sector_bytes}") };
    // Clusters of the same length, whose number then fits the type.
    let per_cluster = system.block_bytes?.checked_div(sector_bytes)?;
    Some(finding.fixed_by([Remedy::recreate_noted(
        format!("mkfs.fat{sector} -F {bits} -s {per_cluster}"),
        "or, as FAT32, on a partition with more clusters",
    )]))
}

/// Blocks that the kernel of this machine does not mount, since its memory pages have another size.
///
/// Source: Linux `fs/btrfs/disk-io.c` (`btrfs_validate_super`: "not yet supported for page size"),
/// `fs/f2fs/super.c` (`sanity_check_raw_super`), `mm/swapfile.c` (the signature ends the page).
fn large_block(case: &RuleInput<'_>, id: LayerId, system: &FileSystem) -> Option<Finding> {
    let page = case.stack.page_bytes()?;
    let block = match system.kind {
        "btrfs" => system.sector_bytes.filter(|&bytes| bytes > page)?,
        "ext2" | "ext3" | "ext4" | "nilfs2" => system.block_bytes.filter(|&bytes| bytes > page)?,
        "f2fs" | "swap" => system.block_bytes.filter(|&bytes| bytes != page)?,
        _ => return None,
    };
    if !case.stack.layer(id).mount_points.is_empty() {
        return None;
    }
    let finding = finding("ST310", Severity::Info, id).says(format!(
        "{} has {} {}; this machine's memory pages have {}, so its kernel may refuse it",
        case.stack.layer(id).name,
        Exact(block),
        if system.kind == "swap" { "pages" } else { "blocks" },
        Exact(page)
    ));
    Some(finding.fixed_by([Remedy::tell(format!(
        "use it on a machine whose pages have {}: getconf PAGESIZE",
        Exact(block)
    ))]))
}

/// The granule beneath a layer, where it is one leaf's, and whether it is assumed.
fn granule_below(case: &RuleInput<'_>, id: LayerId) -> Option<(u64, bool)> {
    (case.stack.leaves(id))
        .filter_map(|(_, leaf)| leaf.units.used(UnitKind::Granule))
        .map(|(unit, source)| (unit.length_bytes(), source == Source::Assumed))
        .max()
}

/// Blocks that are not a multiple of the granule: even an aligned write of one is a
/// read-modify-write.
fn small_block(
    case: &RuleInput<'_>,
    id: LayerId,
    kind: &str,
    block: Option<u64>,
) -> Option<Finding> {
    let block = block.filter(|&bytes| bytes > 0)?;
    let (granule, assumed) = granule_below(case, id)?;
    if block.is_multiple_of(granule) || rarely_written::why(case, id).is_some() {
        return None;
    }
    let code = if kind == "zfs_member" { "ST306" } else { "ST303" };
    let larger = larger_blocks(case, id, kind, granule);
    // What nobody can mend is no warning.
    let is_info = assumed || !larger.erases();
    let severity = if is_info { Severity::Info } else { Severity::Warning };
    let finding = finding(code, severity, id).says(format!(
        "{} has blocks of {}; the granule below is {}{}",
        case.stack.layer(id).name,
        Exact(block),
        Exact(granule),
        if assumed { " (assumed)" } else { "" }
    ));
    Some(finding.fixed_by([larger]))
}

/// Returns how to get blocks of at least a granule, where the kind of file system has any so large.
fn larger_blocks(case: &RuleInput<'_>, id: LayerId, kind: &str, granule: u64) -> Remedy {
    if !granule.is_power_of_two() {
        return Remedy::tell(format!(
            "nothing to do: blocks are powers of two, and none is a multiple of {}",
            Exact(granule)
        ));
    }
    let power = granule;
    let sector = sector_below(case, id).map_or(512, |(_, sector, _)| sector.bytes());
    let clusters = power.div_euclid(sector);
    let with = match kind {
        "ext2" | "ext3" | "ext4" if power <= 4096 => format!("mkfs.{kind} -b 4096"),
        "ocfs2" if power <= 4096 => "mkfs.ocfs2 -b 4096".to_owned(),
        "ufs" if power <= 16384 => format!("newfs -f {power} -b {}", power * 4),
        "jbd" if power <= 4096 => {
            return Remedy::recreate_noted(
                "mke2fs -O journal_dev -b 4096",
                "its file system must then have 4096-byte blocks",
            );
        }
        "xfs" if power <= 4096 => format!("mkfs.xfs -b size={power}"),
        "zfs_member" if power <= 65536 => {
            format!("zpool create -o ashift={}", power.checked_ilog2().unwrap_or(12))
        }
        "vfat" if clusters <= 128 => remedy::mkfs_fat(sector, clusters),
        "exfat" if power <= 32 << 20 => format!("mkfs.exfat -c {power}"),
        "ntfs" if power <= 65536 => format!("mkntfs -c {power}"),
        "udf" if power <= 32768 => format!("mkfs.udf -b {power}"),
        "xfs" | "btrfs" | "f2fs" | "ext2" | "ext3" | "ext4" | "nilfs2"
            if (4097..=65536).contains(&power) =>
        {
            return larger_xfs(case, id, kind, power);
        }
        kind => {
            let granule = Exact(granule);
            return Remedy::tell(format!("{kind} has no blocks of {granule}: nothing to do"));
        }
    };
    Remedy::recreate(with)
}

/// XFS of such blocks, where it fits: no other kind has any above 4 KiB everywhere.
fn larger_xfs(case: &RuleInput<'_>, id: LayerId, kind: &str, block: u64) -> Remedy {
    let size = Exact(block);
    let below = case.stack.layer(id).mapping.below();
    let room = below.iter().filter_map(|&below| case.stack.layer(below).length()).min();
    if room.is_some_and(|room| room < XFS_BYTES_MIN) {
        return Remedy::tell(match kind {
            "xfs" => format!("XFS with {size} blocks needs 300 MiB: nothing to do"),
            kind => {
                format!(
                    "few kernels mount {kind} with {size} blocks; XFS needs 300 MiB: nothing to do"
                )
            }
        });
    }
    let make = Remedy::recreate_noted(
        format!("mkfs.xfs -b size={block}"),
        "blocks above 4 KiB need Linux 6.12 or newer",
    );
    match kind {
        "xfs" => make,
        kind => {
            let why = format!("few kernels mount {kind} with {size} blocks; to use XFS instead:");
            Remedy::tell(why).then(make)
        }
    }
}

/// LUKS of 512-byte sectors over a larger granule encrypts eight times per page, and lets writes
/// below the granule through.
fn small_luks(case: &RuleInput<'_>, id: LayerId, sector: Option<u64>) -> Option<Finding> {
    let sector = sector?;
    let (granule, assumed) = granule_below(case, id)?;
    if sector >= granule.min(4096) || assumed {
        return None;
    }
    let finding = finding("ST304", Severity::Info, id).says(format!(
        "{} encrypts {sector}-byte sectors; the granule below is {}",
        case.stack.layer(id).name,
        Exact(granule)
    ));
    Some(finding.fixed_by([Remedy::recreate_noted(
        "cryptsetup luksFormat --type luks2 --sector-size 4096",
        "its content must support 4096-byte sectors",
    )]))
}

/// Members whose logical sectors differ.
fn mixed(case: &RuleInput<'_>, id: LayerId) -> Option<Finding> {
    let mut sectors: Vec<(u64, String)> = (case.stack.leaves(id))
        .filter_map(|(_, layer)| {
            let (unit, source) = layer.units.used(UnitKind::LogicalSector)?;
            (source != Source::Assumed).then(|| (unit.length_bytes(), layer.name.clone()))
        })
        .collect();
    sectors.sort();
    let (first, last) = (sectors.first()?, sectors.last()?);
    if first.0 == last.0 {
        return None;
    }
    let finding = finding("ST308", Severity::Warning, id).says(format!(
        "{} has {}-byte logical sectors, {} has {}-byte ones",
        first.1, first.0, last.1, last.0
    ));
    Some(finding.fixed_by([Remedy::tell(
        "use members of one sector size: the array takes the largest, and a file system made for \
         a smaller one can then no longer be mounted",
    )]))
}
