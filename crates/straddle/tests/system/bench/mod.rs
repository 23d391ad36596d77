//! `straddle bench` as a user runs it, on file systems over loop devices that the tests make: what
//! it refuses, what it leaves behind when it is stopped or its drive fails, and what it answers.

mod answers;
mod disk;
mod faults;
mod interruptions;
mod jobs;
mod refusals;
mod run;
mod safety;
mod states;
pub(crate) mod volume;
