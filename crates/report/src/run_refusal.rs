//! Why a command that measures did not, or not all of it.

use serde::{Deserialize, Serialize};

/// Why nothing was measured, or not all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRefusal {
    /// What was tried, on what, and why it was refused or failed.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Whether it was refused for safety (exit code 3), not for lack of an answer (2).
    pub safety: bool,
}
