//! The NVMe log page 02h, SMART / Health Information.
//!
//! Source: NVM Express Base Specification 2.1, "SMART / Health Information (Log Page Identifier
//! 02h)". All numbers are little-endian.

use super::{Counter, NoAnswer, head, wrong};
use crate::Parsed;

/// The length of the page in bytes.
pub const ANSWER_BYTES: usize = 512;
/// The bytes of one data unit: a thousand units of 512 bytes, whatever the logical block is.
pub const DATA_UNIT_BYTES: u64 = 512_000;

/// A controller's report of its health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the page holds one bit for each")]
pub struct Health {
    /// Critical warning bit 0: the spare blocks left are below the threshold.
    pub spare_low: bool,
    /// Critical warning bit 1: a temperature is above or below the thresholds that are set.
    pub temperature_off: bool,
    /// Critical warning bit 2: it is less reliable, by media errors or an internal one.
    pub degraded: bool,
    /// Critical warning bit 3: the media take no more writes.
    pub read_only: bool,
    /// Critical warning bit 4: what backs its volatile memory up failed. A controller without such
    /// a thing leaves the bit 0 too, so a 0 says nothing.
    pub backup_failed: bool,
    /// Available Spare in percent of what there was; `None` where the page holds more than 100.
    pub spare_percent: Option<u8>,
    /// Percentage Used: the life used by the maker's own estimate. It may be above 100; 255 means
    /// 255 or more.
    pub used_percent: u8,
    /// Data Units Written: what hosts wrote, in units of [`DATA_UNIT_BYTES`], rounded up. A 0 says
    /// that the drive does not report it.
    pub data_units_written: Counter,
    /// Host Write Commands completed.
    pub host_writes: Counter,
    /// Unsafe Shutdowns: how often power went without notice. Values above 64 bits are cut to that.
    pub unsafe_shutdowns: u64,
    /// Media and Data Integrity Errors; cut as above.
    pub media_errors: u64,
}

/// The facts of the page.
///
/// # Errors
/// When it is shorter than 512 bytes, or all zeros: a drive that works has spare blocks and was
/// switched on once.
pub fn health(bytes: &[u8]) -> Result<Parsed<Health>, NoAnswer> {
    let block = head::<ANSWER_BYTES>("NVMe health log", bytes)?;
    let mut problems = Vec::new();
    let warning = block.byte::<0>();
    let spare = block.byte::<3>();
    if spare > 100 {
        problems.push(wrong(3, format!("{spare} % of the spare blocks are left")));
    }
    let value = Health {
        spare_low: warning & 1 != 0,
        temperature_off: warning & 2 != 0,
        degraded: warning & 4 != 0,
        read_only: warning & 8 != 0,
        backup_failed: warning & 16 != 0,
        spare_percent: (spare <= 100).then_some(spare),
        used_percent: block.byte::<5>(),
        data_units_written: Counter::of(block.array::<48, 16>()),
        host_writes: Counter::of(block.array::<80, 16>()),
        unsafe_shutdowns: cut(block.array::<144, 16>()),
        media_errors: cut(block.array::<160, 16>()),
    };
    Ok(Parsed { value, problems })
}

/// A 128-bit number, or the largest of 64 bits.
fn cut(stored: [u8; 16]) -> u64 {
    u64::try_from(u128::from_le_bytes(stored)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(bytes: &[(usize, u8)]) -> [u8; ANSWER_BYTES] {
        let mut page = [0; ANSWER_BYTES];
        page[3] = 100;
        bytes.iter().for_each(|&(at, value)| page[at] = value);
        page
    }

    #[test]
    fn each_warning_is_a_bit_of_the_first_byte() {
        let found = |warning| health(&page(&[(0, warning)])).unwrap().value;
        assert!(found(1).spare_low && found(4).degraded && found(8).read_only);
        assert!(found(2).temperature_off && !found(0xfd).temperature_off);
        assert!(found(16).backup_failed && !found(0x6f).backup_failed);
        assert!(!found(0).backup_failed);
    }

    #[test]
    fn life_used_may_be_over_all_of_it_and_spare_may_not() {
        let found = health(&page(&[(5, 140)])).unwrap();
        assert_eq!((found.value.used_percent, found.value.spare_percent), (140, Some(100)));
        assert_eq!(found.problems, []);
        let absurd = health(&page(&[(3, 200)])).unwrap();
        assert_eq!(absurd.value.spare_percent, None);
        assert_eq!(absurd.problems[0].detail, "200 % of the spare blocks are left");
    }

    #[test]
    fn numbers_of_128_bits_are_cut_to_what_fits() {
        let found = health(&page(&[(144, 7), (168, 1)])).unwrap().value;
        assert_eq!((found.unsafe_shutdowns, found.media_errors), (7, u64::MAX));
    }

    #[test]
    fn bytes_and_commands_of_hosts_are_counted_from_48_and_80() {
        let mut bytes = page(&[(48, 7), (80, 9)]);
        let found = health(&bytes).unwrap().value;
        assert_eq!(found.data_units_written, Counter::Count(7));
        assert_eq!(found.host_writes, Counter::Count(9));
        bytes[48..64].fill(0xff);
        assert_eq!(health(&bytes).unwrap().value.data_units_written, Counter::AllOnes);
    }

    #[test]
    fn a_page_that_is_short_or_empty_says_nothing() {
        assert!(matches!(health(&[1; 511]), Err(NoAnswer::Short { .. })));
        assert!(matches!(health(&[0; 512]), Err(NoAnswer::Zeros { .. })));
    }
}
