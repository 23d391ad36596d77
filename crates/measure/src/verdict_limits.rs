//! Ratios at which a penalty, and no penalty, begin.

/// Place where verdicts begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictLimits {
    /// A penalty is an interval wholly above this ratio.
    pub penalty_above: f64,
    /// No penalty is an interval wholly from here ...
    pub same_low: f64,
    /// ... to here.
    pub same_high: f64,
    /// Largest half width of the interval of a certain penalty: see
    /// [`crate::Interval::half_width`].
    pub half_width: f64,
    /// Further pairs that a certain penalty may take to become that narrow, as a multiple of the
    /// pairs that made it certain.
    pub extra: f64,
}

impl Default for VerdictLimits {
    fn default() -> VerdictLimits {
        VerdictLimits {
            penalty_above: 1.10,
            same_low: 0.95,
            same_high: 1.05,
            half_width: 0.05,
            extra: 3.0,
        }
    }
}
