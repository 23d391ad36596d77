//! The kernel's report of sectors and preferred sizes of any block device, stacked ones
//! included.
//!
//! Source: Linux `Documentation/ABI/stable/sysfs-block`.

use device::KernelTree;
use units::{Known, Source};

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
    /// The largest untorn write in bytes; 0 where there is none.
    pub atomic_bytes: Known<u64>,
    /// True if the kernel refuses writes.
    pub read_only: Known<bool>,
    /// True if the kernel holds its cache to be volatile, so that it sends flushes.
    pub write_back: Known<bool>,
}

impl DeviceLimits {
    /// The limits of the disk at `base`, a directory such as `/sys/block/md0`.
    #[must_use]
    pub fn read(tree: &dyn KernelTree, base: &str) -> DeviceLimits {
        let bytes = |file: &str| parsed::<u64>(tree, base, file);
        DeviceLimits {
            logical_bytes: bytes("queue/logical_block_size"),
            physical_bytes: bytes("queue/physical_block_size"),
            minimum_io_bytes: bytes("queue/minimum_io_size"),
            optimal_io_bytes: bytes("queue/optimal_io_size"),
            alignment_offset_bytes: parsed(tree, base, "alignment_offset"),
            read_ahead_bytes: match bytes("queue/read_ahead_kb") {
                Known::Yes(fact) => Known::yes(fact.value.saturating_mul(1024), fact.source),
                unknown @ Known::No(_) => unknown,
            },
            atomic_bytes: bytes("queue/atomic_write_unit_max_bytes"),
            read_only: match tree.read(&format!("{base}/ro")) {
                Ok(text) => Known::yes(text.trim() == "1", Source::Sysfs),
                Err(error) => Known::no(error.to_string()),
            },
            write_back: write_back(tree, base),
        }
    }
}

fn write_back(tree: &dyn KernelTree, base: &str) -> Known<bool> {
    match tree.read(&format!("{base}/queue/write_cache")) {
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

fn parsed<T: std::str::FromStr>(tree: &dyn KernelTree, base: &str, file: &str) -> Known<T> {
    match tree.read(&format!("{base}/{file}")) {
        Ok(text) => match text.trim().parse() {
            Ok(value) => Known::yes(value, Source::Sysfs),
            Err(_) => {
                let shown = units::text::escape(text.as_bytes());
                Known::no(format!("{file} holds `{shown}`, which is no number"))
            }
        },
        Err(error) => Known::no(error.to_string()),
    }
}
