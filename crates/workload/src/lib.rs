//! Work for a disk: fio's job files, raidtest's request files, engines' write patterns, recorded
//! traces. Pure; everything read is hostile.
//!
//! Nothing here opens a file: a job's `filename` is kept as it was written. Nothing panics on any
//! input, and no count that was read decides how much is allocated before it is checked.

mod duration;
pub mod engine;
pub mod hostile;
mod input_error;
pub mod job;
pub mod near_words;
pub mod profile_text;
pub mod raidtest;
pub mod trace;

pub use duration::Duration;
pub use engine::{Engines, Profile};
pub use input_error::InputError;
pub use job::{Job, JobFile};
pub use raidtest::Requests;
pub use trace::{Stage, TraceFormat, TraceStream};
