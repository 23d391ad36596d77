//! The commands that measure, as a user runs them: `bench`, `fsync`, `probe`, `watch`
//! and `atomic --live`.
#![expect(clippy::disallowed_methods, reason = "these tests run programs")]

mod atomic;
mod bench;
mod engines;
mod fsync;
mod probe;
mod watch;
