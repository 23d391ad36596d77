//! The label and the header behind it: which physical volume this is and where its areas are.
//!
//! Both lie in one sector of 512 bytes, whatever the drive's sector is. The checksum covers the
//! sector from the header's offset on, so neither the magic nor the sector number.
//!
//! Source: lvm2 `lib/label/label.h`, `lib/label/label.c`, `lib/format_text/layout.h`.

use device::{Disk, disk};
use units::text;

use super::SECTOR_BYTES;
use crate::bytes::{self, Block};
use crate::checksum::seeded_crc32;
use crate::{Parsed, Problem, ProblemKind};

const SECTOR: usize = 512;
/// The label is looked for in this many sectors.
const SECTORS_SCANNED: u64 = 4;
/// The label's type, and where it stands in its sector.
const TYPE: &[u8; 8] = b"LVM2 001";
const TYPE_AT: u64 = 0x18;
/// Place where the header stands within the label, in everything that was ever written.
const HEADER_AT: usize = 32;
/// The header without its lists: UUID and size.
const HEADER: usize = 40;
/// An entry of a list of areas: offset and length.
const LOCATION: usize = 16;

/// Facts of the label's sector.
#[derive(Debug)]
pub(super) struct LvmLabel {
    /// Place where the sector is, in bytes from the device's start.
    pub(super) at_bytes: u64,
    /// The physical volume's UUID without dashes.
    pub(super) id: String,
    /// The device's size in bytes when the header was written.
    pub(super) device_bytes: u64,
    /// The data areas; LVM writes one.
    pub(super) data: Vec<Location>,
    /// The metadata areas; LVM writes none, one or two.
    pub(super) metadata: Vec<Location>,
    /// True if a group uses the volume.
    pub(super) used: Option<bool>,
}

/// An area of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// Its first byte, from the device's start.
    pub(super) offset_bytes: u64,
    /// Its length; 0 for a data area that reaches the end.
    pub(super) length_bytes: u64,
}

/// Reads the label, a sound one rather than a damaged one, the first rather than a later one;
/// `None` when there is none.
pub(super) fn read(disk: &dyn Disk) -> Option<Parsed<LvmLabel>> {
    let typed = |sector: u64| disk::read_array(disk, sector * SECTOR_BYTES + TYPE_AT).ok();
    if !(0..SECTORS_SCANNED).any(|sector| typed(sector) == Some(*TYPE)) {
        return None;
    }
    let scanned = (SECTORS_SCANNED * SECTOR_BYTES).min(disk.length_bytes());
    let head = disk::read_vec(disk, 0, scanned).ok()?;
    let mut labels: Vec<Parsed<LvmLabel>> = (0..SECTORS_SCANNED)
        .zip(head.chunks_exact(SECTOR))
        .filter_map(|(sector, bytes)| label(sector, &bytes::block(bytes)?))
        .collect();
    let sound = labels.iter().filter(|label| label.problems.is_empty()).count();
    labels.sort_by_key(|label| !label.problems.is_empty());
    let mut labels = labels.into_iter();
    let mut chosen = labels.next()?;
    if sound > 1 {
        let at_bytes = labels.next().map_or(0, |label| label.value.at_bytes);
        let detail = format!("one of {sound} labels, the first at {}", chosen.value.at_bytes);
        chosen.problems.push(Problem::new(ProblemKind::Copies, at_bytes, detail));
    }
    Some(chosen)
}

