//! Alignment of direct I/O on a scratch file.

use std::os::fd::BorrowedFd;

use units::{Known, Source};

use crate::extents::facts_of;

/// Units of memory and offsets of direct I/O on the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectUnits {
    /// The address in memory, in bytes; 0 where direct I/O is not possible.
    pub memory_bytes: Known<u64>,
    /// The offset and the length, in bytes; 0 as above. From [`Source::Statx`] where the kernel
    /// answers (6.1), else the drive's logical sector, from [`Source::Sysfs`].
    pub offset_bytes: Known<u64>,
}

/// Returns the alignment of direct I/O: as statx says, or else by the drive's logical sector.
pub(super) fn direct_units(file: BorrowedFd<'_>) -> DirectUnits {
    let facts = match facts_of(file) {
        Ok(facts) => facts,
        Err(error) => {
            let unknown = Known::no(format!("statx failed: {error}"));
            return DirectUnits { memory_bytes: unknown.clone(), offset_bytes: unknown };
        }
    };
    if facts.direct_offset_bytes.value().is_some() {
        let (memory_bytes, offset_bytes) = (facts.direct_memory_bytes, facts.direct_offset_bytes);
        return DirectUnits { memory_bytes, offset_bytes };
    }
    let sector = match logical_sector(facts.device) {
        Some(bytes) => Known::yes(bytes, Source::Sysfs),
        None => facts.direct_offset_bytes,
    };
    DirectUnits { memory_bytes: sector.clone(), offset_bytes: sector }
}

/// The logical sector of a block device, or of the disk that a partition is on.
fn logical_sector((major, minor): (u32, u32)) -> Option<u64> {
    ["", "../"].into_iter().find_map(|up| {
        let path = format!("/sys/dev/block/{major}:{minor}/{up}queue/logical_block_size");
        std::fs::read_to_string(path).ok()?.trim().parse().ok()
    })
}
