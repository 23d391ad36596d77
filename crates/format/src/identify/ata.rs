//! ATA IDENTIFY DEVICE.
//!
//! Source: ACS-4, "IDENTIFY DEVICE", table of its data. The answer is 256 little-endian words; text
//! has its bytes swapped within each word.

use units::DiskText;

use super::{NoAnswer, Rotation, Zones, blocks, head, rotation, wrong, zones};
use crate::bytes::Block;
use crate::{Parsed, Problem, ProblemKind};

/// The length of the answer in bytes.
pub const ANSWER_BYTES: usize = 512;

/// Facts that a drive reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtaIdentity {
    /// Words 27 to 46.
    pub model: DiskText,
    /// Words 10 to 19.
    pub serial: DiskText,
    /// Words 23 to 26.
    pub firmware: DiskText,
    /// Its length: words 100 to 103, or 60 and 61 of a drive without 48-bit addresses.
    pub size_bytes: Option<u64>,
    /// The logical sector: words 117 and 118, or 512 where word 106 names none. `None` when it is
    /// no power of two from 512 to 65536.
    pub logical_bytes: Option<u64>,
    /// The physical sector by word 106; `None` when the drive does not say, or when no logical
    /// sector is known. Drives of 512-byte sectors and old drives of 4 KiB sectors both may not
    /// say.
    pub physical_bytes: Option<u64>,
    /// The address of the first sector that starts a physical one, by word 209; `None` when the
    /// drive does not say.
    pub lowest_aligned_bytes: Option<u64>,
    /// Word 217: what turns; `None` when it is not reported.
    pub rotation: Option<Rotation>,
    /// Word 85 bit 5: whether the write cache is on; `None` when the drive does not say.
    pub write_cache: Option<bool>,
    /// Word 169 bit 0: whether it takes TRIM.
    pub trims: bool,
    /// Word 69 bits 14 and 5: whether trimmed sectors read as zeros.
    pub zeroes: bool,
    /// Word 69 bits 0 and 1.
    pub zones: Option<Zones>,
}

type Words = Block<ANSWER_BYTES>;

/// The facts of an IDENTIFY DEVICE answer.
///
/// # Errors
/// When it is shorter than 512 bytes, or all zeros.
pub fn identity(bytes: &[u8]) -> Result<Parsed<AtaIdentity>, NoAnswer> {
    let words: Words = head("ATA IDENTIFY DEVICE", bytes)?;
    let mut problems = Vec::new();
    problems.extend(checksum(&words));
    let sector = words.le16::<{ 106 * 2 }>();
    let sector = valid(sector).then_some(sector);
    let logical_bytes = logical(&words, sector, &mut problems);
    // Bit 13 says that the exponent counts. Without it a physical sector is a logical one, if bit
    // 12 names that; else the drive says nothing.
    let exponent = sector.and_then(|word| match (word & 1 << 13 != 0, word & 1 << 12 != 0) {
        (true, _) => Some(word & 0xf),
        (false, true) => Some(0),
        (false, false) => None,
    });
    let per_physical = exponent.map(|exponent| 1_u64 << exponent);
    let physical_bytes = per_physical.and_then(|count| blocks(count, logical_bytes));
    let lowest = lowest_aligned(&words, per_physical, &mut problems);
    let capabilities = words.le16::<{ 69 * 2 }>();
    let value = AtaIdentity {
        serial: swapped(&words.array::<{ 10 * 2 }, 20>()),
        firmware: swapped(&words.array::<{ 23 * 2 }, 8>()),
        model: swapped(&words.array::<{ 27 * 2 }, 40>()),
        size_bytes: blocks(sectors(&words), logical_bytes),
        logical_bytes,
        physical_bytes,
        lowest_aligned_bytes: lowest.and_then(|count| count.checked_mul(logical_bytes?)),
        rotation: rotation(words.le16::<{ 217 * 2 }>()),
        write_cache: valid(words.le16::<{ 87 * 2 }>())
            .then(|| words.le16::<{ 85 * 2 }>() & 1 << 5 != 0),
        trims: words.le16::<{ 169 * 2 }>() & 1 != 0,
        zeroes: capabilities & (1 << 14 | 1 << 5) == 1 << 14 | 1 << 5,
        zones: zones(capabilities.to_le_bytes()[0]),
    };
    Ok(Parsed { value, problems })
}

/// Bit 14 set and bit 15 clear say that a word means something.
fn valid(word: u16) -> bool {
    word & 0xc000 == 0x4000
}

/// Word 255 holds a checksum where its lower byte is A5h.
fn checksum(words: &Words) -> Option<Problem> {
    let sum = words.0.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
    let detail = format!("the bytes add up to {sum}, and should to 0");
    (words.byte::<510>() == 0xa5 && sum != 0)
        .then(|| Problem::new(ProblemKind::Checksum, 510, detail))
}

fn logical(words: &Words, sector: Option<u16>, problems: &mut Vec<Problem>) -> Option<u64> {
    if sector.is_none_or(|word| word & 1 << 12 == 0) {
        return Some(512);
    }
    let bytes = u64::from(words.le32::<{ 117 * 2 }>()) * 2;
    if bytes.is_power_of_two() && (512..=1 << 16).contains(&bytes) {
        return Some(bytes);
    }
    problems.push(wrong(117 * 2, format!("the logical sector has {bytes} bytes")));
    None
}

