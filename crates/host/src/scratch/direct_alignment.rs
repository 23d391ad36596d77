//! Alignment of direct I/O on a scratch file.

use std::os::fd::BorrowedFd;

use units::{Known, Source};

use crate::extents::facts_of;

/// Returns the unit of the offset and the length of direct I/O, in bytes; 0 where that is not
/// possible. From [`Source::Statx`] where the kernel answers (6.1), else the drive's logical
/// sector, from [`Source::Sysfs`].
pub(super) fn direct_unit(file: BorrowedFd<'_>) -> Known<u64> {
    let facts = match facts_of(file) {
        Ok(facts) => facts,
        Err(error) => return Known::no(format!("statx failed: {error}")),
    };
    if facts.direct_offset_bytes.value().is_some() {
        return facts.direct_offset_bytes;
    }
    match logical_sector(facts.device) {
        Some(bytes) => Known::yes(bytes, Source::Sysfs),
        None => facts.direct_offset_bytes,
    }
}

/// The logical sector of a block device, or of the disk that a partition is on.
fn logical_sector((major, minor): (u32, u32)) -> Option<u64> {
    ["", "../"].into_iter().find_map(|up| {
        let path = format!("/sys/dev/block/{major}:{minor}/{up}queue/logical_block_size");
        std::fs::read_to_string(path).ok()?.trim().parse().ok()
    })
}