/// The label in sector number `sector`; `None` when it is no label. LVM itself accepts a label
/// without its first magic; here the checksum must then be right.
fn label(sector: u64, block: &Block<SECTOR>) -> Option<Parsed<LvmLabel>> {
    let at_bytes = sector * SECTOR_BYTES;
    if block.array::<0x18, 8>() != *TYPE {
        return None;
    }
    let named = block.array::<0, 8>() == *b"LABELONE";
    let (stored, computed) = (block.le32::<0x10>(), checksum(&block.0[0x14..]));
    if !(named || stored == computed) {
        return None;
    }
    let mut problems = Vec::new();
    let mut note = |kind, at, detail: String| {
        problems.push(Problem::new(kind, at_bytes + at, detail));
    };
    if !named {
        let found = text::escape(&block.array::<0, 8>());
        note(ProblemKind::Field, 0, format!("label starts with \"{found}\", not LABELONE"));
    }
    if block.le64::<8>() != sector {
        let found = block.le64::<8>();
        note(ProblemKind::Field, 8, format!("label of sector {found} found in sector {sector}"));
    }
    if stored != computed {
        let detail = format!("label checksum is {stored:08x}, computed {computed:08x}");
        note(ProblemKind::Checksum, 0x10, detail);
    }
    let header_at = usize::try_from(block.le32::<0x14>()).unwrap_or(usize::MAX);
    let fits = (HEADER_AT..=SECTOR - HEADER).contains(&header_at);
    if !fits {
        let detail =
            format!("header at {header_at} of the label lies outside, read at {HEADER_AT}");
        note(ProblemKind::Field, 0x14, detail);
    }
    let header_at = if fits { header_at } else { HEADER_AT };
    let header = header(at_bytes, &block.0, header_at, &mut problems)?;
    Some(Parsed { value: header, problems })
}

/// The header at `header_at` of a label's sector, which holds at least its fixed part.
fn header(
    at_bytes: u64,
    sector: &[u8],
    header_at: usize,
    problems: &mut Vec<Problem>,
) -> Option<LvmLabel> {
    let fixed: Block<HEADER> = bytes::block_at(sector, header_at)?;
    let id = fixed.array::<0, 32>();
    if !is_id(&id) {
        let detail = format!("physical volume's UUID is \"{}\"", text::escape(&id));
        problems.push(Problem::new(ProblemKind::Field, at_bytes, detail));
    }
    let (data, metadata_at) = locations(sector, header_at + HEADER);
    let (metadata, extension_at) = match metadata_at {
        Some(at) => locations(sector, at),
        None => (Vec::new(), None),
    };
    if extension_at.is_none() {
        let detail = "the lists of areas do not end within the label";
        problems.push(Problem::new(ProblemKind::Chain, at_bytes, detail));
    }
    let used = extension_at.and_then(|at| used(sector, at));
    let (id, device_bytes) = (text::escape(&id), fixed.le64::<0x20>());
    Some(LvmLabel { at_bytes, id, device_bytes, data, metadata, used })
}

/// Returns whether these are the characters of a UUID as LVM makes them.
pub(super) fn is_id(id: &[u8]) -> bool {
    let allowed = |&byte: &u8| byte.is_ascii_alphanumeric() || byte == b'!' || byte == b'#';
    id.len() == 32 && id.iter().all(allowed)
}

/// The list of areas at `at`, and where its terminator ends; `None` when the sector ends first.
fn locations(sector: &[u8], mut at: usize) -> (Vec<Location>, Option<usize>) {
    let mut found = Vec::new();
    while let Some(entry) = bytes::block_at::<LOCATION>(sector, at) {
        at += LOCATION;
        if entry.le64::<0>() == 0 {
            return (found, Some(at));
        }
        found.push(Location { offset_bytes: entry.le64::<0>(), length_bytes: entry.le64::<8>() });
    }
    (found, None)
}

/// Returns what the header's extension says about use; it does so from its version 2 on.
fn used(sector: &[u8], at: usize) -> Option<bool> {
    let extension: Block<8> = bytes::block_at(sector, at)?;
    (extension.le32::<0>() >= 2).then(|| extension.le32::<4>() & 1 == 1)
}

/// LVM's checksum: the common CRC-32 with a seed of its own and no final inversion. Source: lvm2
/// `lib/misc/crc.c` and `INITIAL_CRC`.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    seeded_crc32(0xf597_a6cf, &[bytes])
}
