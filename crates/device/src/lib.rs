//! Questions to the world, as traits: bytes of a disk, operations in a queue, counters of a disk,
//! extents of a file, files of a kernel tree.
//!
//! `format`, `stack` and everything above meet the world only through these, so the same code runs
//! on a real disk, on an image file, through an image format, on a captured tree and in memory.

mod answer_paths;
mod backing_files;
pub mod captured_tree;
pub mod disk;
mod disk_counters;
pub mod durable;
mod extent_flags;
pub mod extents;
pub mod kernel_tree;
pub mod manifest;
mod memory_disk;
mod memory_tree;
pub mod mountinfo;
pub mod pack;
mod queue;
mod sync_methods;
mod tree_nodes;
mod window;
mod writable_disk;

pub use backing_files::{FileIdentity, Files, NoFiles, NotOpened, OpenFile};
pub use captured_tree::TextTree;
pub use disk::{Disk, ReadError};
pub use disk_counters::{Counters, CountersError, DiskCounts};
pub use durable::{Durable, DurableFault};
pub use extent_flags::ExtentFlags;
pub use extents::{Extent, ExtentList, Extents, ExtentsError};
pub use kernel_tree::{KernelTree, TreeError};
pub use manifest::{Manifest, ManifestError};
pub use memory_disk::MemoryDisk;
pub use memory_tree::MemoryTree;
pub use queue::{Action, Completion, Durability, Operation, Queue, QueueError, SyncKind};
pub use window::Window;
pub use writable_disk::WritableDisk;

/// Paths of answers that are no files.
pub mod answer {
    pub use crate::answer_paths::{
        DM_STATUS, DM_TABLES, Question, ROOT, asked, of_drive, to_bytes, to_text,
    };
}
