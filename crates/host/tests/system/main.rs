//! The running machine: claims, disks, queues and captures.

mod block_events;
mod claim;
mod disks;
mod engine;
mod sysroots;

#[global_allocator]
static COUNTING: testkit::memory::Counting = testkit::memory::Counting;
