//! The kernel's devices: block devices and what lies on what, arrays, device-mapper's tables,
//! mounts.
//!
//! Everything is read from a [`KernelTree`](device::KernelTree), so a captured machine is read like
//! this one.

pub mod dm;
pub mod limits;
pub mod machine;
pub mod md;
pub mod mount;
mod node;
mod part;

pub use limits::DeviceLimits;
pub use machine::Machine;
pub use mount::Swap;
pub use node::{BlockDevice, NodeId, NodeKind, Number};
pub use part::{Listed, PartitionedDisk};
