//! dm-integrity superblocks.
//!
//! Data and tags alternate in runs of constant length, so data never starts where the device does;
//! but where each run starts follows from the superblock.
//!
//! Source: `drivers/md/dm-integrity.c`: `struct superblock`, `calculate_journal_section_size`,
//! `calculate_device_limits`, `get_data_sector`.

use device::{Disk, disk};

use crate::bytes::Block;
use crate::{Parsed, Problem, ProblemKind};

/// Facts of a dm-integrity superblock. Data and tags are interleaved unless the tags are on a
/// device of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integrity {
    /// The format's version, 1 to 6.
    pub version: u8,
    /// The tag in bytes.
    pub tag_bytes: u64,
    /// The sector in bytes: 512 to 4096; `None` when the field makes no sense.
    pub sector_bytes: Option<u64>,
    /// The size that is offered above, in bytes.
    pub provided_bytes: u64,
    /// The length of a run of data between two runs of tags, in bytes; `None` when tags are
    /// elsewhere.
    pub interleave_bytes: Option<u64>,
    /// The length of a run of tags, in bytes; `None` when tags are elsewhere.
    pub tag_run_bytes: Option<u64>,
    /// Place where the first run of data starts, in bytes from the device's start; `None` when data
    /// is on another device than this superblock, or the fields make no sense.
    pub data_offset_bytes: Option<u64>,
    /// The flags as stored, `SB_FLAG_*`.
    pub flags: u32,
}

impl Integrity {
    /// Returns where byte `address` of what is offered lies on the device, in bytes from its start;
    /// `None` past the end, and where [`Integrity::data_offset_bytes`] is not known.
    #[must_use]
    pub fn place_bytes(&self, address: u64) -> Option<u64> {
        if address >= self.provided_bytes {
            return None;
        }
        let tags_before = match (self.interleave_bytes, self.tag_run_bytes) {
            (Some(data), Some(tags)) => address.checked_div(data)?.checked_mul(tags)?,
            _ => 0,
        };
        self.data_offset_bytes?.checked_add(address)?.checked_add(tags_before)
    }
}

const SUPERBLOCK: usize = 64;
const VERSIONS: std::ops::RangeInclusive<u8> = 1..=6;
const SUPERBLOCK_BYTES: u64 = 4096;

const FLAG_JOURNAL_MAC: u32 = 0x1;
const FLAG_FIXED_PADDING: u32 = 0x8;
/// Tags are kept by the drive, in its own protection data.
const FLAG_INLINE: u32 = 0x20;
const KNOWN_FLAGS: u32 = 0x3f;

/// Reads the superblock at 0; `None` when there is none.
pub fn read(disk: &dyn Disk) -> Option<Parsed<Integrity>> {
    let sb = Block(disk::read_array::<SUPERBLOCK>(disk, 0).ok()?);
    if sb.array::<0, 8>() != *b"integrt\0" {
        return None;
    }
    let interleave = sb.byte::<9>();
    let flags = sb.le32::<24>();
    let sector = sb.byte::<28>();
    let value = Integrity {
        version: sb.byte::<8>(),
        tag_bytes: u64::from(sb.le16::<10>()),
        sector_bytes: (sector <= 3).then(|| 512 << sector),
        provided_bytes: sb.le64::<16>().saturating_mul(512),
        interleave_bytes: (3..=31).contains(&interleave).then(|| 512 << interleave),
        tag_run_bytes: None,
        data_offset_bytes: None,
        flags,
    };
    let value = with_places(value, &sb);
    let problems = problems(&value, &sb, disk.length_bytes());
    Some(Parsed { value, problems })
}

/// Adds where data lies: behind the superblock, the journal and the first run of tags.
fn with_places(mut value: Integrity, sb: &Block<SUPERBLOCK>) -> Integrity {
    if value.flags & FLAG_INLINE != 0 {
        value.data_offset_bytes = Some(SUPERBLOCK_BYTES);
        return value;
    }
    value.tag_run_bytes = value.interleave_bytes.zip(value.sector_bytes).map(|(data, sector)| {
        // Older versions padded each run of tags to 128 KiB by mistake.
        let padding = if value.flags & FLAG_FIXED_PADDING == 0 { 1 << 17 } else { 1 << 12 };
        (data.div_euclid(sector) * value.tag_bytes).next_multiple_of(padding)
    });
    value.data_offset_bytes = journal_bytes(&value, sb)
        .zip(value.tag_run_bytes)
        .and_then(|(journal, tags)| SUPERBLOCK_BYTES.checked_add(journal)?.checked_add(tags));
    value
}

/// The journal in bytes; `None` when an entry does not fit a sector. Each section has eight sectors
/// of entries and a block of data for each entry.
fn journal_bytes(value: &Integrity, sb: &Block<SUPERBLOCK>) -> Option<u64> {
    let sector = value.sector_bytes?;
    // An entry: the address, the last 8 bytes of each 512 of the block, and the tag.
    let entry = (8 + sector.div_euclid(512) * 8 + value.tag_bytes).next_multiple_of(8);
    let room = if value.flags & FLAG_JOURNAL_MAC == 0 { 504 } else { 496 };
    let entries = room / entry * 8;
    let section = entries * sector + 8 * 512;
    (entries > 0).then(|| section.checked_mul(u64::from(sb.le32::<12>()))).flatten()
}

fn problems(value: &Integrity, sb: &Block<SUPERBLOCK>, disk_bytes: u64) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut problem = |kind, at, detail: String| problems.push(Problem::new(kind, at, detail));
    if !VERSIONS.contains(&value.version) {
        problem(ProblemKind::Unsupported, 8, format!("version {}", value.version));
    }
    let interleave = sb.byte::<9>();
    if interleave != 0 && value.interleave_bytes.is_none() {
        let detail = format!("runs of 2^{interleave} sectors, expected 2^3 to 2^31");
        problem(ProblemKind::Field, 9, detail);
    }
    if value.tag_bytes == 0 {
        problem(ProblemKind::Field, 10, "a tag of 0 bytes".to_owned());
    }
    if sb.le32::<12>() == 0 && value.flags & FLAG_INLINE == 0 {
        problem(ProblemKind::Field, 12, "a journal of 0 sections".to_owned());
    }
    if value.sector_bytes.is_none() {
        let detail = format!("blocks of 2^{} sectors, expected at most 2^3", sb.byte::<28>());
        problem(ProblemKind::Field, 28, detail);
    }
    if value.flags & !KNOWN_FLAGS != 0 {
        problem(ProblemKind::Unsupported, 24, format!("unknown flags {:#x}", value.flags));
    }
    let last = value.provided_bytes.checked_sub(1).and_then(|last| value.place_bytes(last));
    if let Some(last) = last.filter(|&last| last >= disk_bytes) {
        let detail = format!("the last byte of data is at {last}, past the end at {disk_bytes}");
        problem(ProblemKind::Outside, 16, detail);
    }
    problems
}
