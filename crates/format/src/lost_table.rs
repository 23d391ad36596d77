//! Volumes that no partition table lists: what is left of a disk whose table was lost.
//!
//! Looked for where partitioners start a first partition, and after each volume whose length is
//! known; where nothing is at such a place, where a copy of its superblock would be: ext4's in
//! block group 1, FAT32's in sector 6, NTFS's in its last sector. Nothing else is read: a disk
//! on which nothing is found may still hold volumes.
//!
//! Source: `e2fsprogs/misc/mke2fs.c` (`sparse_super`), Microsoft's FAT specification
//! (`BPB_BkBootSec`), Linux `fs/ntfs3/super.c` (the alternative boot sector).

use std::collections::BTreeSet;

use device::{Disk, Window, disk};
use units::prefix::Exact;
use units::{ByteRange, SectorSize};

use crate::bytes::{self, Block};
use crate::filesystem::{self, FileSystem};
use crate::probe::{self, Hint, ProbedContent};
use crate::table::bsd::Counting;

const SECTOR: u64 = 512;
const MIB: u64 = 1 << 20;

/// Places where a first partition starts: sector 63 and, since about 2008, whole MiB; boards leave
/// room for a boot loader, and Windows for its reserved partition.
const FIRST_STARTS: [u64; 9] =
    [0, 63 * SECTOR, 64 * SECTOR, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 17 * MIB];

/// The most places that are looked at.
const PLACES_MAX: usize = 64;

/// Bytes of ext4's blocks, and the byte of the volume at which its second block group starts.
const EXT_GROUPS: [(u64, u64); 3] = [(1024, 8193 << 10), (2048, 32 << 20), (4096, 128 << 20)];

/// A volume that no table lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostVolume {
    /// Its kind, in a few words: `ext4`, `LUKS2`.
    pub what: String,
    /// The byte at which it starts.
    pub start_bytes: u64,
    /// Its length, where its superblock says it.
    pub length_bytes: Option<u64>,
    /// The byte at which a copy of its superblock is, where only that was found.
    pub copy_at_bytes: Option<u64>,
}

/// Returns the volumes on `disk`, by their starts. `disk` is one on which no partition and no
/// volume was found, or none in force.
#[must_use]
pub fn volumes(disk: &dyn Disk) -> Vec<LostVolume> {
    let mut found: Vec<LostVolume> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut places: Vec<u64> = FIRST_STARTS.into_iter().rev().collect();
    while let Some(start) = places.pop().filter(|_| seen.len() < PLACES_MAX) {
        let is_within = |one: &LostVolume| {
            let end = one.length_bytes.map_or(start, |bytes| one.start_bytes.saturating_add(bytes));
            (one.start_bytes..end).contains(&start)
        };
        if !seen.insert(start) || found.iter().any(is_within) {
            continue;
        }
        let Some(volume) = volume_at(disk, start).or_else(|| copy_of(disk, start)) else {
            continue;
        };
        places.extend(next_starts(&volume));
        found.push(volume);
    }
    if found.is_empty() {
        found.extend(ntfs_before_the_end(disk));
    }
    found.sort_by_key(|one| one.start_bytes);
    found
}

/// Returns why a disk with `volumes` is not empty: `no partition table lists what is on it: vfat at
/// 1 MiB`.
#[must_use]
pub fn reason(volumes: &[LostVolume]) -> String {
    let words = |one: &LostVolume| match one.copy_at_bytes {
        None => format!("{} at {}", one.what, Exact(one.start_bytes)),
        Some(at) => format!("a copy of the superblock of {} at {}", one.what, Exact(at)),
    };
    let found = volumes.iter().map(words).collect::<Vec<_>>().join(", ");
    format!("no partition table lists what is on it: {found}")
}

/// Places where a partition starts that follows `volume`: the last is looked at first.
fn next_starts(volume: &LostVolume) -> Vec<u64> {
    let end = volume.length_bytes.and_then(|bytes| volume.start_bytes.checked_add(bytes));
    let Some(end) = end.filter(|end| *end < u64::MAX - 2 * MIB) else { return Vec::new() };
    let whole = end.next_multiple_of(MIB);
    // A logical partition has a record before it.
    vec![end + 63 * SECTOR, whole + MIB, whole, end]
}

/// The bytes of `disk` from `start` to its end, if there are any.
fn from(disk: &dyn Disk, start: u64) -> Option<Window<&dyn Disk>> {
    let length = disk.length_bytes().checked_sub(start).filter(|&length| length > 0)?;
    Some(Window::new(disk, ByteRange::new(start, length)?))
}

