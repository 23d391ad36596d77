//! `straddle fsync` on real file systems: what it measures, says, refuses and leaves behind.

mod answers;
mod endings;
mod faults;
mod free_space;
mod refusals;
mod run;
mod thin_layers;
mod unprivileged;
mod volume;
