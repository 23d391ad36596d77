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
use crate::free_space::used_byte;
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
    let copy = number(boot, 50, 2);
    let own = match shape.kind {
        FatKind::Fat32 => vec![number(boot, 48, 2), 1, 2, copy, copy + 1, copy + 2, WINDOWS_CODE],
        _ => Vec::new(),
    };
    let others = (0..shape.reserved).filter(|sector| !own.contains(sector));
    for sector in others {
        let skipped = if sector == 0 { disk::length_of(boot) } else { 0 };
        let at = sector * shape.sector + skipped;
        let bytes = read(volume, at, shape.sector - skipped)?;
        if bytes.iter().any(|&byte| byte != 0) {
            return Err(format!(
                "something unknown is in its reserved sector {sector}: a boot loader, perhaps"
            ));
        }
    }
    Ok(())
}
