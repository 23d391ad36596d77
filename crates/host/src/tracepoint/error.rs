//! Reasons why a tracepoint cannot be watched.

use rustix::io::Errno;
use thiserror::Error;

use crate::errno;

/// Reason why a tracepoint cannot be watched.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TracepointError {
    /// The descriptions of the kernel's events cannot be reached.
    #[error("the kernel's events cannot be read: {reason}")]
    NoTracefs {
        /// The kernel's error text, and what would be needed.
        reason: String,
    },
    /// The kernel does not have this event, or describes it otherwise than expected.
    #[error("cannot use the kernel's event {event}: {reason}")]
    NoEvent {
        /// Name of the event, with its group: `block/block_rq_issue`.
        event: String,
        /// The kernel's error text, or the fault in its answer.
        reason: String,
    },
    /// The kernel does not let this process count.
    #[error(
        "cannot count events of the kernel: {reason}; run it as root, or with CAP_PERFMON \
         (perf_event_paranoid is {paranoid})"
    )]
    NotAllowed {
        /// The kernel's error text.
        reason: String,
        /// Text of `/proc/sys/kernel/perf_event_paranoid`; `unknown` where it cannot be read.
        paranoid: String,
    },
    /// The kernel has no room for another counter, or refuses it for another reason.
    #[error("cannot count {event}: {attempted}: {reason}")]
    Refused {
        /// Name of the event.
        event: String,
        /// The call that failed.
        attempted: &'static str,
        /// The kernel's error text.
        reason: String,
    },
}

impl TracepointError {
    /// The error of opening a counter of `event` that failed with `errno`.
    pub(super) fn of_open(event: &str, errno: Errno) -> TracepointError {
        match errno {
            Errno::ACCESS | Errno::PERM => TracepointError::NotAllowed {
                reason: words_of(errno),
                paranoid: paranoid().unwrap_or_else(|| "unknown".to_owned()),
            },
            _ => TracepointError::of_call(event, "perf_event_open", errno),
        }
    }

    /// The error of `attempted` on a counter of `event`.
    pub(super) fn of_call(event: &str, attempted: &'static str, errno: Errno) -> TracepointError {
        TracepointError::Refused { event: event.to_owned(), attempted, reason: words_of(errno) }
    }
}

/// Text of `error` without its number, which says the same.
pub(super) fn words_of(error: Errno) -> String {
    let text = errno::text_of(error);
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// The number that says who may count (Linux `Documentation/admin-guide/sysctl/kernel.rst`).
fn paranoid() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?;
    Some(text.trim().chars().take(8).collect())
}
