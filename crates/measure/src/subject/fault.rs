//! Why an observation is none.

use device::{Action, Completion, CountersError, Operation, QueueError};
use thiserror::Error;

/// Why an observation is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// Something went wrong, so that what was measured means nothing; the queue still works.
    #[error("{0}")]
    Void(String),
    /// The queue cannot go on.
    #[error("{0}")]
    Stopped(String),
}

impl From<CountersError> for Fault {
    fn from(error: CountersError) -> Fault {
        Fault::Void(error.to_string())
    }
}

impl From<QueueError> for Fault {
    fn from(error: QueueError) -> Fault {
        Fault::Stopped(error.to_string())
    }
}

/// Returns whether all bytes of an operation moved.
#[inline]
pub(crate) fn is_whole(operation: &Operation, completion: &Completion) -> bool {
    completion.result.is_ok_and(|moved| moved == operation.length_bytes || is_sync(operation))
}

/// Returns what is wrong with an operation's end, whose bytes did not all move.
#[cold]
pub(crate) fn wrong(operation: &Operation, completion: &Completion) -> Fault {
    let Operation { offset_bytes, length_bytes, .. } = *operation;
    let end = match completion.result {
        Err(number) => format!("failed: {}", std::io::Error::from_raw_os_error(number)),
        Ok(moved) => format!("moved {moved} bytes only"),
    };
    let what = match operation.action {
        Action::Read => "a read",
        Action::Write { .. } => "a write",
        Action::Sync(_) => return Fault::Void(format!("a sync {end}")),
    };
    Fault::Void(format!("{what} of {length_bytes} bytes at offset {offset_bytes} {end}"))
}

/// Returns whether it moves no bytes.
pub(super) fn is_sync(operation: &Operation) -> bool {
    matches!(operation.action, Action::Sync(_))
}
