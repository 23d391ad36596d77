//! The commands that measure, as a user runs them: `bench`, `fsync` and `probe`.

mod bench;
mod engines;
mod fsync;
mod probe;
