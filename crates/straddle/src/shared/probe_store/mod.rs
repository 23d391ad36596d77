//! Findings of probes, kept between runs: one file for each drive, by its world-wide name or
//! serial.
//!
//! They are in the directory of [`crate::shared::state_directory`]. A file is used only for the
//! drive that it names, with the firmware and the sector format that it names. Whoever may write a
//! file can say what a drive is, so one that others may write, or that another user owns, is
//! refused; as is all of a directory of which that is true.
//!
//! | file | what it is |
//! |---|---|
//! | `store` | the directory: what is kept of a drive, and keeping it |
//! | `file_name` | a file's name |
//! | `read_file` | one file that may hold anything |
//! | `trust` | who can have written it |
//! | `granule` | what it gives |
//! | `identity` | which drive, in which state |

mod file_name;
mod granule;
mod identity;
mod read_file;
mod store;
#[cfg(test)]
mod tests;
mod trust;

pub(crate) use identity::identity;
pub(crate) use store::Store;
pub(crate) use trust::{trusted, trusted_directory};
