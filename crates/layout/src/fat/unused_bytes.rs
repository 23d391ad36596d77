//! Bytes of a partition that its FAT does not use, and that may be somebody's all the same: after
//! its last cluster they are kept in their place; in its reserved sectors they are a reason to
//! leave it alone.
//!
//! Source of the sectors that FAT32 itself reserves: Microsoft, "FAT: General Overview of On-Disk
//! Format" (fatgen103), `BPB_FSInfo` and `BPB_BkBootSec`: a boot sector has three sectors, and its
//! copy too. Windows keeps more of its boot code in sector 12.

use device::{Disk, disk};
use units::ByteRange;

use super::shape::{FatKind, Shape, read};
use crate::in_the_way::used_byte;
use crate::old_table_bytes::number;

/// Sector in which Windows continues its boot code.
const WINDOWS_CODE: u64 = 12;

/// Returns the bytes after the last cluster of `shape` up to the end of `volume`, from the first to
/// the last that is not zero; `None` where all are zeros.
///
/// # Errors
/// When they cannot be read.
pub(super) fn after_clusters(
    volume: &dyn Disk,
    shape: &Shape,
) -> Result<Option<ByteRange>, String> {
    let end = volume.length_bytes();
    let start = shape.clusters_end().min(end);
    let Some(range) = ByteRange::new(start, end - start) else { return Ok(None) };
    let (first, last) = (used_byte(volume, range, false), used_byte(volume, range, true));
    let Some((first, last)) = first.zip(last) else { return Ok(None) };
    if !first.is_read || !last.is_read {
        return Err("bytes after its last cluster cannot be read".to_owned());
    }
    Ok(ByteRange::new(first.at_bytes, last.at_bytes + 1 - first.at_bytes))
}

/// Rejects a FAT with bytes in reserved sectors that its format does not name.
///
/// # Errors
/// When there are such bytes, or they cannot be read.
pub(super) fn reject_reserved(volume: &dyn Disk, boot: &[u8], shape: &Shape) -> Result<(), String> {
    for sector in 0..shape.reserved {
        let skipped = if sector == 0 { disk::length_of(boot) } else { 0 };
        let bytes = read(volume, sector * shape.sector + skipped, shape.sector - skipped)?;
        let is_own = shape.kind == FatKind::Fat32 && is_own(boot, sector, &bytes);
        if !is_own && !is_zero(&bytes) {
            return Err(format!(
                "something unknown is in its reserved sector {sector}: a boot loader, perhaps"
            ));
        }
    }
    Ok(())
}

/// Returns whether `bytes` are those that FAT32 or its boot code has in reserved sector `sector`.
fn is_own(boot: &[u8], sector: u64, bytes: &[u8]) -> bool {
    let (info, copy) = (number(boot, 48, 2), number(boot, 50, 2));
    let head = bytes.len().min(512);
    let (head, rest) = bytes.split_at(head);
    let is_signed = head.ends_with(&[0x55, 0xaa]) && is_zero(rest);
    if sector == info || sector == copy + 1 {
        let reserved = [4..484, 496..508].map(|range| head.get(range).is_some_and(is_zero));
        return is_signed && head.starts_with(b"RRaA") && reserved == [true; 2];
    }
    match sector {
        _ if sector == copy => is_signed && head[3..11] == boot[3..11],
        _ if sector == 2 || sector == copy + 2 => is_signed,
        WINDOWS_CODE => boot[3..11] == *b"MSDOS5.0" && is_zero(rest),
        _ => false,
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    disk::is_filled_with(bytes, 0)
}
