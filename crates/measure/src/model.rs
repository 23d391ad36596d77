//! A model drive with simulated time, and trials of the experiment on it: the truth is known, so
//! what the experiment says can be checked.
//!
//! The drive drifts, remembers, stumbles and changes its pace (see [`Pace`]), as real ones were
//! seen to do, and takes longer by a known [`Effect`] for each operation that does not start on a
//! boundary of its unit. It counts what it does, and can fail in known ways. Here for tests and for
//! `cargo xtask soak`; the feature `model` makes it public.

pub mod drive;
mod flight;
pub mod geometry;
pub mod matrix;
pub mod pace;
pub mod probed;
pub mod probing;
pub mod queued;
pub mod series;
pub mod tails;
pub mod trial;

pub use drive::{Counting, Drive, DriveCounters, DrivePlan, Failure};
pub use matrix::{Row, Tally};
pub use pace::{Pace, Temper};
pub use trial::{Outcome, Trial};

/// How much longer an operation takes that does not start on a boundary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// So many times as long.
    pub times: f64,
    /// And so many nanoseconds more.
    pub plus_ns: f64,
}

impl Effect {
    /// None.
    pub const NONE: Effect = Effect { times: 1.0, plus_ns: 0.0 };

    /// Returns how long an operation takes that would take `plain_ns`.
    #[must_use]
    pub fn on(&self, plain_ns: f64) -> f64 {
        plain_ns * self.times + self.plus_ns
    }
}

#[cfg(test)]
mod tests;
