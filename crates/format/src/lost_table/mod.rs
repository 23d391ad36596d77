//! Volumes that no partition table lists: what is left of a disk whose table was lost.
//!
//! Looked for where partitioners start a first partition, at each whole MiB of the first
//! [`SCANNED_MIB`], and after each volume whose length is known. At the usual starts, all places
//! of superblocks are read, and those of copies; at the others, the first bytes alone. Nothing else
//! is read: a disk on which nothing is found may still hold volumes.

use std::collections::BTreeSet;
use std::ops::Range;

use device::{Disk, Window, disk};
use units::prefix::Exact;
use units::{ByteRange, SectorSize};

use crate::member::md::MdVersion;
use crate::probe::{self, Hint, ProbedContent};
use crate::signature;
use crate::table::bsd::Counting;

mod copies;

const SECTOR: u64 = 512;
const MIB: u64 = 1 << 20;

/// Places where a first partition starts: sector 63 and, since about 2008, whole MiB; the first
/// usable sectors of a GPT; boards leave room for a boot loader, and Windows for its reserved
/// partition.
const FIRST_STARTS: [u64; 13] = [
    0,
    34 * SECTOR,
    40 * SECTOR,
    63 * SECTOR,
    64 * SECTOR,
    128 * SECTOR,
    256 * SECTOR,
    MIB,
    2 * MIB,
    4 * MIB,
    8 * MIB,
    16 * MIB,
    17 * MIB,
];

/// Number of whole MiB from the start of a disk at which a volume is looked for: enough for one
/// after a first partition of 1 GiB.
pub const SCANNED_MIB: u64 = 1088;

/// Everything that is read of a disk before it is called blank, here and by
/// [`crate::blank::is_blank`].
pub const READ: &str =
    "the first and last MiB, the start of each MiB up to 1088 MiB, and 64 places between";

/// Parts of a volume that are read first, by their distance from its start: together they hold
/// nearly all superblocks.
const PIECES: [Range<usize>; 2] = [0..36 << 10, 64 << 10..68 << 10];

/// Bytes at the end of a disk that a backup GPT may take.
const BACKUP_GPT_BYTES: u64 = 20 << 10;

/// The most usual starts that are looked at, and the most volumes that are listed.
const PLACES_MAX: usize = 64;

/// A volume that no table lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostVolume {
    /// Its kind, in a few words: `ext4`, `LUKS2`.
    pub what: String,
    /// The byte at which it starts.
    pub start_bytes: u64,
    /// Its length, where its superblock says it.
    pub length_bytes: Option<u64>,
    /// The copy of its superblock, where only that was found.
    pub copy: Option<SuperblockCopy>,
}

/// A copy of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperblockCopy {
    /// The byte of the disk at which it is.
    pub at_bytes: u64,
    /// The block size of its file system, where it has one.
    pub block_bytes: Option<u64>,
}

/// Finds on a disk whose table lists nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unlisted {
    /// The volumes, by their starts.
    pub volumes: Vec<LostVolume>,
    /// The first start at which bytes are not zero, and no volume was recognized.
    pub data_at_bytes: Option<u64>,
}

/// Returns what is on `disk`, which is one on which no partition and no volume was found, or none
/// in force.
#[must_use]
pub fn unlisted(disk: &dyn Disk) -> Unlisted {
    let (seen, found, head) = (BTreeSet::new(), Unlisted::default(), VolumeHead::new());
    let mut search = Search { disk, seen, found, head };
    search.visit_all(FIRST_STARTS.into_iter().rev().collect());
    let whole = disk.length_bytes().div_euclid(MIB).min(SCANNED_MIB);
    for start in (1..=whole).map(|number| number * MIB) {
        search.scan(start);
    }
    let Unlisted { mut volumes, data_at_bytes } = search.found;
    if volumes.is_empty() {
        volumes.extend(ends(disk).find_map(|end| copies::ntfs_that_ends_at(disk, end)));
    }
    volumes.sort_by_key(|one| one.start_bytes);
    Unlisted { volumes, data_at_bytes }
}

/// Returns whether what looks like a file system that starts at byte `start` is a copy of the
/// superblock of one that starts elsewhere.
#[must_use]
pub fn is_copy_at(disk: &dyn Disk, start: u64) -> bool {
    copies::at(disk, start).is_some_and(|volume| volume.start_bytes != start)
}

