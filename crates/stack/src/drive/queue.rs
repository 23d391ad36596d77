//! The kernel's report of a device's queue beside its sectors.
//!
//! Source: Linux `Documentation/ABI/stable/sysfs-block`.

use units::Known;

use super::sysfs::SysfsFiles;

/// Limits of atomic writes, in bytes; 0 means that there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomicLimits {
    /// `atomic_write_unit_min_bytes`.
    pub unit_min_bytes: Known<u64>,
    /// `atomic_write_max_bytes`: the longest of several units.
    pub max_bytes: Known<u64>,
    /// `atomic_write_boundary_bytes`: what an atomic write must not cross.
    pub boundary_bytes: Known<u64>,
}

/// The rest of `queue/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// `write_cache`: `write back` or `write through`.
    pub write_cache: Known<String>,
    /// `fua`: whether a write can be made to pass the cache.
    pub forced_unit_access: Known<bool>,
    /// `stable_writes`: whether memory must not change while it is written, as checksums need.
    pub stable_writes: Known<bool>,
    /// `read_ahead_kb`.
    pub read_ahead_bytes: Known<u64>,
    /// `discard_max_bytes`: the longest discard; 0 where none are taken.
    pub discard_max_bytes: Known<u64>,
    /// Atomic writes.
    pub atomic: AtomicLimits,
    /// `max_sectors_kb`: the longest command that the kernel sends, in bytes.
    pub command_bytes: Known<u64>,
    /// `max_segments`: parts of memory that one command may have.
    pub segments: Known<u64>,
    /// `nomerges`: 2 where no two I/Os become one command.
    pub no_merges: Known<u64>,
}

impl Queue {
    pub(super) fn read(files: &SysfsFiles<'_>) -> Queue {
        Queue {
            write_cache: files.word("queue/write_cache"),
            forced_unit_access: files.flag("queue/fua"),
            stable_writes: files.flag("queue/stable_writes"),
            read_ahead_bytes: files.scaled("queue/read_ahead_kb", 1024),
            discard_max_bytes: files.number("queue/discard_max_bytes"),
            atomic: AtomicLimits {
                unit_min_bytes: files.number("queue/atomic_write_unit_min_bytes"),
                max_bytes: files.number("queue/atomic_write_max_bytes"),
                boundary_bytes: files.number("queue/atomic_write_boundary_bytes"),
            },
            command_bytes: files.scaled("queue/max_sectors_kb", 1024),
            segments: files.number("queue/max_segments"),
            no_merges: files.number("queue/nomerges"),
        }
    }
}
