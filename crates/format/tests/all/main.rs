//! Parsers against the field's own tools, on bytes made here, and on hostile ones.

mod btrfs_chunks_agree;
mod companions;
mod filesystems_agree;
mod filesystems_hostile;
mod filesystems_other_agree;
mod fuzz_targets;
mod guest_agree;
mod hostile;
mod identify_real;
mod images_agree;
mod images_hostile;
mod lvm_agree;
mod members;
mod precedence;
mod tables_agree;
mod tables_bsd;
mod tables_choice;
mod tables_gpt;
mod tables_hostile;
mod tables_make;
mod tables_mbr;

#[global_allocator]
static COUNTING: testkit::memory::Counting = testkit::memory::Counting;
