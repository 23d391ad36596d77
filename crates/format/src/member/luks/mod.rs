//! LUKS1 and LUKS2 headers.
//!
//! The header says where the encrypted data starts, which is what has to be aligned; it may stand
//! on another device than the data.
//!
//! Source: cryptsetup `docs/on-disk-format.pdf` (LUKS1), `docs/on-disk-format-luks2.pdf`.

mod bounded_json;
mod luks1;
mod luks2;
mod luks2_json;

use device::{Disk, disk};
use units::DiskText;

use crate::{Parsed, Problem, ProblemKind};

/// Facts of a LUKS header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Luks {
    /// 1 or 2; any other number is among the problems, and then nothing else is known.
    pub version: u16,
    /// Place where the header stands that was believed, in bytes: 0, or that of LUKS2's second
    /// header. When the first one is missing, the second may be left over from a container that is
    /// gone.
    pub header_at_bytes: u64,
    /// The UUID as stored.
    pub id: DiskText,
    /// The label (LUKS2).
    pub label: Option<DiskText>,
    /// The subsystem, a second label (LUKS2).
    pub subsystem: Option<DiskText>,
    /// The cipher as cryptsetup names it: `aes-xts-plain64`.
    pub cipher: Option<DiskText>,
    /// The data segments in order; LUKS1 has one. Empty when the JSON could not be read.
    pub segments: Vec<LuksSegment>,
    /// True if the data is not here: a detached header, with data at offset 0 of another device, or
    /// a backup of a header or a truncated image, which ends before its data's offset.
    pub detached: bool,
    /// True if a reencryption is under way, so that segments will move.
    pub reencrypting: bool,
    /// The integrity algorithm, when data is interleaved with tags by dm-integrity.
    pub integrity: Option<DiskText>,
    /// True if the header says that discards are let through whenever it is opened (LUKS2's flag
    /// `allow-discards`); LUKS1 has no flags.
    pub allows_discards: bool,
}

/// A run of encrypted data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LuksSegment {
    /// The segment's kind as written: `crypt`, `linear`, `hw-opal`, `hw-opal-crypt`.
    pub kind: DiskText,
    /// Place where its data starts, in bytes from the device's start.
    pub offset_bytes: u64,
    /// Its length in bytes; `None` for `dynamic`, to the end of the device.
    pub length_bytes: Option<u64>,
    /// The encryption sector in bytes: 512 to 4096; another number is among the problems. 512 where
    /// nothing is encrypted by dm-crypt.
    pub sector_bytes: u64,
}

const MAGIC: &[u8; 6] = b"LUKS\xba\xbe";

/// Reads the header; for LUKS2 the newer of the two valid copies. `None` when there is none.
pub fn read(disk: &dyn Disk) -> Option<Parsed<Luks>> {
    // Under reencryption LUKS1 has another magic, which begins alike.
    let named = disk::read_array::<4>(disk, 0).is_ok_and(|magic| MAGIC.starts_with(&magic));
    let length = if named { disk.length_bytes().min(4096) } else { 0 };
    let head = disk::read_vec(disk, 0, length).unwrap_or_default();
    if let Some(found) = luks1::parse(&head) {
        return Some(with_place(found, disk.length_bytes()));
    }
    let found = luks2::parse(disk, &head)?;
    Some(with_place(found, disk.length_bytes()))
}

/// Judges whether the data is on this device at all, and whether it fits.
fn with_place(mut found: Parsed<Luks>, disk_bytes: u64) -> Parsed<Luks> {
    let header = found.value.header_at_bytes;
    for segment in &found.value.segments {
        let start = segment.offset_bytes;
        let end = start.saturating_add(segment.length_bytes.unwrap_or(0));
        if start == 0 && !found.value.reencrypting {
            found.value.detached = true;
        } else if start >= disk_bytes {
            found.value.detached = true;
            let detail = format!(
                "data starts at {start}, the device ends at {disk_bytes}: a header without its data"
            );
            found.problems.push(Problem::new(ProblemKind::Outside, header, detail));
        } else if end > disk_bytes {
            let detail = format!("data ends at {end}, past the end at {disk_bytes}");
            found.problems.push(Problem::new(ProblemKind::Outside, header, detail));
        }
    }
    found
}

/// Text of fixed width; `None` when it is empty.
fn text(bytes: &[u8]) -> Option<DiskText> {
    Some(DiskText::from_padded(bytes)).filter(|text| !text.is_empty())
}
