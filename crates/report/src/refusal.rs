//! Why a command that measures did not, or not all of it.

use serde::{Deserialize, Serialize};

/// Why nothing was measured, or not all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// Attempt, its object, and why it was refused or failed.
    pub message: String,
    /// Next step.
    pub hint: Option<String>,
    /// Kind of refusal, which decides the exit code.
    #[serde(default)]
    pub kind: RefusalKind,
}

impl Refusal {
    /// Returns a refusal of what is misused or cannot be done here.
    #[must_use]
    pub fn new(message: impl Into<String>, hint: Option<String>) -> Refusal {
        Refusal { message: message.into(), hint, kind: RefusalKind::Misuse }
    }

    /// Returns the same with what to do next.
    #[must_use]
    pub fn hinted(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal::new(message, Some(hint.into()))
    }

    /// Returns a refusal of what was tried and came to no verdict.
    #[must_use]
    pub fn undecided(message: impl Into<String>, hint: Option<String>) -> Refusal {
        Refusal { kind: RefusalKind::NoVerdict, ..Refusal::new(message, hint) }
    }
}

/// Kind of refusal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    /// Wrong use, or it cannot be done here: exit code 2.
    #[default]
    Misuse,
    /// Refused for safety, and nothing was written: exit code 3.
    Safety,
    /// Tried, and it came to no verdict: exit code 5.
    NoVerdict,
    /// The thing measured failed, which is a finding: exit code 1.
    Fault,
}
