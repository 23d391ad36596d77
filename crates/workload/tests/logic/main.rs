//! Readers on the documentation's examples, and on damaged files.

mod engines_page;
mod examples;
mod hostile;
mod jobs_page;

#[global_allocator]
static COUNTING: testkit::memory::Counting = testkit::memory::Counting;
