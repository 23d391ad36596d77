//! JFS: the superblock at 32 KiB.
//!
//! One idea: block sizes are stored with their logarithms, so that each vouches for the other.
//! Source: Linux, `fs/jfs/jfs_superblock.h`.

use super::facts::FileSystem;
use super::field;
use super::found::Found;
use crate::Parsed;
use crate::bytes::Block;
use crate::heads::Heads;

/// Place where the superblock stands. A copy at 60 KiB is not read.
const SUPERBLOCK_BYTES: u64 = 32 << 10;

/// The JFS on the volume.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    if !heads.has(SUPERBLOCK_BYTES, b"JFS1") {
        return None;
    }
    let superblock: Block<184> = heads.block(SUPERBLOCK_BYTES)?;
    let block_bytes = field::power_of_two(superblock.le32::<16>(), 512..=4096)?;
    let physical_bytes = field::power_of_two(superblock.le32::<24>(), 512..=4096)?;
    let [block_power, factor, physical_power] =
        [superblock.le16::<20>(), superblock.le16::<22>(), superblock.le16::<28>()];
    let plausible = u32::from(block_power) == block_bytes.ilog2()
        && u32::from(physical_power) == physical_bytes.ilog2()
        && physical_power.checked_add(factor) == Some(block_power);
    plausible.then_some(())?;
    Some(Parsed::sound(FileSystem {
        variant: Some(superblock.le32::<4>().to_string()),
        label: field::label(&superblock.array::<152, 16>()),
        id: field::uuid(superblock.array::<136, 16>()),
        block_bytes: Some(block_bytes),
        size_bytes: size_bytes(&superblock, block_bytes, physical_bytes),
        details: vec![("physical block", physical_bytes.to_string())],
        ..FileSystem::named("jfs")
    }))
}

/// The number of the device that its log is on where that is another, 0 where it names none.
/// `Some(None)` where the log is within; `None` where it is no JFS.
pub(super) fn log_device(heads: &Heads<'_>) -> Option<Option<u32>> {
    /// `JFS_INLINELOG`, Linux `fs/jfs/jfs_filsys.h`.
    const WITHIN: u32 = 0x800;
    if !heads.has(SUPERBLOCK_BYTES, b"JFS1") {
        return None;
    }
    let superblock: Block<184> = heads.block(SUPERBLOCK_BYTES)?;
    let is_within = superblock.le32::<36>() & WITHIN != 0;
    Some((!is_within).then(|| superblock.le32::<64>()))
}

/// The end of the aggregate, or of the work area and the log that follow it.
fn size_bytes(superblock: &Block<184>, block_bytes: u64, physical_bytes: u64) -> Option<u64> {
    let aggregate = superblock.le64::<8>().checked_mul(physical_bytes)?;
    let log = extent_end(superblock.le32::<72>(), superblock.le32::<76>());
    let work = extent_end(superblock.le32::<80>(), superblock.le32::<84>());
    Some(aggregate.max(log.max(work).checked_mul(block_bytes)?))
}

/// The block behind an extent: 24 bits of length, then 40 bits of address, the high byte first.
fn extent_end(first: u32, second: u32) -> u64 {
    let length = u64::from(first & 0x00ff_ffff);
    let address = u64::from(first >> 24) << 32 | u64::from(second);
    address + length
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::filesystem::hostile;

    fn volume() -> MemoryDisk {
        let mut disk = MemoryDisk::new(16 << 20);
        disk.put(32768, b"JFS1\x01");
        disk.put(32768 + 8, &32_000_u64.to_le_bytes());
        disk.put(32768 + 16, &[0, 0x10, 0, 0, 12, 0, 3, 0, 0, 2, 0, 0, 9, 0]);
        // The log: 16 blocks from 4080 on.
        disk.put(32768 + 72, &[16, 0, 0, 0, 0xf0, 0x0f, 0, 0]);
        disk.put(32768 + 136, &[0x11; 16]);
        disk.put(32768 + 152, b"music\0");
        disk
    }

    #[test]
    fn sizes_label_and_uuid_are_read_and_the_log_counts() {
        let found = read(&Heads::new(&volume())).unwrap().value;
        assert_eq!((found.block_bytes, found.size_bytes), (Some(4096), Some(4096 << 12)));
        assert_eq!(found.label, Some("music".into()));
        assert_eq!(found.id.as_deref(), Some("11111111-1111-1111-1111-111111111111"));
    }

    #[test]
    fn a_block_size_that_its_logarithm_denies_is_no_jfs() {
        let mut disk = volume();
        disk.put(32768 + 20, &[11]);
        assert!(read(&Heads::new(&disk)).is_none());
    }

    #[test]
    fn every_changed_or_cut_byte_is_answered() {
        hostile::answers_whatever_stands_in(&volume(), 32768..32768 + 184, read);
    }
}
