//! FAT12, FAT16 and FAT32: a boot sector without a magic number of its own, so what it says must
//! agree with itself before it is believed.
//!
//! Source: Microsoft's FAT specification (fatgen103), "Boot Sector and BPB" and "FAT Type
//! Determination"; `libblkid/src/superblocks/vfat.c` for what is plausible and how the id prints.

use units::DiskText;

use super::field::{bytes_text, holding, label, power_of_two, serial_text};
use super::found::Found;
use crate::bytes::Block;
use crate::heads::Heads;
use crate::named;

/// The most clusters of a FAT12 and of a FAT16.
const CLUSTERS_FAT12: u64 = 4084;
const CLUSTERS_FAT16: u64 = 65524;
const CLUSTERS_FAT32: u64 = 0x0fff_fff4;
const ENTRY_BYTES: u64 = 32;
/// Bytes of the root directory that are searched for the label: it usually comes first.
const ROOT_BYTES_MAX: u64 = 8192;

/// Names at 3 and at 0x36 of boot sectors that look alike and are not FAT.
const OTHERS_AT_3: [&[u8]; 3] = [b"NTFS    ", b"EXFAT   ", b"-FVE-FS-"];
const OTHERS_AT_36: [&[u8]; 2] = [b"HPFS    ", b"JFS     "];

/// Place where a `BitLocker` volume that looks like a FAT has its GUID.
const BITLOCKER_AT: usize = 424;

/// One thing that a sound boot sector says: where, what was found, whether it is allowed.
struct SectorCheck {
    at_bytes: u64,
    text: String,
    holds: bool,
}

/// Place where everything lies, once the numbers agree.
struct FatLayout {
    sector_bytes: u64,
    cluster_bytes: u64,
    sectors: u64,
    root_at_bytes: u64,
    root_bytes: u64,
    data_bytes: u64,
    clusters: u64,
    variant: &'static str,
}

/// The file system whose boot sector stands at the start.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    let block = heads.block::<512>(0)?;
    let others = OTHERS_AT_3.contains(&&block.0[3..11])
        || OTHERS_AT_36.contains(&&block.0[0x36..0x3e])
        || block.0[BITLOCKER_AT..].starts_with(named::BITLOCKER);
    let jump = matches!(block.byte::<0>(), 0xeb | 0xe9);
    let signed = block.le16::<510>() == 0xaa55;
    if others || !(jump || signed) {
        return None;
    }
    let claims = claims(&block);
    let held = holding(&claims.each_ref().map(|claim| claim.holds));
    let named = has_name(&block);
    // A name is evidence enough to describe a damaged boot sector; without one, all must agree.
    let enough = if named { held + 2 >= claims.len() } else { held == claims.len() };
    if !enough || !(named || (jump && signed)) {
        return None;
    }
    let layout = layout(&block);
    if !named && layout.is_none() {
        return None;
    }
    Some(describe(heads, &block, claims.as_slice(), layout))
}

/// Returns whether "FAT" or what early systems wrote stands where the type is named. It only names:
/// the number of clusters decides.
fn has_name(block: &Block<512>) -> bool {
    let old: [&[u8]; 4] = [b"FAT12   ", b"FAT16   ", b"FAT     ", b"MSDOS"];
    let new: [&[u8]; 2] = [b"FAT32   ", b"MSWIN"];
    old.iter().any(|name| block.0[0x36..].starts_with(name))
        || new.iter().any(|name| block.0[0x52..].starts_with(name))
}

fn claims(block: &Block<512>) -> [SectorCheck; 6] {
    let claim = |at_bytes, text: String, holds| SectorCheck { at_bytes, text, holds };
    let (sector, cluster) = (block.le16::<0xb>(), block.byte::<0xd>());
    let (reserved, fats, media) = (block.le16::<0xe>(), block.byte::<0x10>(), block.byte::<0x15>());
    let sector_holds = power_of_two(sector, 512..=4096).is_some();
    let fat = fat_sectors(block);
    [
        claim(0xb, format!("{sector} bytes per sector"), sector_holds),
        claim(0xd, format!("{cluster} sectors per cluster"), cluster.is_power_of_two()),
        claim(0xe, format!("{reserved} reserved sectors"), reserved != 0),
        claim(0x10, format!("{fats} tables of clusters"), matches!(fats, 1..=4)),
        claim(0x15, format!("media {media:#04x}"), media == 0xf0 || media >= 0xf8),
        claim(0x16, format!("{fat} sectors per table of clusters"), fat != 0),
    ]
}

fn is_fat32(block: &Block<512>) -> bool {
    block.le16::<0x16>() == 0
}

