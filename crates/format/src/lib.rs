//! Bytes to facts: partition tables, members of arrays and volumes, file systems, image formats.
//!
//! Every parser returns what it read *plus* what is wrong with it: a damaged table is described
//! field by field, never refused whole. Nothing here opens anything; bytes come through
//! [`device::Disk`], because where the next bytes are (an extended partition, a block of a VHD,
//! LVM's text) stands in the bytes before them. All bytes are hostile: offsets are checked, lengths
//! are bounded before anything is allocated, chains are cut when they repeat, and no parser panics.

pub mod blank;
pub mod bytes;
pub mod checksum;
pub mod database_page;
pub mod filesystem;
pub mod heads;
pub mod hostile;
pub mod identify;
pub mod image;
pub mod lost_table;
pub mod member;
pub mod named;
mod precedence;
pub mod probe;
pub mod problem;
mod reading;
pub mod signature;
pub mod table;

pub use problem::{Parsed, Problem, ProblemKind};