/// Returns whether every place near `start` that holds a superblock is zero or cannot be read.
fn is_blank_at(disk: &dyn Disk, start: u64) -> bool {
    let is_blank = |at: Option<u64>| {
        let piece = at.and_then(|at| disk::read_array::<4096>(disk, at).ok());
        piece.is_none_or(|piece| disk::is_filled_with(&piece, 0))
    };
    is_blank(Some(start)) && is_blank(start.checked_add(64 << 10))
}

/// The volume that starts at `start`: one whose own head says so.
fn volume_at(disk: &dyn Disk, start: u64) -> Option<LostVolume> {
    // What starts with the disk is no volume of a lost table, and was found already.
    if start == 0 || is_blank_at(disk, start) {
        return None;
    }
    let window = from(disk, start)?;
    let counting = Counting::Unknown;
    let hint = Hint { sector: SectorSize::B512, start_bytes: start, counting, tables: false };
    let reading = probe::read(&window, hint);
    let has_head = |content: &&ProbedContent| match content {
        ProbedContent::FileSystem(system) => system.kind != "zfs_member",
        ProbedContent::Luks(luks) => luks.header_at_bytes == 0,
        ProbedContent::Lvm(_) | ProbedContent::Bcache(_) => true,
        _ => false,
    };
    let content = reading.contents().find(has_head)?;
    let length_bytes = match content {
        // The last sector, with the copy of the boot sector, is not counted.
        ProbedContent::FileSystem(system) if system.kind == "ntfs" => {
            system.size_bytes.and_then(|bytes| bytes.checked_add(SECTOR))
        }
        ProbedContent::FileSystem(system) => system.size_bytes,
        _ => None,
    };
    let what = content.words();
    Some(LostVolume { what, start_bytes: start, length_bytes, copy_at_bytes: None })
}

/// The volume that started at `start`, of which only a copy of its superblock is left there.
fn copy_of(disk: &dyn Disk, start: u64) -> Option<LostVolume> {
    let fat = start.checked_add(6 * SECTOR);
    let fat = fat.and_then(|at| Some((at, system_at(disk, at, "vfat")?)));
    let found = fat.or_else(|| {
        EXT_GROUPS.into_iter().find_map(|(block_bytes, group)| {
            let at = start.checked_add(group)?;
            let block: Block<128> = bytes::block(&disk::read_array::<128>(disk, at).ok()?)?;
            let shift = block.le32::<0x18>();
            // The number of the group that holds the copy.
            let is_first_copy = block.le16::<0x38>() == 0xef53
                && block.le16::<0x5a>() == 1
                && 1024_u64.checked_shl(shift) == Some(block_bytes);
            let system = is_first_copy.then(|| system_at(disk, at - 1024, "ext"))??;
            Some((at, system))
        })
    });
    let (at, system) = found?;
    Some(LostVolume {
        what: system.kind.to_owned(),
        start_bytes: start,
        length_bytes: system.size_bytes,
        copy_at_bytes: Some(at),
    })
}

/// The file system whose name begins with `kind`, as if its volume started at `at`.
fn system_at(disk: &dyn Disk, at: u64, kind: &str) -> Option<FileSystem> {
    let found = filesystem::read(&from(disk, at)?).into_iter();
    found.map(|found| found.value).find(|system| system.kind.starts_with(kind))
}

/// An NTFS whose boot sector's copy is where the last partition of a disk ends.
fn ntfs_before_the_end(disk: &dyn Disk) -> Option<LostVolume> {
    let length = disk.length_bytes();
    let backup_gpt = length.checked_sub(33 * SECTOR);
    let ends = [Some(length), backup_gpt, Some(length.div_euclid(MIB) * MIB)];
    let last_whole = length.checked_sub(1).map(|last| last.div_euclid(MIB) * MIB);
    ends.into_iter().chain([last_whole]).flatten().find_map(|end| {
        let at = end.checked_sub(SECTOR)?;
        let system = system_at(disk, at, "ntfs")?;
        let bytes = system.size_bytes?;
        let start_bytes = at.checked_sub(bytes)?;
        let length_bytes = bytes.checked_add(SECTOR);
        let copy_at_bytes = Some(at);
        Some(LostVolume { what: system.kind.to_owned(), start_bytes, length_bytes, copy_at_bytes })
    })
}
