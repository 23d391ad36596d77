//! Helpers that readers share: numbers in either byte order, identifiers, labels, and what is
//! plausible.

use std::ops::RangeInclusive;

use units::DiskText;
use uuid::Uuid;

use crate::bytes::Block;

/// The order in which a file system stores its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The 16-bit number at `AT`.
    pub(super) fn u16<const AT: usize, const N: usize>(self, block: &Block<N>) -> u16 {
        match self {
            ByteOrder::Little => block.le16::<AT>(),
            ByteOrder::Big => block.be16::<AT>(),
        }
    }

    /// The 32-bit number at `AT`.
    pub(super) fn u32<const AT: usize, const N: usize>(self, block: &Block<N>) -> u32 {
        match self {
            ByteOrder::Little => block.le32::<AT>(),
            ByteOrder::Big => block.be32::<AT>(),
        }
    }

    /// The 64-bit number at `AT`.
    pub(super) fn u64<const AT: usize, const N: usize>(self, block: &Block<N>) -> u64 {
        match self {
            ByteOrder::Little => block.le64::<AT>(),
            ByteOrder::Big => block.be64::<AT>(),
        }
    }

    /// The term for this order.
    pub(super) fn name(self) -> &'static str {
        match self {
            ByteOrder::Little => "little-endian",
            ByteOrder::Big => "big-endian",
        }
    }
}

/// A UUID as `blkid` prints it; `None` when it is all zeros, which means that there is none.
pub(super) fn uuid(bytes: [u8; 16]) -> Option<String> {
    let uuid = Uuid::from_bytes(bytes);
    (!uuid.is_nil()).then(|| uuid.to_string())
}

/// A serial of four bytes as `blkid` prints it, `ABCD-0123`; `None` when it is 0.
pub(super) fn serial_text(serial: u32) -> Option<String> {
    (serial != 0).then(|| format!("{:04X}-{:04X}", serial >> 16, serial & 0xffff))
}

/// The label in a padded field; `None` when it is empty.
pub(super) fn label(padded: &[u8]) -> Option<DiskText> {
    not_empty(DiskText::from_padded(padded))
}

/// `text`, unless it is empty.
pub(super) fn not_empty(text: DiskText) -> Option<DiskText> {
    (!text.is_empty()).then_some(text)
}

/// 2 to the power of `shift`, when that is in `range`.
pub(super) fn power(shift: impl Into<u64>, range: RangeInclusive<u64>) -> Option<u64> {
    let value = 1_u64.checked_shl(u32::try_from(shift.into()).ok()?)?;
    range.contains(&value).then_some(value)
}

/// `value`, when it is a power of two in `range`.
pub(super) fn power_of_two(value: impl Into<u64>, range: RangeInclusive<u64>) -> Option<u64> {
    let value = value.into();
    (value.is_power_of_two() && range.contains(&value)).then_some(value)
}

/// Returns how many of `claims` hold: a damaged superblock keeps most of them, random bytes almost
/// none.
pub(super) fn holding(claims: &[bool]) -> usize {
    claims.iter().filter(|&&holds| holds).count()
}

/// A number of bytes, for a detail.
pub(super) fn bytes_text(bytes: u64) -> String {
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_stay_within_their_bounds_for_any_shift() {
        assert_eq!(power(12_u32, 512..=65536), Some(4096));
        assert_eq!(power(8_u32, 512..=65536), None);
        assert_eq!(power(u32::MAX, 512..=65536), None);
        assert_eq!(power(64_u64, 0..=u64::MAX), None);
        assert_eq!(power_of_two(4096_u32, 512..=65536), Some(4096));
        assert_eq!(power_of_two(3_u16, 1..=8), None);
        assert_eq!(power_of_two(0_u32, 0..=65536), None);
    }

    #[test]
    fn identifiers_of_zeros_are_none() {
        assert_eq!(uuid([0; 16]), None);
        assert_eq!(serial_text(0x00ab_0012).as_deref(), Some("00AB-0012"));
    }

    #[test]
    fn numbers_are_read_in_their_order() {
        assert_eq!(ByteOrder::Big.u16::<0, 2>(&Block([1, 2])), 0x0102);
    }
}
