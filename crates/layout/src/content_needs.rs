//! The bytes that the content of a partition needs, and why its length must stay, if it must.
//!
//! One idea: whatever is found from a partition's end is lost where that end moves. So an end moves
//! only where all content is recognized and counts from its start, and zeros follow it; or where
//! the partition is blank.
//!
//! Sources for members: Linux, `drivers/md/md.c` (md 0.90 and 1.0 from the end, 1.1 and 1.2 from
//! the start), `drivers/md/dm-integrity.c` (`provided_data_sectors` in the superblock),
//! `drivers/md/bcache/super.c` (what a backing device holds ends where it ends); LVM2,
//! `lib/format_text` (all areas by their offset from the start); cryptsetup, `docs/on-disk-format`
//! (both LUKS2 headers at the start, the data up to the end). For file systems:
//! [`format::filesystem::volume_end`].

use device::{Disk, ReadError, disk};
use format::blank;
use format::filesystem::{FileSystem, VolumeEnd, volume_end};
use format::member::luks::Luks;
use format::member::md::MdVersion;
use format::named::Class;
use stack::{LayerId, LayerKind, Stack};
use units::ByteRange;

use crate::in_the_way::used_byte;

/// Length of the end that has to be zeros where content could follow, in bytes: all formats that
/// are found from an end are within it.
const NEAR_END_BYTES: u64 = 1 << 20;
/// The most that is read of an end, and so the most that is cut, in bytes.
const END_BYTES_MAX: u64 = 16 << 20;
/// Bytes that are read at once.
const PIECE_BYTES: u64 = 64 << 10;
/// The longest partition that is read in full to know that it is blank, in bytes.
const BLANK_BYTES_MAX: u64 = 16 << 30;

const FOUND_FROM_END: &str = "a superblock is found from its end";
const SEVERAL: &str = "more than one content is recognized in it";
const UNKNOWN: &str = "its content is not recognized";
const INNER: &str = "its content may be found from its end";
const FOLLOWED: &str = "bytes after its content are not zero";
const UNREADABLE: &str = "its end cannot be read";
const UNREAD: &str = "not all of it was read";
const UNTOLD: &str = "nothing tells how much of it is used";

/// Content of a partition, as far as the partition's length depends on it.
#[derive(Clone, Debug)]
pub(crate) struct ContentNeeds {
    /// Its name; `None` where nothing is recognized.
    pub(crate) content: Option<String>,
    /// The bytes that it needs; never more than the partition has.
    pub(crate) least: u64,
    /// The most bytes that it may get: from then on nothing tells how much of them it uses, so that
    /// nobody could take them back.
    pub(crate) most: u64,
    /// Why the partition's length must stay; `None` where it need not.
    pub(crate) exact: Option<&'static str>,
}

/// Recognized content, before the partition's bytes are read.
struct Recognized {
    word: String,
    /// The bytes that it uses from the start on; `None` where that is not known.
    used: Option<u64>,
    /// True if it uses all that it gets.
    is_greedy: bool,
    exact: Option<&'static str>,
}

impl ContentNeeds {
    /// The content of a partition of `length` bytes, with what the bytes of its `volume` say. Where
    /// none is given they are taken for zeros. Without content, a multiple of `end_unit` bytes
    /// stays: only another length is worth reading the whole partition.
    pub(crate) fn new(
        stack: &Stack,
        id: LayerId,
        length: u64,
        volume: Option<&dyn Disk>,
        end_unit: u64,
    ) -> ContentNeeds {
        let above = stack.above(id);
        let [only] = above[..] else {
            let names: Vec<&str> = above.iter().map(|&id| stack.layer(id).kind.word()).collect();
            let content = (!names.is_empty()).then(|| names.join(" + "));
            let exact = match &content {
                Some(_) => Some(SEVERAL),
                None if length.is_multiple_of(end_unit) => volume.map(|_| UNREAD),
                None => volume.and_then(kept_unless_blank),
            };
            return ContentNeeds { content, least: length, most: u64::MAX, exact };
        };
        let Recognized { word, used, is_greedy, exact } =
            recognized(&stack.layer(only).kind, length);
        let content = Some(word);
        let is_alone = stack.layer(id).also.is_empty();
        let (least, exact) = match exact.or((!is_alone).then_some(SEVERAL)) {
            Some(why) => (length, Some(why)),
            None => with_zeros(used, length, volume),
        };
        let most = if is_greedy { length } else { u64::MAX };
        ContentNeeds { content, least, most, exact }
    }
}

fn recognized(kind: &LayerKind, length: u64) -> Recognized {
    let all = |word: &str, exact| Recognized {
        word: word.to_owned(),
        used: None,
        is_greedy: true,
        exact,
    };
    match kind {
        LayerKind::FileSystem(system) | LayerKind::Swap(system) => file_system(system, length),
        LayerKind::MdMember(member) => {
            let is_at_start = matches!(member.version, MdVersion::V11 | MdVersion::V12);
            all("md member", (!is_at_start).then_some(FOUND_FROM_END))
        }
        LayerKind::LvmPhysical(volume) => {
            let size = Some(volume.device_bytes).filter(|size| (1..=length).contains(size));
            Recognized { used: size, is_greedy: false, ..all("LVM physical volume", None) }
        }
        LayerKind::Luks(luks) => {
            let used = whole_sectors(luks, length);
            Recognized { used, ..all(&format!("LUKS{}", luks.version), None) }
        }
        LayerKind::Integrity(_) => all(kind.word(), None),
        LayerKind::Named(entry) if entry.class == Class::Raid => {
            all(kind.word(), Some(FOUND_FROM_END))
        }
        other => all(other.word(), Some(INNER)),
    }
}

