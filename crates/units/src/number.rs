//! Numbers between the whole and the real, each way in one place.

/// Returns `value` as a real number; above 2^53 the nearest one.
#[must_use]
pub fn real(value: u64) -> f64 {
    // Two halves, each of which is exact.
    let high = u32::try_from(value >> 32).expect("the upper half has 32 bits");
    let low = u32::try_from(value & 0xFFFF_FFFF).expect("the lower half has 32 bits");
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

/// Returns a number of things in memory as a real number.
#[must_use]
pub fn count(value: usize) -> f64 {
    real(wide(value))
}

/// Returns a number of things in memory, as 64 bits.
#[must_use]
pub fn wide(value: usize) -> u64 {
    value.try_into().expect("no machine addresses more than 64 bits")
}

/// Returns the whole number at or below `value`: 0 for what is negative or no number, the greatest
/// for what is too large.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of a real number saturates, which is what is wanted"
)]
pub fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_both_ways_and_saturate() {
        for value in [0, 1, 1 << 32, (1 << 53) - 1] {
            assert_eq!(whole(real(value)), value);
        }
        assert_eq!(whole(-1.0), 0);
        assert_eq!(whole(f64::NAN), 0);
        assert_eq!(whole(f64::INFINITY), u64::MAX);
    }
}
