//! The kernel's report of sectors and preferred sizes of any block device, stacked ones
//! included.
//!
//! Source: Linux `Documentation/ABI/stable/sysfs-block`.

use device::KernelTree;
use units::{Known, Source};

use super::dm::TableDiscards;
use crate::drive::SysfsFiles;

/// A block device's limits as the kernel made them up from those below. Each is as read, plausible
/// or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceLimits {
    /// The logical sector in bytes.
    pub logical_bytes: Known<u64>,
    /// The physical sector in bytes.
    pub physical_bytes: Known<u64>,
    /// The smallest preferred I/O in bytes.
    pub minimum_io_bytes: Known<u64>,
    /// The preferred length of a long I/O in bytes; 0 where there is none.
    pub optimal_io_bytes: Known<u64>,
    /// Bytes to the first boundary of a physical sector; -1 where stacking failed.
    pub alignment_offset_bytes: Known<i64>,
    /// Length that is read ahead, in bytes.
    pub read_ahead_bytes: Known<u64>,
    /// The longest I/O that is passed on in one piece, in bytes.
    pub command_bytes: Known<u64>,
    /// The unit of discards in bytes; 0 where there are none.
    pub discard_bytes: Known<u64>,
    /// The longest discard in bytes; 0 where none are taken.
    pub discard_max_bytes: Known<u64>,
    /// The say of its device-mapper table about discards; `None` of other devices, and where tables
    /// are not known.
    pub table_discards: Option<TableDiscards>,
    /// True if cryptsetup can keep flags of it in its header, which LUKS2 has room for.
    pub keeps_flags: bool,
    /// True if the kernel refuses writes.
    pub read_only: Known<bool>,
    /// True if the kernel holds its cache to be volatile, so that it sends flushes.
    pub write_back: Known<bool>,
}

impl DeviceLimits {
    /// The limits of the disk at `base`, a directory such as `/sys/block/md0`.
    #[must_use]
    pub fn read(tree: &dyn KernelTree, base: &str) -> DeviceLimits {
        let files = SysfsFiles { tree, base: base.to_owned() };
        DeviceLimits {
            logical_bytes: files.number("queue/logical_block_size"),
            physical_bytes: files.number("queue/physical_block_size"),
            minimum_io_bytes: files.number("queue/minimum_io_size"),
            optimal_io_bytes: files.number("queue/optimal_io_size"),
            alignment_offset_bytes: files.number("alignment_offset"),
            read_ahead_bytes: files.scaled("queue/read_ahead_kb", 1024),
            command_bytes: files.scaled("queue/max_sectors_kb", 1024),
            discard_bytes: files.number("queue/discard_granularity"),
            discard_max_bytes: files.number("queue/discard_max_bytes"),
            table_discards: None,
            keeps_flags: false,
            read_only: files.flag("ro"),
            write_back: write_back(&files),
        }
    }
}

fn write_back(files: &SysfsFiles<'_>) -> Known<bool> {
    match files.text("queue/write_cache") {
        Ok(text) => match text.trim() {
            "write back" => Known::yes(true, Source::Sysfs),
            "write through" => Known::yes(false, Source::Sysfs),
            other => {
                let shown = units::text::escape(other.as_bytes());
                Known::no(format!("queue/write_cache holds `{shown}`"))
            }
        },
        Err(error) => Known::no(error.to_string()),
    }
}
