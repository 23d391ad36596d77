//! The distance of an address from the boundaries of a unit, whose first need not be at zero.
//!
//! A *unit* repeats every `length_bytes`; its first boundary is at `origin_bytes`. A drive whose
//! first aligned block is LBA 7 has a granule of 4096 with origin 3584. The kernel's
//! `alignment_offset` is never used here: it counts toward the next boundary and hides failures
//! (see `block/blk-settings.c`).

use std::num::NonZeroU64;

/// A repeating unit: its length and the address of one of its boundaries, both in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    length_bytes: NonZeroU64,
    origin_bytes: u64,
}

impl Unit {
    /// A unit of `length_bytes` with a boundary at address 0; `None` when the length is 0.
    #[must_use]
    pub fn new(length_bytes: u64) -> Option<Unit> {
        Unit::with_origin(length_bytes, 0)
    }

    /// A unit of `length_bytes` with a boundary at `origin_bytes`, which is reduced to the first
    /// one at or after address 0; `None` when the length is 0.
    #[must_use]
    pub fn with_origin(length_bytes: u64, origin_bytes: u64) -> Option<Unit> {
        let length_bytes = NonZeroU64::new(length_bytes)?;
        Some(Unit { length_bytes, origin_bytes: origin_bytes % length_bytes })
    }

    /// The unit's length in bytes, at least 1.
    #[must_use]
    pub fn length_bytes(self) -> u64 {
        self.length_bytes.get()
    }

    /// The first boundary at or after address 0, in bytes, below [`Unit::length_bytes`].
    #[must_use]
    pub fn origin_bytes(self) -> u64 {
        self.origin_bytes
    }

    /// Distance of `address` from the last boundary, in bytes: 0 when it is on one, else
    /// below [`Unit::length_bytes`].
    #[must_use]
    pub fn misalignment(self, address: u64) -> u64 {
        let rest = address % self.length_bytes;
        match rest.checked_sub(self.origin_bytes) {
            Some(behind) => behind,
            None => self.length_bytes.get() - self.origin_bytes + rest,
        }
    }

    /// True if `address` is on a boundary.
    #[must_use]
    pub fn aligns(self, address: u64) -> bool {
        self.misalignment(address) == 0
    }

    /// The number of units that `length_bytes` bytes from `address` touch; 0 for an empty range.
    /// A range that would end beyond `u64::MAX` is counted as if addresses went on.
    #[must_use]
    pub fn touched(self, address: u64, length_bytes: u64) -> u64 {
        if length_bytes == 0 {
            return 0;
        }
        let reach = u128::from(self.misalignment(address)) + u128::from(length_bytes);
        let count = reach.div_ceil(u128::from(self.length_bytes.get()));
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// The number of units that `length_bytes` bytes from `address` cover wholly.
    fn covered(self, address: u64, length_bytes: u64) -> u64 {
        let length = self.length_bytes.get();
        let head = (length - self.misalignment(address)) % length;
        length_bytes.checked_sub(head).map_or(0, |rest| rest.div_euclid(length))
    }

    /// The number of units that `length_bytes` bytes from `address` touch without covering: those
    /// that a write must read first.
    #[must_use]
    pub fn partial(self, address: u64, length_bytes: u64) -> u64 {
        self.touched(address, length_bytes) - self.covered(address, length_bytes)
    }

    /// The last boundary at or before `address`; `None` when that would be below address 0.
    #[must_use]
    pub fn floor(self, address: u64) -> Option<u64> {
        address.checked_sub(self.misalignment(address))
    }

    /// The first boundary at or after `address`; `None` when that is beyond `u64::MAX`.
    #[must_use]
    pub fn ceil(self, address: u64) -> Option<u64> {
        match self.misalignment(address) {
            0 => Some(address),
            behind => address.checked_add(self.length_bytes.get() - behind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(length: u64, origin: u64) -> Unit {
        Unit::with_origin(length, origin).unwrap()
    }

    #[test]
    fn a_partition_at_lba_63_is_three_and_a_half_kib_behind_a_4k_boundary() {
        assert_eq!(unit(4096, 0).misalignment(63 * 512), 3584);
    }

    #[test]
    fn with_origin_at_lba_7_sector_63_is_aligned_and_2048_is_not() {
        let drive = unit(4096, 7 * 512);
        assert!(drive.aligns(63 * 512));
        assert_eq!(drive.misalignment(2048 * 512), 512);
    }

    #[test]
    fn a_shifted_4k_write_touches_two_sectors_and_covers_none() {
        let sector = unit(4096, 0);
        assert_eq!(sector.touched(1536, 4096), 2);
        assert_eq!(sector.covered(1536, 4096), 0);
        assert_eq!(sector.partial(1536, 4096), 2);
        assert_eq!(sector.partial(4096, 4096), 0);
    }

    #[test]
    fn a_zero_length_unit_does_not_exist() {
        assert_eq!(Unit::new(0), None);
    }

    #[test]
    fn covered_and_partial_add_up_to_touched_everywhere() {
        for length in [1, 3, 512, 4096] {
            for origin in 0..length.min(9) {
                let unit = unit(length, origin);
                for address in 0..40 {
                    for size in 0..40 {
                        let brute: std::collections::BTreeSet<u64> = (address..address + size)
                            .map(|byte| (byte + length - origin % length).div_euclid(length))
                            .collect();
                        assert_eq!(unit.touched(address, size), brute.len() as u64);
                        assert!(unit.covered(address, size) <= unit.touched(address, size));
                    }
                }
            }
        }
    }

    #[test]
    fn units_of_any_length_are_computed_without_a_sum_that_overflows() {
        let numbers = [1, 2, 511, 512, 1 << 63, (1 << 63) + 512, u64::MAX - 511, u64::MAX];
        for (length, origin) in numbers.iter().flat_map(|&one| numbers.map(|other| (one, other))) {
            let unit = unit(length, origin);
            for address in numbers {
                let wide = u128::from(address) + u128::from(length - origin % length);
                assert_eq!(u128::from(unit.misalignment(address)), wide % u128::from(length));
                for size in numbers {
                    assert!(unit.partial(address, size) <= unit.touched(address, size).min(2));
                }
                let _bounds = (unit.floor(address), unit.ceil(address));
            }
        }
    }

    #[test]
    fn floor_and_ceil_never_wrap() {
        assert_eq!(unit(4096, 3584).floor(100), None);
        assert_eq!(unit(4096, 0).ceil(u64::MAX), None);
        assert_eq!(unit(4096, 3584).ceil(100), Some(3584));
    }
}
