//! Grades of a completed sync.

use serde::{Deserialize, Serialize};

/// Degree to which a completed sync can be trusted, the best first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// No evidence against durability on any device visible from this machine.
    Consistent,
    /// Nothing speaks against it, and something that matters could not be seen.
    #[default]
    Unproven,
    /// A layer hides all that is below it.
    Opaque,
    /// Something was seen that a durable sync does not usually show.
    Suspect,
    /// The evidence excludes durability.
    NotDurable,
}

units::words!(Grade);
