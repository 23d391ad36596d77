//! What is believed of durable writes.

/// How many times as long one durable write may take as another of the same bytes on the same kind
/// of drive; where they are further apart, the quicker one may not be durable. No source gives such
/// a limit: it is ours.
pub const DURABLE_APART: u32 = 5;