/// Returns why a disk with `volumes` is not empty: `no partition table lists what is on it: vfat at
/// 1 MiB`.
#[must_use]
pub fn reason(volumes: &[LostVolume]) -> String {
    let words = |one: &LostVolume| match one.copy {
        None => format!("{} at {}", one.what, Exact(one.start_bytes)),
        Some(copy) => {
            format!("a copy of the superblock of {} at {}", one.what, Exact(copy.at_bytes))
        }
    };
    let found = volumes.iter().map(words).collect::<Vec<_>>().join(", ");
    match has_lost_superblock(volumes) {
        true => format!("the first superblock is lost, and a copy is left: {found}"),
        false => format!("no partition table lists what is on it: {found}"),
    }
}

/// Returns whether `volumes` is one file system that takes the whole disk, without a table, and
/// lost its first superblock.
#[must_use]
pub fn has_lost_superblock(volumes: &[LostVolume]) -> bool {
    matches!(volumes, [LostVolume { start_bytes: 0, copy: Some(_), .. }])
}

/// A search for the volumes on a disk.
struct Search<'a> {
    disk: &'a dyn Disk,
    seen: BTreeSet<u64>,
    found: Unlisted,
    head: VolumeHead,
}

impl Search<'_> {
    /// Looks at the last of `places` first, and at those that follow each volume that is found.
    fn visit_all(&mut self, mut places: Vec<u64>) {
        while let Some(start) = places.pop() {
            if self.seen.len() < PLACES_MAX && !self.is_known(start) && self.seen.insert(start) {
                places.extend(self.visit(start).iter().flat_map(next_starts));
            }
        }
    }

    /// Looks for a volume at `start`, wherever its superblock or a copy would be.
    fn visit(&mut self, start: u64) -> Option<LostVolume> {
        let disk = self.disk;
        let volume = copies::at(disk, start)
            .or_else(|| volume_at(disk, start))
            .or_else(|| volume_to_an_end(disk, start))
            .or_else(|| copies::of_volume(disk, start));
        let volume = volume.filter(|_| self.found.volumes.len() < PLACES_MAX);
        if let Some(volume) = &volume {
            self.found.volumes.push(volume.clone());
        } else if self.head.read(disk, start) {
            self.note_data(start);
        }
        volume
    }

    /// Looks for a volume at `start` by its first bytes.
    fn scan(&mut self, start: u64) {
        if self.is_known(start) || !self.head.read(self.disk, start) {
            return;
        }
        let copy = copies::at(self.disk, start).is_some();
        if copy || copies::is_near(self.disk, start) || !signature::marks(&self.head.0).is_empty() {
            let found = self.visit(start);
            self.visit_all(found.iter().flat_map(next_starts).collect());
        } else {
            self.note_data(start);
        }
    }

    fn note_data(&mut self, start: u64) {
        let before = self.found.data_at_bytes.unwrap_or(u64::MAX);
        // What starts with the disk is judged by all of its first MiB.
        if start > 0 {
            self.found.data_at_bytes = Some(before.min(start));
        }
    }

    /// Returns whether `start` was looked at, or is in a volume that was found.
    fn is_known(&self, start: u64) -> bool {
        self.seen.contains(&start)
            || self.found.volumes.iter().any(|one| {
                let end = one.length_bytes.map(|bytes| one.start_bytes.saturating_add(bytes));
                one.start_bytes == start || (one.start_bytes..end.unwrap_or(start)).contains(&start)
            })
    }
}

/// Places where a partition starts that follows `volume`: the last is looked at first.
fn next_starts(volume: &LostVolume) -> Vec<u64> {
    let end = volume.length_bytes.and_then(|bytes| volume.start_bytes.checked_add(bytes));
    let Some(end) = end.filter(|end| *end < u64::MAX - 2 * MIB) else { return Vec::new() };
    let whole = end.next_multiple_of(MIB);
    // A logical partition has a record before it.
    vec![end + 63 * SECTOR, whole + MIB, whole, end]
}

/// Places where the last partition of a disk ends.
fn ends(disk: &dyn Disk) -> impl Iterator<Item = u64> + use<> {
    let length = disk.length_bytes();
    let whole = |bytes: u64| bytes.div_euclid(MIB) * MIB;
    let backup_gpt = length.checked_sub(33 * SECTOR);
    let ends = [Some(length), backup_gpt, Some(whole(length)), length.checked_sub(1).map(whole)];
    ends.into_iter().flatten()
}

/// The bytes of `disk` from `start` to its end, if there are any.
fn from(disk: &dyn Disk, start: u64) -> Option<Window<&dyn Disk>> {
    between(disk, start, disk.length_bytes())
}

