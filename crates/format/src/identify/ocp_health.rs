//! The log page C0h of OCP's data center drives, SMART / Health Information Extended.
//!
//! Source: OCP "Datacenter NVMe SSD Specification", "SMART / Health Information Extended (Log
//! Identifier C0h)"; the offsets are those of nvme-cli's `plugins/ocp/ocp-smart-extended-log.h`
//! (`struct ocp_smart_extended_log`). All numbers are little-endian. Counters stop at their largest
//! value (requirement SLOG-2), the drive may refresh them in the background, every ten minutes at
//! least (SLOG-7), and unaligned I/O goes by starts alone (SMART-21): these three were read in a
//! commentary, and not in the specification itself.

use super::{Counter, NoAnswer, head, wrong};
use crate::Parsed;

/// The length of the page in bytes.
pub const ANSWER_BYTES: usize = 512;
/// The bytes 496 to 511 of every such page: other makers use the same number for pages of their
/// own.
pub const GUID: [u8; 16] = [
    0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf,
];
/// Log page versions of one layout, which later ones only added to: 2 came with version 1.0 of the
/// specification. The upper bound is ours.
const VERSIONS: std::ops::RangeInclusive<u16> = 2..=255;

/// The extended report of a drive's health, as far as wear and alignment go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendedHealth {
    /// The page's own version.
    pub version: u16,
    /// Physical Media Units Written: bytes written to the media, by hosts and by the drive itself.
    pub media_bytes_written: Counter,
    /// Physical Media Units Read: bytes read from the media, likewise.
    pub media_bytes_read: Counter,
    /// The most erases of a block of user data.
    pub erases_max: Counter,
    /// The fewest erases of a block of user data.
    pub erases_min: Counter,
    /// Free blocks in percent; `None` where the page holds more than 100.
    pub free_percent: Option<u8>,
    /// Unaligned I/O: writes whose start is no multiple of the drive's indirection unit, whatever
    /// their length, since power-on.
    pub unaligned_writes: Counter,
    /// Endurance Estimate: bytes that may be written in a lifetime with a write amplification of 1.
    /// Drives give it in bytes or, as NVMe's endurance group log does, in billions of them.
    pub endurance: Counter,
}

/// The facts of the page.
///
/// # Errors
/// When it is shorter than 512 bytes, all zeros, without the GUID, or of an unknown version.
pub fn extended_health(bytes: &[u8]) -> Result<Parsed<ExtendedHealth>, NoAnswer> {
    let what = "OCP log page C0h";
    let block = head::<ANSWER_BYTES>(what, bytes)?;
    if block.array::<496, 16>() != GUID {
        return Err(NoAnswer::Foreign { what });
    }
    let version = block.le16::<494>();
    if !VERSIONS.contains(&version) {
        return Err(NoAnswer::Version { what, found: version });
    }
    let mut problems = Vec::new();
    let free = block.byte::<120>();
    if free > 100 {
        problems.push(wrong(120, format!("{free} % of the blocks are free")));
    }
    let value = ExtendedHealth {
        version,
        media_bytes_written: Counter::of(block.array::<0, 16>()),
        media_bytes_read: Counter::of(block.array::<16, 16>()),
        erases_max: Counter::of(block.array::<88, 4>()),
        erases_min: Counter::of(block.array::<92, 4>()),
        free_percent: (free <= 100).then_some(free),
        unaligned_writes: Counter::of(block.array::<136, 8>()),
        endurance: Counter::of(block.array::<176, 16>()),
    };
    Ok(Parsed { value, problems })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(bytes: &[(usize, u8)]) -> [u8; ANSWER_BYTES] {
        let mut page = [0; ANSWER_BYTES];
        page[494] = 3;
        page[496..].copy_from_slice(&GUID);
        bytes.iter().for_each(|&(at, value)| page[at] = value);
        page
    }

    #[test]
    fn each_field_is_read_from_its_offset() {
        let bytes = page(&[(0, 1), (16, 2), (88, 3), (92, 4), (120, 5), (136, 6), (176, 7)]);
        let found = extended_health(&bytes).unwrap();
        assert_eq!(found.problems, []);
        let value = found.value;
        let counters = [
            value.media_bytes_written,
            value.media_bytes_read,
            value.erases_max,
            value.erases_min,
            value.unaligned_writes,
            value.endurance,
        ];
        assert_eq!(counters, [1, 2, 3, 4, 6, 7].map(Counter::Count));
        assert_eq!((value.version, value.free_percent), (3, Some(5)));
    }

    #[test]
    fn a_page_without_the_guid_or_of_another_version_says_nothing() {
        let foreign = extended_health(&page(&[(496, 0)])).unwrap_err();
        assert_eq!(
            foreign.to_string(),
            "OCP log page C0h was asked for, and a page without its GUID came"
        );
        for version in [0, 1] {
            let error = extended_health(&page(&[(494, version)])).unwrap_err();
            assert!(matches!(error, NoAnswer::Version { .. }), "{error}");
        }
        let error = extended_health(&page(&[(495, 0xff)])).unwrap_err();
        assert!(matches!(error, NoAnswer::Version { found: 0xff03, .. }), "{error}");
        assert!(matches!(extended_health(&[1; 511]), Err(NoAnswer::Short { .. })));
        assert!(matches!(extended_health(&[0; 512]), Err(NoAnswer::Zeros { .. })));
        assert!(matches!(extended_health(&[0xff; 512]), Err(NoAnswer::Foreign { .. })));
    }

    #[test]
    fn more_than_all_blocks_free_is_a_problem() {
        let found = extended_health(&page(&[(120, 101)])).unwrap();
        assert_eq!(found.value.free_percent, None);
        assert_eq!(found.problems[0].detail, "101 % of the blocks are free");
    }
}
