//! The kernel's devices: block devices and what lies on what, arrays, device-mapper's tables,
//! mounts.
//!
//! Everything is read from a [`KernelTree`](device::KernelTree), so a captured machine is read like
//! this one.

mod block_device;
pub mod device_limits;
pub mod dm;
pub mod machine;
pub mod md;
pub mod mount;
mod partitioned_disk;

pub use block_device::{BlockDevice, NodeId, NodeKind, Number};
pub use device_limits::DeviceLimits;
pub use machine::Machine;
pub use mount::Swap;
pub use partitioned_disk::{Listed, PartitionedDisk};
