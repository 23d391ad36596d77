//! Loop devices: which file is behind one, and new ones over a part of a file.
//!
//! Source: Linux `include/uapi/linux/loop.h`, `drivers/block/loop.c`.

mod abandoned;
mod attach;
mod open;
mod partitions;
mod status;

pub use abandoned::{detach_abandoned, mounts_on, unmount_all_on};
pub use attach::{LoopDevice, LoopError, LoopPlan};
pub(crate) use status::status;
pub use status::{LoopFile, loop_file};

#[cfg(test)]
mod tests;
