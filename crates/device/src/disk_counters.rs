//! Counters of a block device: operations, sectors, merges, flushes.
//!
//! Source: `Documentation/block/stat.rst` and `Documentation/admin-guide/iostats.rst` of Linux.

use thiserror::Error;

/// The counters of one block device since it appeared. Differences wrap as the kernel's do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounts {
    /// Reads completed.
    pub reads: u64,
    /// Reads joined with a neighbor in the queue.
    pub read_merges: u64,
    /// Sectors of 512 bytes read.
    pub read_sectors: u64,
    /// Milliseconds that reads took, added up.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Writes joined with a neighbor in the queue.
    pub write_merges: u64,
    /// Sectors of 512 bytes written.
    pub write_sectors: u64,
    /// Milliseconds that writes took, added up.
    pub write_ms: u64,
    /// Operations in flight now.
    pub in_flight: u64,
    /// Milliseconds with something in flight.
    pub busy_ms: u64,
    /// Milliseconds in flight, added up over operations.
    pub weighted_ms: u64,
    /// Flushes completed; `None` before Linux 5.5.
    pub flushes: Option<u64>,
}

/// Why counters cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the counters of {device} cannot be read: {reason}")]
pub struct CountersError {
    /// The device's name.
    pub device: String,
    /// The kernel's error text, or the fault in its answer.
    pub reason: String,
}

/// A block device that counts.
pub trait Counters {
    /// Its counters now.
    ///
    /// # Errors
    /// When they cannot be read, or are no numbers.
    fn counts(&mut self) -> Result<DiskCounts, CountersError>;
}

const FIELDS: usize = 16;

/// The kernel's sector here, in bytes, whatever the device's own are.
const SECTOR_BYTES: u64 = 512;

impl DiskCounts {
    /// The bytes read.
    #[must_use]
    pub fn read_bytes(&self) -> u64 {
        self.read_sectors.saturating_mul(SECTOR_BYTES)
    }

    /// The bytes written.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.write_sectors.saturating_mul(SECTOR_BYTES)
    }

    /// Parses the text of a `stat` file: at least 11 numbers; `None` otherwise. Allocates nothing.
    #[must_use]
    pub fn parse(text: &str) -> Option<DiskCounts> {
        let mut fields = [None; FIELDS];
        for (field, word) in fields.iter_mut().zip(text.split_ascii_whitespace()) {
            *field = Some(word.parse().ok()?);
        }
        let [r, rm, rs, rt, w, wm, ws, wt, now, busy, weighted, _, _, _, _, flushes] = fields;
        Some(DiskCounts {
            reads: r?,
            read_merges: rm?,
            read_sectors: rs?,
            read_ms: rt?,
            writes: w?,
            write_merges: wm?,
            write_sectors: ws?,
            write_ms: wt?,
            in_flight: now?,
            busy_ms: busy?,
            weighted_ms: weighted?,
            flushes,
        })
    }

    /// Returns the counts between `before` and now; `in_flight` is the number now.
    #[must_use]
    pub fn since(&self, before: &DiskCounts) -> DiskCounts {
        let flushes = match (self.flushes, before.flushes) {
            (Some(after), Some(before)) => Some(after.wrapping_sub(before)),
            _ => None,
        };
        DiskCounts {
            reads: self.reads.wrapping_sub(before.reads),
            read_merges: self.read_merges.wrapping_sub(before.read_merges),
            read_sectors: self.read_sectors.wrapping_sub(before.read_sectors),
            read_ms: self.read_ms.wrapping_sub(before.read_ms),
            writes: self.writes.wrapping_sub(before.writes),
            write_merges: self.write_merges.wrapping_sub(before.write_merges),
            write_sectors: self.write_sectors.wrapping_sub(before.write_sectors),
            write_ms: self.write_ms.wrapping_sub(before.write_ms),
            in_flight: self.in_flight,
            busy_ms: self.busy_ms.wrapping_sub(before.busy_ms),
            weighted_ms: self.weighted_ms.wrapping_sub(before.weighted_ms),
            flushes,
        }
    }

    /// These and `more` added up; `in_flight` is that of `more`.
    #[must_use]
    pub fn plus(&self, more: &DiskCounts) -> DiskCounts {
        let flushes = match (self.flushes, more.flushes) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            _ => None,
        };
        DiskCounts {
            reads: self.reads.saturating_add(more.reads),
            read_merges: self.read_merges.saturating_add(more.read_merges),
            read_sectors: self.read_sectors.saturating_add(more.read_sectors),
            read_ms: self.read_ms.saturating_add(more.read_ms),
            writes: self.writes.saturating_add(more.writes),
            write_merges: self.write_merges.saturating_add(more.write_merges),
            write_sectors: self.write_sectors.saturating_add(more.write_sectors),
            write_ms: self.write_ms.saturating_add(more.write_ms),
            in_flight: more.in_flight,
            busy_ms: self.busy_ms.saturating_add(more.busy_ms),
            weighted_ms: self.weighted_ms.saturating_add(more.weighted_ms),
            flushes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_of_any_kernel_is_read_and_garbage_is_not() {
        let old = "  1 2 3 4 5 6 7 8 9 10 11\n";
        let counts = DiskCounts::parse(old).unwrap();
        assert_eq!((counts.reads, counts.write_sectors, counts.flushes), (1, 7, None));
        let new = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17";
        assert_eq!(DiskCounts::parse(new).unwrap().flushes, Some(16));
        for bad in ["", "1 2 3", "1 2 3 4 5 6 7 8 9 10 x"] {
            assert_eq!(DiskCounts::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn differences_survive_a_wrapped_counter() {
        let before = DiskCounts { writes: u64::MAX, ..DiskCounts::default() };
        let after = DiskCounts { writes: 1, flushes: Some(3), ..DiskCounts::default() };
        let since = after.since(&before);
        assert_eq!((since.writes, since.flushes), (2, None));
        assert_eq!(since.plus(&since).writes, 4);
    }
}
