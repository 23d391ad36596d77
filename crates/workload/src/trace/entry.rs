//! One recorded operation.

use std::fmt;

use super::refusal::damaged;
use crate::InputError;

/// Largest end of an operation: offsets are `off_t` to every system call.
pub const END_BYTES_MAX: u64 = i64::MAX.unsigned_abs();

/// Kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceAction {
    /// Bytes were read.
    Read,
    /// Bytes were written.
    Write {
        /// They were to be durable when the write completed (force unit access).
        fua: bool,
    },
    /// Bytes were given back (trim, unmap).
    Discard,
    /// The device's volatile cache was to be emptied.
    Flush,
    /// A file was synced, with its metadata (`fsync`).
    Fsync,
    /// A file's data were synced (`fdatasync`).
    Fdatasync,
}

impl TraceAction {
    /// Returns whether it has a place and a length.
    #[must_use]
    pub fn moves_bytes(self) -> bool {
        matches!(self, TraceAction::Read | TraceAction::Write { .. } | TraceAction::Discard)
    }
}

/// A block device's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// The driver.
    pub major: u32,
    /// Number among the driver's devices.
    pub minor: u32,
}

impl fmt::Display for DeviceNumber {
    /// Prints it as blkparse and the kernel do, without blanks: `8,16`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.major, self.minor)
    }
}

/// To what it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceTarget {
    /// The file of this number among the [`Reader::files`](super::TraceReader::files).
    File(u16),
    /// A block device.
    Device(DeviceNumber),
}

/// One recorded operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// When, in nanoseconds of the trace's own clock; `None` where the trace says nothing. In an
    /// iolog of version 3 since the job began, in whole microseconds; in one of version 2 the
    /// latest `wait`; in blkparse's text since the first event; in blktrace's records since the
    /// machine started.
    pub at_ns: Option<u64>,
    /// Kind of operation.
    pub action: TraceAction,
    /// To what.
    pub target: TraceTarget,
    /// First byte; 0 where no bytes move.
    pub offset_bytes: u64,
    /// Bytes that it moves: at least 1, or 0 where no bytes move. With the offset at most
    /// [`END_BYTES_MAX`].
    pub length_bytes: u32,
}

impl TraceEntry {
    /// Itself, where it can be asked of a disk.
    pub(super) fn checked(self) -> Result<TraceEntry, InputError> {
        let TraceEntry { offset_bytes, length_bytes, .. } = self;
        match offset_bytes.checked_add(length_bytes.into()) {
            Some(end_bytes) if end_bytes <= END_BYTES_MAX => Ok(self),
            _ => Err(damaged(format!(
                "{length_bytes} bytes at {offset_bytes} end past byte {END_BYTES_MAX}"
            ))),
        }
    }
}
