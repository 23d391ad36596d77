//! The plausible ratio of the times of two durable writes.

/// Largest plausible ratio of the times of two durable writes of the same bytes on the same kind of
/// drive; where they are further apart, the quicker one may not be durable. No source gives such a
/// limit: it is ours.
pub const DURABLE_APART: u32 = 5;
