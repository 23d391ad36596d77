//! Statistics of the pairs' ratios: their median and their clipped mean, each with an interval that
//! stays valid however often it is looked at.
//!
//! All of it works on d = ln(time of an arm / time of the baseline), one for each pair.
//!
//! # Why the pairs may depend on each other
//!
//! The order within each pair is drawn by us, so the argument needs nothing of the drive. Let u and
//! v be the times that the two places of a pair would have taken under the baseline, and let an arm
//! take θ times as long in either place. A fair coin says which arm comes first, so d − ln θ is
//! ln(v/u) or ln(u/v) = −ln(v/u), each with probability 1/2, given everything before: drift,
//! bursts, the last pair. So d − ln θ is symmetric around 0 given the past, and so are its sign and
//! its clipped value; the sums of both are martingales at the true θ, and at that θ alone.

mod clipped;
mod interval;
mod ratios;
mod sign;

pub use interval::Interval;
pub use ratios::Ratios;