fn file_system(system: &FileSystem, length: u64) -> Recognized {
    // The copy of an NTFS boot sector stands after the volume.
    let tail = if system.kind == "ntfs" { system.sector_bytes.unwrap_or(512) } else { 0 };
    let size = system.size_bytes.filter(|&size| size > 0);
    let used = size.and_then(|size| size.checked_add(tail)).filter(|&used| used <= length);
    let exact = match volume_end(system.kind) {
        VolumeEnd::Free => None,
        VolumeEnd::Superblock => Some(FOUND_FROM_END),
        VolumeEnd::Unknown => Some(INNER),
    };
    Recognized { word: system.kind.to_owned(), used, is_greedy: false, exact }
}

/// Returns the bytes that a LUKS container of `length` bytes with sectors longer than 512 bytes
/// uses: dm-crypt leaves out what is no whole sector. `None` for other containers, which use all.
fn whole_sectors(luks: &Luks, length: u64) -> Option<u64> {
    let [segment] = &luks.segments[..] else { return None };
    let is_long = segment.sector_bytes > 512 && segment.length_bytes.is_none();
    let data = length.checked_sub(segment.offset_bytes).filter(|_| is_long)?;
    length.checked_sub(data.checked_rem(segment.sector_bytes)?)
}

/// Returns the least length of a partition of `length` bytes whose content uses the first `used`,
/// and why that must stay: only zeros are cut, and only an end of zeros moves.
fn with_zeros(
    used: Option<u64>,
    length: u64,
    volume: Option<&dyn Disk>,
) -> (u64, Option<&'static str>) {
    let Some(used) = used else { return (length, volume.map(|_| UNTOLD)) };
    let Some(volume) = volume else { return (used, None) };
    let after = length - used;
    match zeros_at_end(volume, after.min(END_BYTES_MAX)) {
        Ok(zeros) if zeros >= after.min(NEAR_END_BYTES) => (used.max(length - zeros), None),
        Ok(_) => (length, Some(FOLLOWED)),
        Err(_) => (length, Some(UNREADABLE)),
    }
}

/// Why a partition in which nothing is recognized keeps its length; `None` where all of it is
/// zeros.
fn kept_unless_blank(volume: &dyn Disk) -> Option<&'static str> {
    match blank::is_blank(volume) {
        Ok(true) if volume.length_bytes() > BLANK_BYTES_MAX => Some(UNREAD),
        Ok(true) => {
            let all = ByteRange::new(0, volume.length_bytes())?;
            used_byte(volume, all, false).map(|found| if found.is_read { UNKNOWN } else { UNREAD })
        }
        Ok(false) => Some(UNKNOWN),
        Err(_) => Some(UNREADABLE),
    }
}

/// Returns the number of zeros at the end of `volume`, of which `most` bytes are read.
fn zeros_at_end(volume: &dyn Disk, most: u64) -> Result<u64, ReadError> {
    let length = volume.length_bytes();
    let mut zeros = 0;
    while zeros < most {
        let piece = PIECE_BYTES.min(most - zeros);
        let bytes = disk::read_vec(volume, length - zeros - piece, piece)?;
        let found = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
        zeros += u64::try_from(found).unwrap_or(piece);
        if found < bytes.len() {
            break;
        }
    }
    Ok(zeros)
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    const LENGTH: u64 = (20 << 20) + 512;

    fn with_byte(at: u64) -> MemoryDisk {
        let mut disk = MemoryDisk::new(LENGTH);
        disk.put(at, &[1]);
        disk
    }

    #[test]
    fn zeros_are_counted_from_the_end_up_to_the_most_that_is_read() {
        for zeros in [0, 1, 511, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 << 20] {
            let disk = with_byte(LENGTH - zeros - 1);
            assert_eq!(zeros_at_end(&disk, END_BYTES_MAX), Ok(zeros));
            assert_eq!(zeros_at_end(&disk, 1000), Ok(zeros.min(1000)));
        }
        assert_eq!(zeros_at_end(&MemoryDisk::new(0), 0), Ok(0));
    }

    #[test]
    fn only_zeros_after_the_content_are_cut() {
        let used = Some(LENGTH - (4 << 20));
        let blank = MemoryDisk::new(LENGTH);
        assert_eq!(with_zeros(used, LENGTH, Some(&blank)), (LENGTH - (4 << 20), None));
        // Zeros are read up to 16 MiB from the end, and no more is cut.
        let all = with_zeros(Some(4096), LENGTH, Some(&blank));
        assert_eq!(all, (LENGTH - END_BYTES_MAX, None));
        let far = with_byte(LENGTH - (2 << 20));
        assert_eq!(with_zeros(used, LENGTH, Some(&far)), (LENGTH - (2 << 20) + 1, None));
        for back in [1, 512, 4096 - 60, NEAR_END_BYTES] {
            let near = with_byte(LENGTH - back);
            assert_eq!(with_zeros(used, LENGTH, Some(&near)), (LENGTH, Some(FOLLOWED)));
            assert_eq!(with_zeros(None, LENGTH, Some(&near)), (LENGTH, Some(UNTOLD)));
            assert_eq!(with_zeros(Some(LENGTH), LENGTH, Some(&near)), (LENGTH, None));
        }
    }

    #[test]
    fn a_partition_that_ends_past_the_disk_keeps_its_length() {
        let range = ByteRange::new(4096, LENGTH).expect("a range");
        let volume = device::Window::new(MemoryDisk::new(LENGTH), range);
        assert_eq!(with_zeros(Some(4096), LENGTH, Some(&volume)), (LENGTH, Some(UNREADABLE)));
        assert_eq!(kept_unless_blank(&volume), Some(UNREADABLE));
    }
}