fn fat_sectors(block: &Block<512>) -> u64 {
    let (old, new) = (block.le16::<0x16>(), block.le32::<0x24>());
    if old == 0 { u64::from(new) } else { u64::from(old) }
}

fn sectors(block: &Block<512>) -> u64 {
    let (old, new) = (block.le16::<0x13>(), block.le32::<0x20>());
    if old == 0 { u64::from(new) } else { u64::from(old) }
}

/// The layout; `None` when the numbers do not agree.
fn layout(block: &Block<512>) -> Option<FatLayout> {
    let sector_bytes = power_of_two(block.le16::<0xb>(), 512..=4096)?;
    let per_cluster = power_of_two(block.byte::<0xd>(), 1..=128)?;
    let tables = fat_sectors(block).checked_mul(u64::from(block.byte::<0x10>()))?;
    let root_at = tables.checked_add(u64::from(block.le16::<0xe>()))?;
    let root_sectors = (u64::from(block.le16::<0x11>()) * ENTRY_BYTES).div_ceil(sector_bytes);
    let data_at = root_at.checked_add(root_sectors)?;
    let clusters = sectors(block).checked_sub(data_at)?.checked_div(per_cluster)?;
    let (variant, most) = match (is_fat32(block), clusters) {
        (true, _) => ("FAT32", CLUSTERS_FAT32),
        (false, ..=CLUSTERS_FAT12) => ("FAT12", CLUSTERS_FAT12),
        (false, _) => ("FAT16", CLUSTERS_FAT16),
    };
    let cluster_bytes = per_cluster * sector_bytes;
    let data_bytes = data_at.checked_mul(sector_bytes)?;
    let root_at_bytes = if is_fat32(block) {
        let before = u64::from(block.le32::<0x2c>()).checked_sub(2)?;
        before.checked_mul(cluster_bytes)?.checked_add(data_bytes)?
    } else {
        root_at * sector_bytes
    };
    let root_bytes = if is_fat32(block) { cluster_bytes } else { root_sectors * sector_bytes };
    (1..=most).contains(&clusters).then(|| FatLayout {
        sector_bytes,
        cluster_bytes,
        sectors: sectors(block),
        root_at_bytes,
        root_bytes,
        data_bytes,
        clusters,
        variant,
    })
}

fn describe(
    heads: &Heads<'_>,
    block: &Block<512>,
    claims: &[SectorCheck],
    layout: Option<FatLayout>,
) -> Found {
    let mut found = Found::of("vfat");
    for claim in claims.iter().filter(|claim| !claim.holds) {
        found.wrong_field(claim.at_bytes, claim.text.clone());
    }
    let (mark, serial, boot_label) = if is_fat32(block) {
        (block.byte::<0x42>(), block.le32::<0x43>(), block.array::<0x47, 11>())
    } else {
        (block.byte::<0x26>(), block.le32::<0x27>(), block.array::<0x2b, 11>())
    };
    let marked = matches!(mark, 0x28 | 0x29);
    if marked {
        found.value.id = serial_text(serial);
    }
    let sector_bytes = power_of_two(block.le16::<0xb>(), 512..=4096);
    found.value.sector_bytes = sector_bytes;
    // Before the mark existed, the field was shorter, with code behind it.
    let hidden = if marked { u64::from(block.le32::<0x1c>()) } else { 0 };
    found.value.partition_offset_bytes =
        sector_bytes.map(|bytes| hidden * bytes).filter(|&bytes| bytes != 0);
    let Some(layout) = layout else {
        found.wrong_field(0xb, "sectors, tables and clusters do not agree");
        return found;
    };
    found.value.variant = Some(layout.variant.to_owned());
    found.value.block_bytes = Some(layout.cluster_bytes);
    found.value.clusters = Some(layout.clusters);
    found.value.data_offset_bytes = layout.data_bytes;
    found.set_size(heads, 0x20, layout.sectors, layout.sector_bytes);
    found.value.label = root_label(heads, &layout);
    let copied = mark == 0x29 && &boot_label != b"NO NAME    ";
    let copy = label(&boot_label).filter(|_| copied);
    if let (None, Some(copy)) = (&found.value.label, copy) {
        found.note("label in the boot sector", copy.to_string());
    }
    let reserved = u64::from(block.le16::<0xe>()) * layout.sector_bytes;
    found.note("reserved", bytes_text(reserved));
    found.note("clusters", layout.clusters.to_string());
    found
}

