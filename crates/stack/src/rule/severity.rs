//! Severity of a finding, and of a misalignment by what it costs.

use serde::{Deserialize, Serialize};

use super::cost::Costed;

/// Importance of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing; costs nothing.
    Info,
    /// Costs something, or rests on an assumption.
    Warning,
    /// Costs much, or will not work.
    Error,
}

units::words!(Severity);

/// Any RMW that alignment would save is a warning; two or more an error on rotating media or
/// parity.
pub(super) fn of_cost(cost: Option<&Costed>, assumed: bool) -> Severity {
    match cost {
        Some(cost) if !assumed && cost.excess_rmws() >= 2 && (cost.rotating || cost.parity) => {
            Severity::Error
        }
        Some(cost) if cost.excess_rmws() > 0 => Severity::Warning,
        Some(_) => Severity::Info,
        // Misaligned, and the cost cannot be told: that is no reason to stay quiet.
        None => Severity::Warning,
    }
}

/// A chunk or full stripe that is missed alone is a warning where parity makes a write read.
pub(super) fn of_stripe(parity: bool) -> Severity {
    if parity { Severity::Warning } else { Severity::Info }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stripe_missed_is_a_warning_where_parity_makes_a_write_read() {
        assert_eq!([true, false].map(of_stripe), [Severity::Warning, Severity::Info]);
    }
}
