//! Parsers against the field's own tools.

#![expect(clippy::disallowed_methods, reason = "these tests run programs, and print their times")]

mod btrfs_chunks_agree;
mod companions;
mod filesystems_agree;
mod filesystems_hostile;
mod filesystems_other_agree;
mod images_agree;
mod images_hostile;
mod lvm_agree;
mod members;
mod tables_agree;
mod tables_hostile;
#[expect(dead_code, reason = "the tests of logic use the rest")]
#[path = "../logic/tables_make/mod.rs"]
mod tables_make;
