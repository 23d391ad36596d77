//! Readers against fio and blkparse, on the documentation's examples, and on damaged files.

mod engines_page;
mod examples;
mod fio_agrees;
mod hostile;
mod jobs_page;
mod traces_agree;

#[global_allocator]
static COUNTING: testkit::memory::Counting = testkit::memory::Counting;
