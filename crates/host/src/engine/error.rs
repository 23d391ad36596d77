//! Why a queue cannot be made, or a file cannot be opened for one.

use thiserror::Error;
use units::DiskText;

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
    #[error("cannot make a queue over {files} files: it takes 1 to 65535")]
    Files {
        /// Number of files given.
        files: usize,
    },
    /// This machine does not allow `io_uring`.
    #[error("cannot use io_uring: io_uring_setup is forbidden here: {reason}")]
    Forbidden {
        /// The kernel's error text.
        reason: String,
        /// Advice.
        hint: &'static str,
    },
    /// The kernel does not give a ring.
    #[error("cannot use io_uring: {attempted} failed: {reason}")]
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
