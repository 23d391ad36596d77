//! Copies of superblocks: where the volume started of which only a copy is left.
//!
//! Those of ext4 and XFS say of which group they are, those of btrfs at which byte they are; those
//! of FAT32, exFAT and NTFS are at one distance from an end of their volume.
//!
//! Source: `e2fsprogs/misc/mke2fs.c` (`sparse_super`), `libxfs/xfs_format.h` of xfsprogs (`struct
//! xfs_agf`), `btrfs_sb_offset` of btrfs-progs, Microsoft's specifications of FAT
//! (`BPB_BkBootSec`) and exFAT (3.1), Linux `fs/ntfs3/super.c` (the alternative boot sector).

use device::{Disk, disk};

use super::{LostVolume, SECTOR, SuperblockCopy, from};
use crate::bytes::{self, Block};
use crate::filesystem::{self, FileSystem};
use crate::heads::Heads;

/// Distances from a volume's start at which ext's second block group has its superblock, for
/// blocks of 1, 2 and 4 KiB.
const EXT_GROUPS: [u64; 3] = [8193 << 10, 32 << 20, 128 << 20];

/// Places of the first superblocks of ext and btrfs.
const EXT_AT: u64 = 1024;
const BTRFS_AT: u64 = 64 << 10;

/// Places of the copies of btrfs's superblock.
const BTRFS_COPIES_AT: [u64; 2] = [64 << 20, 256 << 30];

/// Readers of FAT and exFAT, and the number of sectors from the boot sector to its copy.
const BOOT_COPIES: [(&str, u64); 2] = [("fat", 6), ("exfat", 12)];

/// The volume of which a copy of the superblock is at `place`, or where a first one would be in a
/// volume that starts there.
pub(super) fn at(disk: &dyn Disk, place: u64) -> Option<LostVolume> {
    ext_at(disk, place)
        .or_else(|| ext_at(disk, place.checked_add(EXT_AT)?))
        .or_else(|| xfs_at(disk, place))
        .or_else(|| btrfs_at(disk, place))
}

/// Returns whether one of the copies near the start of a volume may be there: FAT32's or exFAT's.
pub(super) fn is_near(disk: &dyn Disk, start: u64) -> bool {
    boot_copy_of(disk, start).is_some()
}

/// The volume that started at `start`, of which only a copy of its superblock is left.
pub(super) fn of_volume(disk: &dyn Disk, start: u64) -> Option<LostVolume> {
    let groups = EXT_GROUPS.into_iter().map(|group| ext_at(disk, start.checked_add(group)?));
    let btrfs = BTRFS_COPIES_AT.into_iter().map(|copy| btrfs_at(disk, start.checked_add(copy)?));
    let found = groups.chain(btrfs).flatten();
    boot_copy_of(disk, start).or_else(|| found.into_iter().find(|one| one.start_bytes == start))
}

/// The volume of which an ext superblock at `at` is a copy.
fn ext_at(disk: &dyn Disk, at: u64) -> Option<LostVolume> {
    let block: Block<128> = bytes::block(&disk::read_array::<128>(disk, at).ok()?)?;
    let group = u64::from(block.le16::<0x5a>());
    if block.le16::<0x38>() != 0xef53 || group == 0 {
        return None;
    }
    let block_bytes = 1024_u64.checked_shl(block.le32::<0x18>()).filter(|&it| it <= 64 << 10)?;
    let first = u64::from(block.le32::<0x14>());
    let number = group.checked_mul(block.le32::<0x20>().into())?.checked_add(first)?;
    let start = at.checked_sub(number.checked_mul(block_bytes)?)?;
    let system = system_at(disk, at.checked_sub(EXT_AT)?, "ext")?;
    Some(lost(&system, start, at))
}

/// The volume of which an XFS superblock at `at` is a copy: the header of its group's free space
/// follows it, and has the group's number.
fn xfs_at(disk: &dyn Disk, at: u64) -> Option<LostVolume> {
    let head: Block<128> = bytes::block(&disk::read_array::<128>(disk, at).ok()?)?;
    if head.array::<0, 4>() != *b"XFSB" {
        return None;
    }
    let free = at.checked_add(u64::from(head.be16::<102>()))?;
    let free: Block<12> = bytes::block(&disk::read_array::<12>(disk, free).ok()?)?;
    let group = u64::from(free.be32::<8>());
    let group = Some(group).filter(|&group| free.array::<0, 4>() == *b"XAGF" && group > 0)?;
    let system = system_at(disk, at, "xfs")?;
    let start = at.checked_sub(system.xfs?.group_bytes.checked_mul(group)?)?;
    Some(lost(&system, start, at))
}

/// The volume of which a btrfs superblock at `at` is a copy.
fn btrfs_at(disk: &dyn Disk, at: u64) -> Option<LostVolume> {
    let block: Block<72> = bytes::block(&disk::read_array::<72>(disk, at).ok()?)?;
    let own = Some(block.le64::<48>()).filter(|&own| own > BTRFS_AT)?;
    let start = at.checked_sub(own).filter(|_| block.array::<64, 8>() == *b"_BHRfS_M")?;
    let system = system_at(disk, at.checked_sub(BTRFS_AT)?, "btrfs")?;
    Some(lost(&system, start, at))
}

/// The FAT32 or exFAT that started at `start`, of which only the copy of its boot sector is left.
fn boot_copy_of(disk: &dyn Disk, start: u64) -> Option<LostVolume> {
    let places = BOOT_COPIES.into_iter().flat_map(|one| [(one, SECTOR), (one, 4096)]);
    places.into_iter().find_map(|((reader, sectors), sector_bytes)| {
        let at = start.checked_add(sectors * sector_bytes)?;
        let system = system_at(disk, at, reader)?;
        (system.sector_bytes == Some(sector_bytes)).then(|| lost(&system, start, at))
    })
}

/// The NTFS whose boot sector's copy is the last sector before `end`.
pub(super) fn ntfs_that_ends_at(disk: &dyn Disk, end: u64) -> Option<LostVolume> {
    let at = end.checked_sub(SECTOR)?;
    let system = system_at(disk, at, "ntfs")?;
    let bytes = system.size_bytes?;
    let length_bytes = bytes.checked_add(SECTOR);
    Some(LostVolume { length_bytes, ..lost(&system, at.checked_sub(bytes)?, at) })
}

/// The file system that `reader` finds, as if its volume started at `at`.
fn system_at(disk: &dyn Disk, at: u64, reader: &str) -> Option<FileSystem> {
    let (_, read) = filesystem::COMMON.iter().find(|(name, _)| *name == reader)?;
    read(&Heads::new(&from(disk, at)?)).map(|found| found.value)
}

fn lost(system: &FileSystem, start_bytes: u64, at_bytes: u64) -> LostVolume {
    LostVolume {
        what: system.kind.to_owned(),
        start_bytes,
        length_bytes: system.size_bytes,
        copy: Some(SuperblockCopy { at_bytes, block_bytes: system.block_bytes }),
    }
}
