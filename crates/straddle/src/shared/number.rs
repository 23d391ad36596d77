//! Whole numbers as real ones.

/// A number of nanoseconds or bytes as a real number: exact below 2^53, three months or 8 PiB.
#[expect(clippy::cast_precision_loss, reason = "a latency of three months is none")]
pub(crate) fn real(number: u64) -> f64 {
    number as f64
}