/// The label, which is an entry of the root directory; what stands in the boot sector is a copy
/// that renaming leaves behind. Slots that cannot be read have none.
fn root_label(heads: &Heads<'_>, layout: &FatLayout) -> Option<DiskText> {
    let mut buffer = [0; 8192];
    let length = usize::try_from(layout.root_bytes.min(ROOT_BYTES_MAX)).ok()?;
    let root = buffer.get_mut(..length)?;
    heads.read(layout.root_at_bytes, root).ok()?;
    let (entries, _) = root.as_chunks::<32>();
    for entry in entries.iter().take_while(|entry| entry[0] != 0) {
        let entry = Block(*entry);
        let kind = entry.byte::<11>();
        let starts = entry.le16::<20>() != 0 || entry.le16::<26>() != 0;
        // 0xe5 is a deleted entry, 0x0f a piece of a long name, 0x10 a directory.
        if entry.byte::<0>() == 0xe5 || starts || kind & 0x3f == 0x0f || kind & 0x18 != 0x08 {
            continue;
        }
        let mut name = entry.array::<0, 11>();
        if name[0] == 0x05 {
            name[0] = 0xe5;
        }
        return label(&name);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProblemKind;
    use device::MemoryDisk;

    /// 64 MiB in clusters of 4 sectors of 512; 512 entries in the root directory, 63 hidden
    /// sectors.
    fn fat16() -> [u8; 512] {
        let mut bytes = [0; 512];
        bytes[..11].copy_from_slice(b"\xeb\x3c\x90mkfs.fat");
        bytes[0xb..0x18].copy_from_slice(&[0, 2, 4, 4, 0, 2, 0, 2, 0, 0, 0xf8, 128, 0]);
        bytes[0x1c] = 63;
        bytes[0x20..0x24].copy_from_slice(&131_072_u32.to_le_bytes());
        bytes[0x26..0x2b].copy_from_slice(&[0x29, 0x78, 0x56, 0x34, 0x12]);
        bytes[0x36..0x3e].copy_from_slice(b"FAT16   ");
        bytes[510..].copy_from_slice(&[0x55, 0xaa]);
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Found> {
        let mut disk = MemoryDisk::with_head(64 << 20, bytes);
        let root = 4 * 512 + 2 * 128 * 512;
        disk.put(root, b"DATA       \x08");
        read(&Heads::new(&disk))
    }

    #[test]
    fn the_data_area_starts_behind_tables_and_root_directory() {
        let found = parse(&fat16()).unwrap();
        assert_eq!(found.problems, []);
        let system = found.value;
        assert_eq!(system.variant.as_deref(), Some("FAT16"));
        assert_eq!(system.data_offset_bytes, 4 * 512 + 2 * 128 * 512 + 512 * 32);
        assert_eq!((system.block_bytes, system.sector_bytes), (Some(2048), Some(512)));
        assert_eq!(system.id.as_deref(), Some("1234-5678"));
        assert_eq!(system.partition_offset_bytes, Some(63 * 512));
        assert_eq!(system.label, Some(DiskText::from("DATA")));
    }

    #[test]
    fn a_named_boot_sector_with_a_wrong_field_is_described_and_an_unnamed_one_is_not_believed() {
        let mut bytes = fat16();
        bytes[0xd] = 3;
        let found = parse(&bytes).unwrap();
        assert_eq!(found.problems[0].kind, ProblemKind::Field);
        assert_eq!((found.value.block_bytes, found.value.sector_bytes), (None, Some(512)));
        bytes[0x36..0x3e].fill(0);
        assert!(parse(&bytes).is_none());
        bytes[0xd] = 4;
        assert!(parse(&bytes).is_some());
    }

    #[test]
    fn the_number_of_clusters_tells_fat12_from_fat16() {
        for (clusters, variant) in [(4084_u32, "FAT12"), (4085, "FAT16"), (65524, "FAT16")] {
            let mut bytes = fat16();
            let sectors = 4 + 2 * 128 + 32 + clusters * 4;
            bytes[0x20..0x24].copy_from_slice(&sectors.to_le_bytes());
            assert_eq!(parse(&bytes).unwrap().value.variant.as_deref(), Some(variant));
        }
    }

    #[test]
    fn boot_records_and_boot_sectors_of_others_are_no_fat() {
        let mut record = [0; 512];
        record[..3].copy_from_slice(&[0xeb, 0x63, 0x90]);
        record[510..].copy_from_slice(&[0x55, 0xaa]);
        assert!(parse(&record).is_none());
        for name in OTHERS_AT_3 {
            let mut bytes = fat16();
            bytes[3..11].copy_from_slice(name);
            assert!(parse(&bytes).is_none());
        }
    }
}
