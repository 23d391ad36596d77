//! Bytes that a drive counts in a large unit.

/// A number of bytes, counted in units and rounded up, as NVMe's Data Units Written is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoarseBytes {
    count: u64,
    unit_bytes: u64,
}

impl CoarseBytes {
    /// `count` units of `unit_bytes`; `None` when either is 0 or the bytes exceed 2^62, which no
    /// drive takes in its life.
    #[must_use]
    pub fn new(count: u64, unit_bytes: u64) -> Option<CoarseBytes> {
        let bytes = count.checked_mul(unit_bytes)?;
        (1..=1 << 62).contains(&bytes).then_some(CoarseBytes { count, unit_bytes })
    }

    /// The length of one unit, in bytes.
    #[must_use]
    pub fn unit_bytes(self) -> u64 {
        self.unit_bytes
    }

    /// The bytes counted, the last unit taken as full.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.count * self.unit_bytes
    }

    /// The units from `before` to this count, with the least and the most bytes that they can mean:
    /// one unit less and one more, since both counts are rounded.
    ///
    /// # Errors
    /// When the count went backward or stood still, or the units differ; the text says which.
    pub fn since(self, before: CoarseBytes) -> Result<(u64, u64, u64), String> {
        if self.unit_bytes != before.unit_bytes {
            return Err("the counter's unit changed between the readings".to_owned());
        }
        let units = moved(before.count, self.count)?;
        Ok((units, (units - 1) * self.unit_bytes, (units + 1) * self.unit_bytes))
    }
}

/// Returns the difference of two readings of a counter, at least 1.
///
/// # Errors
/// When it went backward or stood still; the text says which.
pub(super) fn moved(before: u64, after: u64) -> Result<u64, String> {
    match after.checked_sub(before) {
        None => Err(format!("the counter went backward, from {before} to {after}")),
        Some(0) => Err("the counter stood still".to_owned()),
        Some(moved) => Ok(moved),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_off_by_one_unit_at_each_end() {
        let at = |count| CoarseBytes::new(count, 512_000).unwrap();
        assert_eq!(at(13).since(at(3)), Ok((10, 9 * 512_000, 11 * 512_000)));
        assert!(at(3).since(at(13)).unwrap_err().contains("backward"));
        assert!(at(3).since(at(3)).unwrap_err().contains("stood still"));
        let other = CoarseBytes::new(3, 512).unwrap();
        assert!(at(3).since(other).unwrap_err().contains("unit"));
    }

    #[test]
    fn nothing_and_too_much_are_no_count() {
        assert_eq!(CoarseBytes::new(0, 512), None);
        assert_eq!(CoarseBytes::new(u64::MAX, 512), None);
        assert_eq!(CoarseBytes::new(1 << 62, 512), None);
    }
}
