//! Parsers on bytes made here, on those of real disks, and on hostile ones.

mod fuzz_targets;
mod guest_agree;
mod hostile;
mod identify_real;
mod lost_table;
mod members;
mod precedence;
mod tables_bsd;
mod tables_choice;
mod tables_gpt;
mod tables_make;
mod tables_mbr;

#[global_allocator]
static COUNTING: testkit::memory::Counting = testkit::memory::Counting;
