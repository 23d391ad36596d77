//! The space between an MBR and the first partition.

use device::{Disk, disk};

use crate::partition_needs::PartitionNeeds;

/// Length of the area before the first partition in which a boot loader is looked for, in bytes.
const GAP_BYTES_MAX: u64 = 4 << 20;

/// The byte after what stands between an MBR and the first partition: GRUB's core image, or other
/// software.
pub(crate) fn boot_end(bytes: &dyn Disk, pieces: &[PartitionNeeds], sector: u64) -> u64 {
    let start = pieces.first().map_or(0, |piece| {
        piece.record_at.unwrap_or(piece.range.start_bytes()).min(piece.range.start_bytes())
    });
    let used = used_bytes(bytes, start.min(GAP_BYTES_MAX));
    let used = used.max(1).next_multiple_of(sector);
    // A gap longer than what is looked at is left alone.
    if start > GAP_BYTES_MAX { start } else { used.min(start) }
}

/// Number of bytes up to the last of the first `length` that is not 0; `length` where they cannot
/// be read.
fn used_bytes(bytes: &dyn Disk, length: u64) -> u64 {
    let mut buffer = vec![0; 64 << 10];
    let mut end = length;
    while end > 0 {
        let from = end.saturating_sub(buffer.len() as u64);
        let part = usize::try_from(end - from).unwrap_or(0);
        if bytes.read_at(from, &mut buffer[..part]).is_err() {
            return length;
        }
        let used = &buffer[..part];
        if !disk::is_filled_with(used, 0) {
            return from
                + used.iter().rposition(|&byte| byte != 0).map_or(0, |last| last as u64 + 1);
        }
        end = from;
    }
    0
}