/// The first sector that starts a physical one. Word 209 says the reverse: where in its physical
/// sector sector 0 lies.
fn lowest_aligned(
    words: &Words,
    per_physical: Option<u64>,
    problems: &mut Vec<Problem>,
) -> Option<u64> {
    let word = words.le16::<{ 209 * 2 }>();
    let per_physical = per_physical.filter(|_| valid(word))?;
    let offset = u64::from(word & 0x3fff);
    if offset >= per_physical {
        problems.push(wrong(
            209 * 2,
            format!("sector 0 is number {offset} of the {per_physical} in its physical sector"),
        ));
        return None;
    }
    (per_physical - offset).checked_rem(per_physical)
}

/// The number of logical sectors. Word 83 bit 10 says that there are 48-bit addresses.
fn sectors(words: &Words) -> u64 {
    let long = words.le64::<{ 100 * 2 }>() & 0xffff_ffff_ffff;
    let has_long = valid(words.le16::<{ 83 * 2 }>()) && words.le16::<{ 83 * 2 }>() & 1 << 10 != 0;
    if has_long && long > 0 { long } else { u64::from(words.le32::<{ 60 * 2 }>()) }
}

/// Text whose bytes are swapped within each word, padded with blanks on either side.
fn swapped(bytes: &[u8]) -> DiskText {
    let text: Vec<u8> = bytes.chunks_exact(2).flat_map(|pair| [pair[1], pair[0]]).collect();
    DiskText::from_padded(text.trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(words: &[(usize, u16)]) -> [u8; ANSWER_BYTES] {
        let mut bytes = [0; ANSWER_BYTES];
        let mut put = |word: usize, value: u16| {
            bytes[2 * word..2 * word + 2].copy_from_slice(&value.to_le_bytes());
        };
        put(0, 0x40);
        put(60, 0x800);
        words.iter().for_each(|&(word, value)| put(word, value));
        bytes
    }

    fn text(bytes: &mut [u8], word: usize, text: &[u8]) {
        for (number, pair) in text.chunks(2).enumerate() {
            let at = 2 * (word + number);
            bytes[at] = pair.get(1).copied().unwrap_or(b' ');
            bytes[at + 1] = pair[0];
        }
    }

    #[test]
    fn words_106_and_209_give_both_sectors_and_the_origin() {
        let found = identity(&answer(&[(106, 0x6003), (209, 0x4001)])).unwrap();
        assert_eq!(found.problems, []);
        assert_eq!(found.value.logical_bytes, Some(512));
        assert_eq!(found.value.physical_bytes, Some(4096));
        assert_eq!(found.value.lowest_aligned_bytes, Some(7 * 512));
        assert_eq!(found.value.size_bytes, Some(1 << 20));
        let aligned = identity(&answer(&[(106, 0x6003), (209, 0x4000)])).unwrap();
        assert_eq!(aligned.value.lowest_aligned_bytes, Some(0));
    }

    #[test]
    fn a_drive_of_long_logical_sectors_counts_them_in_words() {
        let found = identity(&answer(&[(106, 0x5000), (117, 2048)])).unwrap().value;
        assert_eq!((found.logical_bytes, found.physical_bytes), (Some(4096), Some(4096)));
        let absurd = identity(&answer(&[(106, 0x5000), (117, 3)])).unwrap();
        assert_eq!(absurd.value.logical_bytes, None);
        assert_eq!(absurd.problems[0].detail, "the logical sector has 6 bytes");
    }

    #[test]
    fn a_word_106_that_is_not_valid_says_nothing() {
        for word in [0, 0x2003, 0xe003, 0x4000] {
            let found = identity(&answer(&[(106, word)])).unwrap().value;
            assert_eq!(found.physical_bytes, None, "{word:#x}");
            assert_eq!(found.lowest_aligned_bytes, None);
        }
    }

    #[test]
    fn sector_0_outside_of_its_physical_sector_is_a_problem() {
        let found = identity(&answer(&[(106, 0x6003), (209, 0x4008)])).unwrap();
        assert_eq!(found.value.lowest_aligned_bytes, None);
        assert_eq!(found.problems.len(), 1);
    }

    #[test]
    fn names_are_swapped_back_and_trimmed() {
        let mut bytes = answer(&[]);
        text(&mut bytes, 27, b"WDC WD20EFRX-68EUZN0                    ");
        text(&mut bytes, 10, b"     WD-WCC4M0000000");
        text(&mut bytes, 23, b"82.00A82");
        let found = identity(&bytes).unwrap().value;
        assert_eq!(found.model.to_string(), "WDC WD20EFRX-68EUZN0");
        assert_eq!(found.serial.to_string(), "WD-WCC4M0000000");
        assert_eq!(found.firmware.to_string(), "82.00A82");
    }

    #[test]
    fn rotation_cache_trim_and_zones_are_told_where_they_are_said() {
        let bytes = answer(&[
            (69, 0x4021),
            (85, 0x20),
            (87, 0x4000),
            (169, 1),
            (217, 5400),
            (83, 0x4400),
            (102, 1),
        ]);
        let found = identity(&bytes).unwrap().value;
        assert_eq!(found.rotation, Some(Rotation::PerMinute(5400)));
        assert_eq!(found.write_cache, Some(true));
        assert!(found.trims && found.zeroes);
        assert_eq!(found.zones, Some(Zones::HostAware));
        assert_eq!(found.size_bytes, Some(512 << 32));
        assert_eq!(identity(&answer(&[])).unwrap().value.write_cache, None);
    }

    #[test]
    fn a_wrong_checksum_is_a_problem_and_none_is_not() {
        let found = identity(&answer(&[(255, 0x00a5)])).unwrap();
        assert_eq!(found.problems[0].kind, ProblemKind::Checksum);
        let mut bytes = answer(&[(255, 0x00a5)]);
        let sum = bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
        bytes[511] = sum.wrapping_neg();
        assert_eq!(identity(&bytes).unwrap().problems, []);
    }
}
