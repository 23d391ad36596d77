//! The commands that measure, as a user runs them: `bench`, `fsync`, `probe`, `watch`
//! and `atomic --live`.

mod atomic;
mod bench;
mod engines;
mod fsync;
mod probe;
mod watch;
