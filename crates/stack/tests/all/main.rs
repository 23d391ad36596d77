//! Stacks that bytes and a kernel tell of, told ones and hostile ones.

mod drives;
mod guest;
mod hostile;
mod live;
mod lsblk;

#[global_allocator]
static COUNTING: testkit::memory::Counting = testkit::memory::Counting;
