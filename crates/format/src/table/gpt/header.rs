//! The header of one copy: 92 bytes, by the specification's table 5-5.

use units::Lba;
use uuid::Uuid;

use crate::bytes::{self, Block};

/// The bytes that every header has.
pub(super) const HEADER_BYTES: usize = 92;

/// The revision that all versions of the specification since 1.0 name.
pub(super) const REVISION: u32 = 0x0001_0000;

pub(super) const SIGNATURE: [u8; 8] = *b"EFI PART";
const CRC_AT: usize = 16;

/// Place of the disk's id in a header.
pub(super) const DISK_GUID: std::ops::Range<usize> = 56..72;

/// The fields of a header, as they stand.
#[derive(Clone, Debug)]
pub(super) struct GptHeader {
    pub(super) revision: u32,
    pub(super) header_bytes: u32,
    pub(super) header_crc: u32,
    pub(super) my_lba: Lba,
    pub(super) alternate_lba: Lba,
    pub(super) first_usable_lba: Lba,
    pub(super) last_usable_lba: Lba,
    pub(super) disk_guid: [u8; 16],
    pub(super) entries_lba: Lba,
    pub(super) entry_count: u32,
    pub(super) entry_bytes: u32,
    pub(super) entries_crc: u32,
}

impl GptHeader {
    /// The header that begins `sector`; `None` without its signature.
    pub(super) fn parse(sector: &[u8]) -> Option<GptHeader> {
        let block: Block<HEADER_BYTES> = bytes::block(sector)?;
        (block.array::<0, 8>() == SIGNATURE).then(|| GptHeader {
            revision: block.le32::<8>(),
            header_bytes: block.le32::<12>(),
            header_crc: block.le32::<CRC_AT>(),
            my_lba: Lba(block.le64::<24>()),
            alternate_lba: Lba(block.le64::<32>()),
            first_usable_lba: Lba(block.le64::<40>()),
            last_usable_lba: Lba(block.le64::<48>()),
            disk_guid: block.array::<56, 16>(),
            entries_lba: Lba(block.le64::<72>()),
            entry_count: block.le32::<80>(),
            entry_bytes: block.le32::<84>(),
            entries_crc: block.le32::<88>(),
        })
    }

    /// The checksum of the header in `sector`, over the length it gives, with its own field as 0;
    /// `None` when that length is below 92 or above the sector.
    pub(super) fn computed_crc(&self, sector: &[u8]) -> Option<u32> {
        let length = usize::try_from(self.header_bytes).ok()?;
        let header = sector.get(..length).filter(|header| header.len() >= HEADER_BYTES)?;
        let mut digest = crc32fast::Hasher::new();
        digest.update(&header[..CRC_AT]);
        digest.update(&[0; 4]);
        digest.update(&header[CRC_AT + 4..]);
        Some(digest.finalize())
    }
}

/// A GUID as text, in lower case: its first three fields are little-endian.
pub(super) fn guid(bytes: &[u8; 16]) -> String {
    Uuid::from_bytes_le(*bytes).hyphenated().to_string()
}
