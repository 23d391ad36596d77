//! Content of a raw device that would be overwritten: everything that `check` recognizes, marks of
//! what it does not, and whether the rest is blank.

use device::{Disk, disk};
use format::probe::{self, Hint, ProbedContent};
use format::table::bsd::Counting;
use format::{image, signature};
use host::claim::Contents;
use host::{FileDisk, HeadCache};
use units::SectorSize;

use crate::shared::title;

/// Bytes that are read at once.
const CHUNK_BYTES: u64 = 1 << 20;
/// A range that is no longer is read in full.
const WHOLE_BYTES: u64 = 64 << 20;
/// Number of pages of a longer one read beside its first and its last chunk.
const SAMPLES: u64 = 16_384;
/// Bytes that are judged at once: what is blank is of one byte.
const PAGE_BYTES: usize = 4096;

/// Returns what is on `disk`, of which the first `length_bytes` would be overwritten.
pub(crate) fn contents(disk: FileDisk, length_bytes: u64) -> Contents {
    let data = data(&disk, length_bytes.min(disk.length_bytes()));
    Contents { signatures: signatures(&HeadCache::new(disk)), data }
}

/// Returns what the bytes of a device are known to be, each in words.
pub(crate) fn signatures(disk: &dyn Disk) -> Vec<String> {
    let sector = SectorSize::new(512).expect("512 is a sector's length");
    let hint = Hint { sector, start_bytes: 0, counting: Counting::Unknown, tables: true };
    let reading = probe::read(disk, hint);
    let known = reading.contents().map(words);
    let image = image::read(disk).map(|found| {
        let kind = title::kind_of(found.value.kind, &found.value.version);
        format!("a disk image ({kind})")
    });
    let mut all: Vec<String> = Vec::new();
    for found in known.chain(image) {
        if !all.contains(&found) {
            all.push(found);
        }
    }
    // What is recognized leaves marks too, which would name it twice.
    if all.is_empty() {
        all.extend(signature::marks(disk).into_iter().map(|name| format!("{name} data")));
    }
    all
}

fn words(content: &ProbedContent) -> String {
    match content {
        ProbedContent::Table(table) => format!("a partition table ({})", table.kind.word()),
        ProbedContent::Md(_) => "a member of an md array".to_owned(),
        ProbedContent::Lvm(_) => "a physical volume of LVM".to_owned(),
        ProbedContent::Luks(_) => "a LUKS container".to_owned(),
        ProbedContent::Bcache(_) => "a bcache device".to_owned(),
        ProbedContent::Integrity(_) => "a dm-integrity device".to_owned(),
        ProbedContent::FileSystem(system) => format!("{} data", system.kind),
        ProbedContent::Named(entry) => format!("{} data", entry.kind),
    }
}

/// The first place in the first `length_bytes` of `disk` that is not blank, in words; `None` where
/// none was found.
pub(crate) fn data(disk: &dyn Disk, length_bytes: u64) -> Option<String> {
    ranges(length_bytes).find_map(|(at_bytes, length)| {
        match disk::read_vec(disk, at_bytes, length) {
            Ok(bytes) => {
                let mut pages = bytes.chunks(PAGE_BYTES).zip((at_bytes..).step_by(PAGE_BYTES));
                pages.find(|(page, _)| !is_blank(page)).map(|(_, at)| format!("data at byte {at}"))
            }
            Err(error) => Some(format!("unreadable data at byte {at_bytes}: {error}")),
        }
    })
}

/// Returns what is read of a range of this length: the byte where each begins, and its length.
fn ranges(length_bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let page = u64::try_from(PAGE_BYTES).unwrap_or(u64::MAX);
    let whole = |first: u64, end: u64, step: u64, length: u64| {
        let step_by = usize::try_from(step).unwrap_or(usize::MAX);
        (first..end).step_by(step_by).map(move |at| (at, length.min(end - at)))
    };
    let is_short = length_bytes <= WHOLE_BYTES;
    let apart = (length_bytes / SAMPLES).max(page) / page * page;
    let last = length_bytes.saturating_sub(CHUNK_BYTES) / page * page;
    let full = if is_short { length_bytes } else { CHUNK_BYTES };
    let sampled = if is_short { 0 } else { length_bytes };
    let tail = if is_short { length_bytes } else { last };
    whole(0, full, CHUNK_BYTES, CHUNK_BYTES).chain(whole(0, sampled, apart, page)).chain(whole(
        tail,
        length_bytes,
        CHUNK_BYTES,
        CHUNK_BYTES,
    ))
}

/// Returns whether nobody wrote there, or somebody erased it: all zeros, or all ones as flash has
/// it.
fn is_blank(page: &[u8]) -> bool {
    [0, 0xff].into_iter().any(|value| disk::is_filled_with(page, value))
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    fn found(length_bytes: u64, at_bytes: u64, bytes: &[u8]) -> Option<String> {
        let mut disk = MemoryDisk::with_head(length_bytes, b"");
        disk.put(at_bytes, bytes);
        data(&disk, length_bytes)
    }

    #[test]
    fn a_partition_table_is_named_once() {
        let mut disk = MemoryDisk::with_head(2 << 20, b"");
        disk.put(446, &[0, 0, 0, 0, 0x83, 0, 0, 0, 63, 0, 0, 0, 0, 4, 0, 0]);
        disk.put(510, &[0x55, 0xaa]);
        assert_eq!(signatures(&disk), ["a partition table (dos)"]);
    }

    #[test]
    fn each_byte_of_a_short_range_is_looked_at_and_erased_flash_is_blank() {
        for at in [0, 4095, 4096, (1 << 20) + 17, (2 << 20) - 1] {
            let page = at / 4096 * 4096;
            assert_eq!(found(2 << 20, at, b"x"), Some(format!("data at byte {page}")));
        }
        assert_eq!(found(2 << 20, 0, &[0xff; 8192]), None);
        assert!(found(2 << 20, 0, &[0xff; 8191]).is_some());
        assert_eq!(data(&MemoryDisk::with_head(5000, b""), 5000), None);
        assert!(found(5000, 4999, b"x").is_some());
    }

    #[test]
    fn a_long_range_is_sampled_from_its_first_to_its_last_byte() {
        let length = 1 << 30;
        for at in [0, (1 << 20) - 1, length - 1, length - (1 << 20), length / 2] {
            assert!(found(length, at, b"x").is_some(), "{at}");
        }
        assert!(found(length, 512 << 20, &[1; 128 << 10]).is_some());
        let read: u64 = ranges(length).map(|(_, length)| length).sum();
        assert!(read <= 80 << 20, "{read}");
        assert!(ranges(length).all(|(at, part)| at + part <= length));
    }
}
