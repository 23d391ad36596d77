//! Predicted cost of an operation.

use serde::{Deserialize, Serialize};

/// Predicted effort of one operation, counted in granules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Predicted {
    /// Of an aligned one.
    pub aligned: Effort,
    /// Of a shifted one.
    pub shifted: Effort,
}

/// Operations on drives, in granules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effort {
    /// Granules read.
    pub reads: u64,
    /// Granules written.
    pub writes: u64,
    /// Granules read because a write covers them only in part.
    pub read_modify_writes: u64,
    /// Drives that take part.
    pub drives: u64,
}
