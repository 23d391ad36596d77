//! The run that goes on until a drive's write buffer is full.

use serde::{Deserialize, Serialize};

/// Durable writes one behind the other, as a series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sustained {
    /// Work in words.
    pub title: String,
    /// Bytes of each write.
    pub write_bytes: u64,
    /// Number of bytes written.
    pub written_bytes: u64,
    /// Duration, in nanoseconds.
    pub elapsed_ns: u64,
    /// Series, a point for each stretch, in order.
    pub points: Vec<SustainedPoint>,
    /// Place where the pace fell for good; `null` where it did not, or nobody looked.
    pub knee: Option<Knee>,
    /// Conclusion in a sentence.
    pub reason: String,
}

/// A stretch of a sustained run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SustainedPoint {
    /// When it ended, in nanoseconds since the run began.
    pub at_ns: u64,
    /// Number of bytes written by then.
    pub at_bytes: u64,
    /// The pace in it, in bytes a second.
    pub bytes_per_second: f64,
    /// The operations in it.
    pub operations: u64,
    /// The latency that half of them stay at or below, in nanoseconds.
    pub median_ns: u64,
    /// The greatest latency, in nanoseconds.
    pub greatest_ns: u64,
}

/// Place where the pace of a sustained run fell for good.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Knee {
    /// Number of bytes written.
    pub at_bytes: u64,
    /// The least that it may be.
    pub low_bytes: u64,
    /// The most that it may be.
    pub high_bytes: u64,
    /// The pace before it, in bytes a second.
    pub before_bytes_per_second: f64,
    /// The pace behind it, in bytes a second.
    pub after_bytes_per_second: f64,
}
