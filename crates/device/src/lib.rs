//! What may be asked of the world, as traits: bytes of a disk, files of a kernel tree.
//!
//! `format`, `stack` and everything above meet the world only through these, so the same code runs
//! on a real disk, on an image file, through an image format, on a captured tree and in memory.

pub mod disk;
pub mod files;
pub mod memory;
pub mod pack;
pub mod tree;
pub mod window;

pub use disk::{Disk, ReadError};
pub use files::{FileIdentity, Files, NoFiles, OpenFile};
pub use memory::MemoryDisk;
pub use tree::{KernelTree, MemoryTree, TreeError};
pub use window::Window;
