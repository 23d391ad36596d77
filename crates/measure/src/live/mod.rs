//! The running workload: who wrote what is off the granule, in which lengths, and what follows.
//!
//! The kernel counts; this room makes sense of a sample of those writes.

pub mod consequence;
pub mod off_writer;
pub mod off_writes;
pub mod request_writers;

pub use consequence::{Consequence, consequences};
pub use off_writer::{Region, WriterIdentity};
pub use off_writes::{OffWrite, OffWriteTally, OffWriter};
pub use request_writers::{RequestWriters, SectorRange};
