//! The bounds of what a plan says, which all plans check in the same way.

/// Why such a drive cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{value} is {found}, must be {wanted}")]
pub struct PlanFault {
    /// Name of the value in profiles.
    pub value: &'static str,
    /// The value itself.
    pub found: u64,
    /// Bounds in words.
    pub wanted: &'static str,
}

/// A value: true if it is within its bounds, its name in profiles, what it is and what it may be.
pub(crate) type Check = (bool, &'static str, u64, &'static str);

/// The largest drive: 2^56 bytes, so that sums of addresses stay below 2^63.
pub(crate) const CAPACITY_BYTES_MAX: u64 = 1 << 56;

/// Rejects the first value that is out of its bounds.
pub(crate) fn check(checks: impl IntoIterator<Item = Check>) -> Result<(), PlanFault> {
    match checks.into_iter().find(|(is_right, ..)| !is_right) {
        Some((_, value, found, wanted)) => Err(PlanFault { value, found, wanted }),
        None => Ok(()),
    }
}

/// Time that anything of a drive takes.
pub(crate) fn time(value: &'static str, ns: u64) -> Check {
    (ns <= 10_000_000_000, value, ns, "at most 10 s")
}

/// The speed of a wire.
pub(crate) fn speed(value: &'static str, bytes_per_second: u64) -> Check {
    let range = 1_000..=1 << 40;
    (range.contains(&bytes_per_second), value, bytes_per_second, "from 1000 to 2^40")
}

/// The addressable unit.
pub(crate) fn logical_sector(bytes: u64) -> Check {
    (is_sector(bytes), "logical_sector", bytes, "a power of two from 512 to 65536")
}

/// True if a sector can be so long.
pub(crate) fn is_sector(bytes: u64) -> bool {
    bytes.is_power_of_two() && (512..=65_536).contains(&bytes)
}

/// Number of bytes that a drive holds.
pub(crate) fn capacity(bytes: u64, logical_bytes: u64) -> Check {
    let is_size = (1 << 20..=CAPACITY_BYTES_MAX).contains(&bytes);
    let is_whole = bytes.is_multiple_of(logical_bytes.max(1));
    (is_size && is_whole, "capacity", bytes, "whole sectors, from 1 MiB to 2^56")
}

/// Number of commands among which a drive chooses.
pub(crate) fn depth(commands: u16) -> Check {
    ((1..=1024).contains(&commands), "depth", commands.into(), "from 1 to 1024")
}