fn between(disk: &dyn Disk, start: u64, end: u64) -> Option<Window<&dyn Disk>> {
    let length = end.checked_sub(start).filter(|&length| length > 0)?;
    Some(Window::new(disk, ByteRange::new(start, length)?))
}

/// The first bytes of a volume: the [`PIECES`], each at its place, and zeros between them, where
/// bytes cannot be read, and where a backup GPT may be.
struct VolumeHead(Vec<u8>);

impl VolumeHead {
    fn new() -> VolumeHead {
        VolumeHead(vec![0; PIECES[1].end])
    }

    /// Reads that of a volume at `start`; returns whether a byte is not zero.
    fn read(&mut self, disk: &dyn Disk, start: u64) -> bool {
        let end = disk.length_bytes().saturating_sub(BACKUP_GPT_BYTES);
        let mut is_used = false;
        for range in PIECES {
            let at = start.saturating_add(u64::try_from(range.start).unwrap_or(u64::MAX));
            let piece = &mut self.0[range];
            let there = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
            let (read, rest) = piece.split_at_mut(there.min(piece.len()));
            rest.fill(0);
            if disk.read_at(at, read).is_err() {
                read.fill(0);
            }
            is_used |= !disk::is_filled_with(read, 0);
        }
        is_used
    }
}

/// The volume that starts at `start`: one whose own head says so.
fn volume_at(disk: &dyn Disk, start: u64) -> Option<LostVolume> {
    // What starts with the disk is no volume of a lost table, and was found already.
    let length = disk.length_bytes().checked_sub(start).filter(|_| start > 0)?;
    let contents = |window: &Window<&dyn Disk>| -> Vec<ProbedContent> {
        let counting = Counting::Unknown;
        let hint = Hint { sector: SectorSize::B512, start_bytes: start, counting, tables: false };
        probe::read(window, hint).contents().cloned().collect()
    };
    let found = contents(&from(disk, start)?);
    if found.is_empty() {
        return None;
    }
    // What is known by its end alone has its end elsewhere: it is not found in a shorter part.
    let shorter = contents(&between(disk, start, start + length.div_ceil(2))?);
    let is_at_head = |one: &&ProbedContent| shorter.iter().any(|it| it.words() == one.words());
    let content = found.iter().filter(is_at_head).find(|one| has_start(one))?;
    let copy = match content {
        ProbedContent::Luks(luks) if luks.header_at_bytes > 0 => Some(SuperblockCopy {
            at_bytes: start.checked_add(luks.header_at_bytes)?,
            block_bytes: None,
        }),
        _ => None,
    };
    let length_bytes = content_length(content);
    let what = match (content, copy) {
        (ProbedContent::Luks(luks), Some(_)) => format!("LUKS{}", luks.version),
        _ => content.words(),
    };
    Some(LostVolume { what, start_bytes: start, length_bytes, copy })
}

/// Returns whether `content` is a volume that starts where it was looked for.
fn has_start(content: &ProbedContent) -> bool {
    match content {
        ProbedContent::Md(member) => {
            matches!(member.version, MdVersion::V11 | MdVersion::V12)
                && member.belongs_here() == Some(true)
        }
        ProbedContent::Table(_) | ProbedContent::Named(_) => false,
        _ => true,
    }
}

/// The bytes that a volume takes, where it says so.
fn content_length(content: &ProbedContent) -> Option<u64> {
    match content {
        // The last sector, with the copy of the boot sector, is not counted.
        ProbedContent::FileSystem(system) if system.kind == "ntfs" => {
            system.size_bytes.and_then(|bytes| bytes.checked_add(SECTOR))
        }
        ProbedContent::FileSystem(system) => system.size_bytes,
        ProbedContent::Lvm(volume) => Some(volume.device_bytes).filter(|&bytes| bytes > 0),
        ProbedContent::Md(member) => member.data_offset_bytes.checked_add(member.data_bytes),
        _ => None,
    }
}

/// The member of an md array that starts at `start` and has its superblock where the last
/// partition of the disk ends, and says so (1.0).
fn volume_to_an_end(disk: &dyn Disk, start: u64) -> Option<LostVolume> {
    ends(disk).filter(|_| start > 0).find_map(|end| {
        let found = crate::member::md::read(&between(disk, start, end)?)?;
        let is_here =
            found.value.version == MdVersion::V10 && found.value.belongs_here() == Some(true);
        is_here.then(|| LostVolume {
            what: ProbedContent::Md(found.value).words(),
            start_bytes: start,
            length_bytes: end.checked_sub(start),
            copy: None,
        })
    })
}
