//! Requests of the clients of a drive that is served, counted.

use serde::{Deserialize, Serialize};

/// Requests of clients so far, as they came; the model's own account is its `DriveTally`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestCounts {
    /// Reads.
    pub reads: u64,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Writes, forced ones included.
    pub writes: u64,
    /// Bytes that were written.
    pub written_bytes: u64,
    /// Writes that were forced to the medium (FUA).
    pub fua_writes: u64,
    /// Flushes; a drive without a volatile write cache is not told of them.
    pub flushes: u64,
    /// Discards, and zeros that need no room.
    pub discards: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Answers that were due at a time.
    pub timed_answers: u64,
    /// Nanoseconds of real time by which those answers were late, summed.
    pub late_ns: u64,
    /// The latest of them, in nanoseconds of real time.
    pub late_max_ns: u64,
}
