//! NTFS: a boot sector with sizes, some of them as negative powers, and a table of files that holds
//! the label.
//!
//! Source: `include/ntfs-3g/layout.h` of ntfs-3g (`NTFS_BOOT_SECTOR`, `MFT_RECORD`);
//! `libblkid/src/superblocks/ntfs.c` for what is plausible.

use units::DiskText;

use super::field::{bytes_text, holding, not_empty, power, power_of_two};
use super::found::Found;
use crate::bytes::{Block, block_at};
use crate::heads::Heads;

const MAGIC: &[u8] = b"NTFS    ";
const SECTOR_BYTES_MAX: u64 = 4096;
const CLUSTER_BYTES_MAX: u64 = 1 << 21;
/// The file record that describes the volume, and the most that is read of it.
const VOLUME_RECORD: u64 = 3;
const RECORD_BYTES_MAX: u64 = 4096;
const ATTRIBUTE_VOLUME_NAME: u32 = 0x60;
const ATTRIBUTE_END: u32 = 0xffff_ffff;
const ATTRIBUTES_MAX: usize = 64;

/// The file system whose boot sector stands at the start.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    if !heads.has(3, MAGIC) {
        return None;
    }
    let block = heads.block::<512>(0)?;
    let (sector, clusters) = (block.le16::<0xb>(), block.byte::<0xd>());
    let sector_bytes = power_of_two(sector, 256..=SECTOR_BYTES_MAX);
    let cluster_bytes = sector_bytes.and_then(|bytes| cluster(bytes, clusters));
    if !plausible(&block, sector_bytes, cluster_bytes) {
        return None;
    }
    let mut found = Found::of("ntfs");
    let serial = block.le64::<0x48>();
    found.value.id = (serial != 0).then(|| format!("{serial:016X}"));
    found.value.sector_bytes = sector_bytes;
    found.value.block_bytes = cluster_bytes;
    let Some(sector_bytes) = sector_bytes else {
        found.wrong_field(0xb, format!("{sector} bytes per sector"));
        return Some(found);
    };
    let hidden = u64::from(block.le32::<0x1c>()) * sector_bytes;
    found.value.partition_offset_bytes = Some(hidden).filter(|&bytes| bytes != 0);
    found.set_size(heads, 0x28, block.le64::<0x28>(), sector_bytes);
    match cluster_bytes {
        Some(cluster_bytes) => read_files(heads, &block, cluster_bytes, &mut found),
        None => found.wrong_field(0xd, format!("{clusters:#04x} sectors per cluster")),
    }
    Some(found)
}

/// The name is eight bytes; fields of FAT that NTFS keeps at zero have to agree, and sizes.
fn plausible(block: &Block<512>, sector: Option<u64>, cluster: Option<u64>) -> bool {
    let unused = [block.le16::<0xe>(), block.le16::<0x11>(), block.le16::<0x13>()];
    holding(&[
        unused == [0; 3] && block.byte::<0x10>() == 0,
        block.le16::<0x16>() == 0 && block.le32::<0x20>() == 0,
        sector.is_some(),
        cluster.is_some(),
        block.le64::<0x28>() != 0 && block.le64::<0x28>() < 1 << 55,
    ]) >= 3
}

/// Bytes per cluster: the byte is a number of sectors up to 128, or above that a negative power.
fn cluster(sector_bytes: u64, byte: u8) -> Option<u64> {
    let sectors = match byte {
        0..=128 => power_of_two(byte, 1..=128)?,
        _ => power(byte.wrapping_neg(), 1..=CLUSTER_BYTES_MAX)?,
    };
    sectors.checked_mul(sector_bytes).filter(|&bytes| bytes <= CLUSTER_BYTES_MAX)
}

/// Bytes per record: a number of clusters, or when negative the power of two itself.
fn record(cluster_bytes: u64, byte: u8) -> Option<u64> {
    match byte {
        1..=127 => {
            power_of_two(u64::from(byte).checked_mul(cluster_bytes)?, 256..=CLUSTER_BYTES_MAX)
        }
        _ => power(byte.wrapping_neg(), 256..=CLUSTER_BYTES_MAX),
    }
}

fn read_files(heads: &Heads<'_>, block: &Block<512>, cluster_bytes: u64, found: &mut Found) {
    let byte = block.byte::<0x40>();
    let Some(record_bytes) = record(cluster_bytes, byte) else {
        found.wrong_field(0x40, format!("{byte:#04x} clusters per file record"));
        return;
    };
    found.note("file record", bytes_text(record_bytes));
    let Some(table) = block.le64::<0x30>().checked_mul(cluster_bytes) else {
        found.wrong_field(0x30, format!("file table in cluster {}", block.le64::<0x30>()));
        return;
    };
    found.note("file table at", bytes_text(table));
    found.value.label = volume_name(heads, table, record_bytes);
}

