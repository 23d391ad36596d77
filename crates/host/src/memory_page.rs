//! Memory pages of this machine.

/// Length of a memory page, in bytes.
#[must_use]
pub fn page_bytes() -> u64 {
    u64::try_from(rustix::param::page_size()).unwrap_or(4096)
}
