//! Two pages of ATA's Device Statistics log, 04h: general statistics and those of solid state
//! drives.
//!
//! Source: ACS-4, "Device Statistics log (Log Address 04h)", pages 01h and 07h. Each statistic is a
//! little-endian word of 8 bytes, whose upper byte holds flags: bit 63 says that the drive keeps
//! it, bit 62 that the value is valid.

use super::{NoAnswer, head, wrong};
use crate::bytes::Block;
use crate::{Parsed, Problem};

/// The length of one page in bytes.
pub const PAGE_BYTES: usize = 512;
/// The length of the answer in bytes: page 01h, then page 07h.
pub const ANSWER_BYTES: usize = 2 * PAGE_BYTES;

/// A drive's statistics. `None` where the drive does not keep a value, or calls it invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Logical sectors that hosts wrote.
    pub sectors_written: Option<u64>,
    /// Percentage Used Endurance Indicator; it may be above 100, and 255 means 255 or more.
    pub used_percent: Option<u8>,
}

/// The facts of both pages.
///
/// # Errors
/// When there are fewer than 1024 bytes, or all are zeros.
pub fn statistics(bytes: &[u8]) -> Result<Parsed<Statistics>, NoAnswer> {
    let block = head::<ANSWER_BYTES>("ATA Device Statistics log", bytes)?;
    let mut problems = Vec::new();
    let general = is_page::<2>(&block, 1, &mut problems);
    let solid = is_page::<{ PAGE_BYTES + 2 }>(&block, 7, &mut problems);
    let sectors = valid(block.le64::<24>()).filter(|_| general);
    let used = valid(block.le64::<{ PAGE_BYTES + 8 }>()).filter(|_| solid);
    let value = Statistics {
        sectors_written: sectors.map(|word| word & 0xffff_ffff_ffff),
        used_percent: used.map(|word| word.to_le_bytes()[0]),
    };
    Ok(Parsed { value, problems })
}

/// Returns whether the page whose number is at `AT` is page `number`. All zeros is a page that the
/// drive does not have; any other number is a problem.
fn is_page<const AT: usize>(
    block: &Block<ANSWER_BYTES>,
    number: u8,
    problems: &mut Vec<Problem>,
) -> bool {
    let found = block.array::<AT, 1>()[0];
    if found != number && found != 0 {
        let detail = format!("page {number} was asked for, and page {found} came");
        problems.push(wrong(if number == 1 { 2 } else { 514 }, detail));
    }
    found == number
}

/// Returns the word of a statistic that the drive keeps and calls valid.
fn valid(word: u64) -> Option<u64> {
    (word >> 62 == 3).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(sectors: u64, used: u64) -> [u8; ANSWER_BYTES] {
        let mut bytes = [0; ANSWER_BYTES];
        (bytes[0], bytes[2]) = (1, 1);
        bytes[24..32].copy_from_slice(&sectors.to_le_bytes());
        (bytes[512], bytes[514]) = (1, 7);
        bytes[520..528].copy_from_slice(&used.to_le_bytes());
        bytes
    }

    #[test]
    fn sectors_and_life_used_are_told_where_they_are_valid() {
        let found = statistics(&answer(3 << 62 | 4711, 3 << 62 | 12)).unwrap();
        assert_eq!(found.problems, []);
        assert_eq!(found.value.sectors_written, Some(4711));
        assert_eq!(found.value.used_percent, Some(12));
        let kept = statistics(&answer(1 << 63 | 4711, 12)).unwrap().value;
        assert_eq!((kept.sectors_written, kept.used_percent), (None, None));
    }

    #[test]
    fn a_page_of_another_number_is_a_problem_and_an_empty_one_is_not() {
        let mut bytes = answer(3 << 62 | 1, 3 << 62 | 1);
        bytes[2] = 5;
        bytes[512..].fill(0);
        let found = statistics(&bytes).unwrap();
        assert_eq!(found.value, Statistics { sectors_written: None, used_percent: None });
        assert_eq!(found.problems.len(), 1);
        assert!(matches!(statistics(&[1; 1023]), Err(NoAnswer::Short { .. })));
        assert!(matches!(statistics(&[0; 1024]), Err(NoAnswer::Zeros { .. })));
    }
}
