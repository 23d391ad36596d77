//! Linux itself: opens, reads, asks, and moves bytes for measurements.
//!
//! Disks that are looked at are opened for reading only. Five rooms write: [`scratch`] fills a file
//! of its own that has no name, `loops` shows such a file as a device, `suite` fills a file system
//! that was made for it, `table_disk` writes partition tables on images and claimed devices, and
//! [`engine`] carries out commands on the files that it is given. A block
//! device that exists already is opened for writing in [`claim`] and nowhere else.
//!
//! `format` and `stack` see the world through `device`'s traits; this crate stands behind them on a
//! real machine. It fetches raw bytes and raw answers, and understands none of them. Files, clocks
//! and `unsafe` are found here and in the binary only.

mod blkpg;
pub mod block_events;
mod block_ioctls;
mod btrfs;
pub mod capture;
pub mod claim;
pub mod command;
mod device_mapper;
mod disk;
mod diskstats;
mod drive_answer;
mod durable;
pub mod engine;
mod errno;
mod extents;
mod fifo_writer;
mod file_identity;
mod file_listing;
mod fuse;
mod head_cache;
mod image_files;
mod image_writer;
mod input_file;
mod interrupt;
mod live_tree;
mod loops;
mod memory_page;
mod nameless_file;
mod nvme;
mod ocp_log;
mod passthrough;
mod pinned;
mod private_mounts;
pub mod process;
mod prompt_thread;
mod read_lease;
mod realtime;
pub mod scratch;
mod scsi;
mod suite;
mod suppressed_syncs;
mod sync_range;
mod sync_trial;
pub mod sysroot;
mod table_disk;
mod terminal;
#[cfg(test)]
mod test_child;
mod told_partitions;
pub mod tracepoint;
mod user_rights;

pub use block_ioctls::Inquiry;
pub use btrfs::{BtrfsDevice, btrfs_chunk_items, btrfs_devices};
pub use claim::{Claim, ClaimPlan, ClaimRefusal, Contents};
pub use command::{CommandEnd, CommandError, CommandPlan, Ran, Surroundings, Tail};
pub use disk::{FileDisk, OpenError};
pub use diskstats::DiskStats;
pub use durable::{DurableFiles, DurablePlan};
pub use extents::{FileFacts, file_facts};
pub use fifo_writer::FifoWriter;
pub use file_identity::{PathIdentity, have_same_room, identity, neither_follow_nor_wait};
pub use file_listing::{Listing, Omitted, list_files};
pub use fuse::{
    DetachedFuse, FuseControl, FuseRoot, is_fuse_mounted, release_output,
    serve_under_memory_pressure, unmount,
};
pub use head_cache::{HeadCache, ReadCounts, Sparse};
pub use image_files::ImageFiles;
pub use image_writer::{ImageRefusal, device_writer, file_writer};
pub use input_file::{InputError, bounded, open_input, read_input};
pub use interrupt::Interrupt;
pub use live_tree::LiveTree;
pub use loops::{
    LoopDevice, LoopError, LoopFile, LoopPlan, detach_abandoned, loop_file, mounts_on,
    unmount_all_on,
};
pub use memory_page::page_bytes;
pub use nameless_file::{give_name, nameless_file};
pub use pinned::Pinned;
pub use private_mounts::{MountError, MountPlan, Mounted, PrivateMounts};
pub use process::{ProcessError, ProcessLook, look_at_process, process_name};
pub use prompt_thread::wake_promptly;
pub use realtime::is_realtime;
pub use scratch::{
    Scratch, ScratchError, ScratchPlan, StoreBelow, full_below, room_below, takes_files,
};
pub use suite::{FileLoad, FileStep, SeededTree, seeded_bytes};
pub use suppressed_syncs::{Suppressed, suppressed};
pub use sync_trial::{SyncTrial, TrialError, TrialStep};
pub use table_disk::TableDisk;
pub use terminal::{Keys, is_terminal_or_null, terminal_width};
pub use told_partitions::{KernelAnswer, ToldPartition, tell_partitions, told_partitions};
pub use user_rights::{group, is_root, may_make_files, raise_open_files_limit, user};
