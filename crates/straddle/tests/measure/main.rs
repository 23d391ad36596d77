//! The commands that measure, as a user runs them: `bench`, `fsync`, `probe` and `watch`.

mod bench;
mod engines;
mod fsync;
mod probe;
mod watch;
