//! The log of an XFS on a device of its own.
//!
//! One idea: the log goes round, so a record may begin in any sector, and every sector begins with
//! a record's magic or with the number of the round. Source: Linux
//! `fs/xfs/libxfs/xfs_log_format.h`, `struct xlog_rec_header`; `libblkid/src/superblocks/xfs.c` for
//! how far to look.

use super::facts::{Beside, FileSystem};
use super::field;
use super::found::Found;
use crate::Parsed;
use crate::bytes::Block;
use crate::heads::Heads;

const MAGIC: u32 = 0xfeed_babe;
const SECTOR_BYTES: u64 = 512;

/// A record is at most 256 KiB long, so that many sectors hold a header.
const SECTORS_MAX: u64 = 512;

/// More rounds than logs go.
const ROUNDS_MAX: u32 = 1 << 24;

/// The log whose first record header stands within the first 256 KiB.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    let first = heads.block::<4>(0)?.be32::<0>();
    if first != MAGIC && !(1..ROUNDS_MAX).contains(&first) {
        return None;
    }
    let header = (0..SECTORS_MAX).find_map(|sector| header(heads, sector * SECTOR_BYTES))?;
    let id = field::uuid(header.array::<304, 16>());
    let beside = id.clone().map(Beside::LogOf);
    Some(Parsed::sound(FileSystem { id, beside, ..FileSystem::named("xfs_external_log") }))
}

/// The record header at `at_bytes`: its version and format are what Linux knows.
fn header(heads: &Heads<'_>, at_bytes: u64) -> Option<Block<512>> {
    let begins = heads.has(at_bytes, &MAGIC.to_be_bytes());
    let block = begins.then(|| heads.block::<512>(at_bytes)).flatten()?;
    let is_known = matches!(block.be32::<8>(), 1 | 2) && matches!(block.be32::<300>(), 1..=3);
    is_known.then_some(block)
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    fn log(at: u64) -> MemoryDisk {
        let mut disk = MemoryDisk::new(64 << 20);
        disk.put(0, &7_u32.to_be_bytes());
        disk.put(at, &MAGIC.to_be_bytes());
        disk.put(at + 8, &2_u32.to_be_bytes());
        disk.put(at + 300, &1_u32.to_be_bytes());
        disk.put(at + 304, &[0x33; 16]);
        disk
    }

    #[test]
    fn a_record_may_begin_in_any_of_the_first_sectors() {
        for at in [0, 512, 511 * 512] {
            let found = read(&Heads::new(&log(at))).unwrap().value;
            assert_eq!(found.kind, "xfs_external_log");
            assert_eq!(found.beside, found.id.map(Beside::LogOf), "{at}");
        }
        assert!(read(&Heads::new(&log(512 * 512))).is_none());
    }

    #[test]
    fn a_header_of_an_unknown_version_or_format_is_none() {
        for at in [8, 300] {
            let mut disk = log(512);
            disk.put(512 + at, &[0xff; 4]);
            assert!(read(&Heads::new(&disk)).is_none(), "{at}");
        }
    }
}
