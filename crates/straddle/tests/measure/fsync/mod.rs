//! `straddle fsync` on real file systems: what it measures, says, refuses and leaves behind.

mod answers;
mod endings;
mod faults;
mod ordinary;
mod refusals;
mod room;
mod run;
mod slow;
mod volume;
