//! Reasons for which a passive probe tells no unit.

use thiserror::Error;

/// Why the indirection unit cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoUnit {
    /// The counter is full, or not kept.
    #[error("the drive's counter is all ones: full, or not kept")]
    AllOnes,
    /// The counter starts at 0 at power-on.
    #[error("the drive's counter went backward: it was switched on again")]
    Backward,
    /// Nothing was counted.
    #[error("the drive's counter stood still: no unaligned writes, or it does not count")]
    StoodStill,
    /// A counter that lags needs two moves to count between.
    #[error("the drive's counter moved once: at least two moves are needed")]
    OneMove,
    /// Too few writes to tell units apart.
    #[error("the drive counted {counted} unaligned writes; at least {least} are needed")]
    FewWrites {
        /// The writes that the drive counted.
        counted: u64,
        /// The writes that are needed.
        least: u64,
    },
    /// The drive counts something else, or others write to it unseen.
    #[error("the drive counted {counted} writes, which fits no unit")]
    NoneFits {
        /// The writes that the drive counted.
        counted: u64,
    },
    /// The load does not tell units apart.
    #[error("units from {low_bytes} to {high_bytes} bytes fit alike")]
    SeveralFit {
        /// The smallest unit that fits, in bytes.
        low_bytes: u64,
        /// The largest unit that fits, in bytes.
        high_bytes: u64,
    },
    /// The largest unit counted fits, so a larger one may.
    #[error("the unit is {least_bytes} bytes or more")]
    Large {
        /// The largest unit counted, in bytes.
        least_bytes: u64,
    },
}
