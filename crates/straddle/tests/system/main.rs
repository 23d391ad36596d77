//! Every command, as a user runs it.
#![expect(clippy::disallowed_methods, reason = "these tests run programs")]

mod amplify;
mod amplify_drive;
mod apply;
mod atomic;
mod bench;
mod captured;
mod check;
mod conservation;
mod convert;
mod docs;
mod draw;
mod drive;
mod drive_fit;
mod drive_stack;
mod drive_wear;
mod engines;
mod exit_code_tests;
mod exits;
mod fleet;
mod fsync;
mod generate;
mod honesty;
mod inputs;
mod plan;
mod plugins;
mod power_cuts;
mod probe;
mod report;
mod result_file;
mod serve;
mod simulate;
mod sysroot;
mod torture;
mod trace;
mod watch;