/// The label from the volume's file record; `None` also when that cannot be read.
fn volume_name(heads: &Heads<'_>, table: u64, record_bytes: u64) -> Option<DiskText> {
    let mut buffer = [0; 4096];
    let length = usize::try_from(record_bytes.min(RECORD_BYTES_MAX)).ok()?;
    let bytes = buffer.get_mut(..length)?;
    heads.read((VOLUME_RECORD * record_bytes).checked_add(table)?, bytes).ok()?;
    let head = block_at::<32>(bytes, 0).filter(|head| &head.array::<0, 4>() == b"FILE")?;
    restore_sector_ends(bytes, usize::from(head.le16::<4>()));
    let mut at = usize::from(head.le16::<20>());
    for _ in 0..ATTRIBUTES_MAX {
        let attribute = block_at::<24>(bytes, at)?;
        let length = usize::try_from(attribute.le32::<4>()).ok()?;
        match attribute.le32::<0>() {
            ATTRIBUTE_END => return None,
            ATTRIBUTE_VOLUME_NAME => {
                let start = at.checked_add(usize::from(attribute.le16::<20>()))?;
                let end = start.checked_add(usize::try_from(attribute.le32::<16>()).ok()?)?;
                return not_empty(DiskText::from_utf16le(bytes.get(start..end)?));
            }
            // A shorter attribute could not be stepped over.
            _ if length < 24 => return None,
            _ => at = at.checked_add(length)?,
        }
    }
    None
}

/// Puts back the last two bytes of each 512, which a record keeps in a list at `list`: in their
/// place stands a counter that tells torn writes.
fn restore_sector_ends(bytes: &mut [u8], list: usize) {
    for index in 0..bytes.len().div_euclid(512) {
        let Some(kept) = block_at::<2>(bytes, list + 2 + 2 * index) else { return };
        let end = 512 * (index + 1);
        bytes[end - 2..end].copy_from_slice(&kept.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProblemKind;
    use device::MemoryDisk;

    /// 64 MiB in clusters of 4096, file table in cluster 4, 2048 hidden sectors.
    fn boot() -> [u8; 512] {
        let mut bytes = [0; 512];
        bytes[..11].copy_from_slice(b"\xeb\x52\x90NTFS    ");
        bytes[0xb..0xe].copy_from_slice(&[0, 2, 8]);
        bytes[0x1d] = 8;
        bytes[0x28..0x2c].copy_from_slice(&131_071_u32.to_le_bytes());
        bytes[0x30] = 4;
        bytes[0x40] = 0xf6;
        bytes[0x48..0x50].copy_from_slice(&0x0123_4567_89ab_cdef_u64.to_le_bytes());
        bytes
    }

    /// The volume's record with one attribute before the name, and a name across a sector's end.
    fn record() -> [u8; 1024] {
        let mut bytes = [0; 1024];
        bytes[..6].copy_from_slice(b"FILE\x30\0");
        bytes[0x14] = 0x38;
        bytes[0x30..0x34].copy_from_slice(b"\x07\0o\0");
        bytes[0x38] = 0x10;
        bytes[0x3c..0x3e].copy_from_slice(&0x1ac_u16.to_le_bytes());
        bytes[0x1e4] = 0x60;
        bytes[0x1e8] = 0x28;
        bytes[0x1f4] = 8;
        bytes[0x1f8] = 0x18;
        bytes[0x1fc..0x204].copy_from_slice(b"b\0\x07\0o\0t\0");
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Found> {
        let mut disk = MemoryDisk::with_head(64 << 20, bytes);
        disk.put(4 * 4096 + 3 * 1024, &record());
        read(&Heads::new(&disk))
    }

    #[test]
    fn sizes_hidden_sectors_and_the_label_are_read() {
        let found = parse(&boot()).unwrap();
        assert_eq!(found.problems, []);
        let system = found.value;
        assert_eq!((system.block_bytes, system.sector_bytes), (Some(4096), Some(512)));
        assert_eq!(system.partition_offset_bytes, Some(1 << 20));
        assert_eq!(system.id.as_deref(), Some("0123456789ABCDEF"));
        assert_eq!(system.label, Some(DiskText::from("boot")));
    }

    #[test]
    fn sectors_per_cluster_above_128_are_negative_powers() {
        for (byte, expected) in [(128, Some(65536)), (0xf8, Some(131_072)), (0xf4, Some(2 << 20))] {
            assert_eq!(cluster(512, byte), expected);
        }
        for byte in [0, 3, 129, 0xf3] {
            assert_eq!(cluster(512, byte), None);
        }
        assert_eq!(super::record(4096, 0xf6), Some(1024));
        assert_eq!(super::record(4096, 1), Some(4096));
        assert_eq!(super::record(4096, 0), None);
    }

    #[test]
    fn an_impossible_cluster_is_a_problem_and_the_name_alone_is_no_file_system() {
        let mut bytes = boot();
        bytes[0xd] = 3;
        let found = parse(&bytes).unwrap();
        assert_eq!(found.problems[0].kind, ProblemKind::Field);
        assert_eq!(found.value.block_bytes, None);
        let mut bytes = [0xa5; 512];
        bytes[3..11].copy_from_slice(MAGIC);
        assert!(parse(&bytes).is_none());
    }
}
