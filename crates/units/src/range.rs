//! A run of bytes that never wraps around.

/// `length_bytes` bytes from `start_bytes`; the end is at most `u64::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteRange {
    start_bytes: u64,
    length_bytes: u64,
}

impl ByteRange {
    /// `length_bytes` bytes from `start_bytes`; `None` when the end exceeds `u64::MAX`.
    #[must_use]
    pub fn new(start_bytes: u64, length_bytes: u64) -> Option<ByteRange> {
        start_bytes.checked_add(length_bytes)?;
        Some(ByteRange { start_bytes, length_bytes })
    }

    /// The address of the first byte.
    #[must_use]
    pub fn start_bytes(self) -> u64 {
        self.start_bytes
    }

    /// The number of bytes; may be 0.
    #[must_use]
    pub fn length_bytes(self) -> u64 {
        self.length_bytes
    }

    /// The address after the last byte.
    #[must_use]
    pub fn end_bytes(self) -> u64 {
        self.start_bytes + self.length_bytes
    }

    /// Returns whether both hold at least one common byte.
    #[must_use]
    pub fn overlaps(self, other: ByteRange) -> bool {
        self.intersection(other).is_some()
    }

    /// The bytes that both hold, or `None` when there are none.
    #[must_use]
    pub fn intersection(self, other: ByteRange) -> Option<ByteRange> {
        let start = self.start_bytes.max(other.start_bytes);
        let end = self.end_bytes().min(other.end_bytes());
        (start < end).then(|| ByteRange { start_bytes: start, length_bytes: end - start })
    }

    /// Returns whether all bytes of `other` are in this range.
    #[must_use]
    pub fn contains(self, other: ByteRange) -> bool {
        self.start_bytes <= other.start_bytes && other.end_bytes() <= self.end_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_beyond_the_last_address_does_not_exist() {
        assert_eq!(ByteRange::new(u64::MAX, 1), None);
        assert!(ByteRange::new(u64::MAX, 0).is_some());
    }

    #[test]
    fn touching_ranges_do_not_overlap() {
        let (left, right) = (ByteRange::new(0, 10).unwrap(), ByteRange::new(10, 5).unwrap());
        assert!(!left.overlaps(right));
        assert_eq!(ByteRange::new(5, 10).unwrap().intersection(left), ByteRange::new(5, 5));
    }
}
