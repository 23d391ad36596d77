//! Queues that move bytes and stamp how long it took, behind `device`'s `Queue`.
//!
//! [`SyncQueue`] does one system call an operation, [`UringQueue`] keeps many in flight, and
//! [`NullQueue`] does nothing, so that what a measuring loop itself costs can be measured. Between
//! the first submit and the last reap none of them allocates. Stamps are `CLOCK_MONOTONIC`.
//!
//! A queue belongs to one thread at a time and may be handed to another before its first submit.
//!
//! Not here: which operations, in which order, and what their times mean.

mod buffers;
mod in_turn;
mod null;
mod open;
mod slots;
mod sync;
mod uring;
mod usage;

use rustix::time::{ClockId, clock_gettime};
use thiserror::Error;
use units::DiskText;

pub(crate) use buffers::fill;
pub use buffers::{Buffers, SLOTS_MAX};
pub use null::NullQueue;
pub use open::{Access, open_measured, open_pinned};
pub use sync::SyncQueue;
pub use uring::UringQueue;
pub use usage::ThreadUsage;

/// Why a queue cannot be made, or a file cannot be opened for one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EngineError {
    /// The buffers cannot be what was asked for.
    #[error("cannot make {slots} buffers of {slot_bytes} bytes: {reason}")]
    Buffers {
        /// Number of buffers.
        slots: u16,
        /// Length of each, in bytes.
        slot_bytes: u32,
        /// Why not.
        reason: &'static str,
    },
    /// No file, or more files than an operation can name.
    #[error("a queue cannot be made over {files} files: it takes 1 to 65535")]
    Files {
        /// Number of files given.
        files: usize,
    },
    /// This machine does not allow `io_uring`.
    #[error("io_uring_setup is forbidden here: {reason}")]
    Forbidden {
        /// The kernel's error text.
        reason: String,
        /// Advice.
        hint: &'static str,
    },
    /// The kernel does not give a ring.
    #[error("{attempted} failed: {reason}")]
    Ring {
        /// The system call.
        attempted: &'static str,
        /// The kernel's error text.
        reason: String,
    },
    /// The file cannot be opened as asked.
    #[error("cannot open {path} for {purpose}: {reason}")]
    Open {
        /// The path as it was given.
        path: DiskText,
        /// `reading`, or `reading and writing`, and whether the page cache is passed by.
        purpose: &'static str,
        /// The kernel's error text, or the fault.
        reason: String,
        /// Advice; empty when there is none.
        hint: &'static str,
    },
}

impl EngineError {
    /// Advice, in lower case and without a full stop; `None` when there is none.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            EngineError::Forbidden { hint, .. } | EngineError::Open { hint, .. } => {
                (!hint.is_empty()).then_some(*hint)
            }
            _ => None,
        }
    }
}

/// Now, in nanoseconds of `CLOCK_MONOTONIC`. Read without a system call where the kernel's vDSO
/// allows.
#[doc(alias = "clock_gettime")]
#[inline]
#[must_use]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // It starts at 0 with the machine (clock_gettime(2)), so neither part is negative.
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
