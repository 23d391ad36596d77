//! Input of a probe: where it may work, and how sure it must be.

use crate::MappedRun;

/// The most comparisons that all questions together make; each has its share of the alpha.
const COMPARISONS_MAX: u32 = 200;

/// Input of a probe.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Stretches that may be used, and where they are on their drive.
    pub runs: &'a [MappedRun],
    /// The logical sector: the least step.
    pub sector_bytes: u64,
    /// The probability that any of all answers is wrong.
    pub alpha: f64,
    /// Seed of all orders and places.
    pub seed: u64,
}

impl Ask<'_> {
    /// The share of each comparison.
    pub(super) fn share(&self) -> f64 {
        self.alpha / f64::from(COMPARISONS_MAX)
    }

    /// A seed of its own for each part.
    pub(super) fn seed(&self, part: u64) -> u64 {
        self.seed ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// Told between blocks how long the last one took, in nanoseconds; whether to go on. It may rest.
pub type Pause<'a> = &'a mut dyn FnMut(u64) -> bool;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_comparisons_together_are_as_sure_as_was_asked() {
        let ask = Ask { runs: &[], sector_bytes: 512, alpha: 0.02, seed: 1 };
        let together = ask.share() * f64::from(COMPARISONS_MAX);
        assert!((together - ask.alpha).abs() < 1e-12, "{together}");
    }
}
