//! Stacks assembled from bytes and from a kernel's answers, sound and hostile ones.

mod drives;
mod guest;
mod hostile;
mod live;
mod lsblk;

#[global_allocator]
static COUNTING: testkit::memory::Counting = testkit::memory::Counting;
