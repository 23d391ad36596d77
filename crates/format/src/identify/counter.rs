//! A counter of a log page.

/// A counter as a page stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// The count; 0 may also say that the drive does not count.
    Count(u64),
    /// Every bit is set: the counter is full, or the drive does not keep it.
    AllOnes,
    /// More than fits in 64 bits.
    Above64Bits,
}

impl Counter {
    /// The counter in `stored`, little-endian; bytes after the sixteenth are ignored.
    #[must_use]
    pub fn of<const N: usize>(stored: [u8; N]) -> Counter {
        if stored.iter().all(|&byte| byte == 0xff) {
            return Counter::AllOnes;
        }
        let low = stored.iter().take(16).rev();
        let count = low.fold(0_u128, |count, &byte| count << 8 | u128::from(byte));
        u64::try_from(count).map_or(Counter::Above64Bits, Counter::Count)
    }

    /// Returns the count.
    ///
    /// # Errors
    /// When every bit is set, or when the count does not fit in 64 bits; the text says which.
    pub fn count(self) -> Result<u64, &'static str> {
        match self {
            Counter::Count(count) => Ok(count),
            Counter::AllOnes => Err("the counter is all ones: full, or not kept"),
            Counter::Above64Bits => Err("the counter is above 64 bits"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_a_count_unless_all_ones_or_too_large() {
        assert_eq!(Counter::of([1, 2]), Counter::Count(0x201));
        assert_eq!(Counter::of([0; 16]), Counter::Count(0));
        assert_eq!(Counter::of([0xff; 4]), Counter::AllOnes);
        let mut large = [0; 16];
        large[8] = 1;
        assert_eq!(Counter::of(large), Counter::Above64Bits);
        assert!(Counter::of(large).count().is_err());
        assert_eq!(Counter::of([0xff; 7]), Counter::AllOnes);
    }
}
