//! What readers of rarer file systems share: numbers in either byte order, and what is plausible.

use uuid::Uuid;

use crate::bytes::Block;

/// The order in which a file system stores its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Order {
    /// The 16-bit number at `AT`.
    pub(super) fn u16<const AT: usize, const N: usize>(self, block: &Block<N>) -> u16 {
        match self {
            Order::Little => block.le16::<AT>(),
            Order::Big => block.be16::<AT>(),
        }
    }

    /// The 32-bit number at `AT`.
    pub(super) fn u32<const AT: usize, const N: usize>(self, block: &Block<N>) -> u32 {
        match self {
            Order::Little => block.le32::<AT>(),
            Order::Big => block.be32::<AT>(),
        }
    }

    /// The 64-bit number at `AT`.
    pub(super) fn u64<const AT: usize, const N: usize>(self, block: &Block<N>) -> u64 {
        match self {
            Order::Little => block.le64::<AT>(),
            Order::Big => block.be64::<AT>(),
        }
    }

    /// The term for this order.
    pub(super) fn name(self) -> &'static str {
        match self {
            Order::Little => "little-endian",
            Order::Big => "big-endian",
        }
    }
}

/// A UUID as text; `None` for all zeros, which means that none was given.
pub(super) fn uuid(bytes: [u8; 16]) -> Option<String> {
    let uuid = Uuid::from_bytes(bytes);
    (!uuid.is_nil()).then(|| uuid.to_string())
}

/// 2^`shift`, when the shift is in `range`.
pub(super) fn power(shift: u64, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
    range.contains(&shift).then(|| 1_u64.checked_shl(u32::try_from(shift).ok()?)).flatten()
}

/// `bytes`, when it is a power of two in `range`.
pub(super) fn block_size(
    bytes: impl Into<u64>,
    range: std::ops::RangeInclusive<u64>,
) -> Option<u64> {
    let bytes = bytes.into();
    (bytes.is_power_of_two() && range.contains(&bytes)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_sizes_are_powers_of_two_in_their_range_and_no_uuid_is_none() {
        assert_eq!(block_size(4096_u32, 512..=65536), Some(4096));
        assert_eq!(block_size(4095_u32, 512..=65536), None);
        assert_eq!(block_size(0_u32, 0..=65536), None);
        assert_eq!(power(12, 9..=16), Some(4096));
        assert_eq!(power(64, 0..=u64::MAX), None);
        assert_eq!(uuid([0; 16]), None);
        assert_eq!(Order::Big.u16::<0, 2>(&Block([1, 2])), 0x0102);
    }
}
