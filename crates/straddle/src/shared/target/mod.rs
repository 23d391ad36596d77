//! Targets that the user's words name: disks, partitions, mount points, images, directories of
//! images.

mod description;
mod directory;
mod expansion;
mod start;

pub(crate) use description::{CheckTarget, FoundInDirectory, What, joined_names, plain};
pub(crate) use directory::holds_none;
pub(crate) use expansion::{disk_names, expand, image_around};
pub(crate) use start::{start_file, start_odd};
