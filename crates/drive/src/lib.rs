//! Drives of known truth: hard disks, flash, arrays and caches in simulated time.
//!
//! A model is pure and deterministic: no clock, no I/O, no randomness but its seed's. What a
//! misaligned write costs is not told to it but follows from how it works: a disk that turns, an
//! arm that moves, a mapping unit that must be read before it can be written whole.

pub mod array;
mod clock;
mod cloud;
mod command;
mod controller;
mod flash;
pub mod hard_disk;
mod memory;
mod model;
mod plan_bounds;
pub mod power;
pub mod profile;
pub mod published;
mod queue;
mod request_counts;
pub mod run;
mod server;
pub mod sheet;
mod slab;
mod sorted;
mod tally;
mod wire;

pub use array::{Array, ArrayPlan, Member};
pub use cloud::{Cloud, CloudPlan, Ideal, Spread, VolumeLimits};
pub use command::{CommandFault, CommandKind, DriveCommand, DriveCompletion};
pub use controller::{Controller, ControllerPlan};
pub use flash::{Flash, FlashPlan, Victim};
pub use hard_disk::{HardDisk, HardDiskPlan};
pub use memory::{Memory, MemoryPlan};
pub use model::Model;
pub use plan_bounds::PlanFault;
pub use queue::{HostRules, ModelCounters, ModelQueue};
pub use request_counts::RequestCounts;
pub use tally::DriveTally;
