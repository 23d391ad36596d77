//! Calls that sync, of a process and those that it started.

use host::tracepoint::{CountedScope, Tracefs, TracepointCounter, TracepointError};
use report::watch::{SyncCall, SyncCalls};

/// System calls that sync files (fsync(2), sync(2), sync_file_range(2), msync(2)), by their
/// tracepoints. Syncs through io_uring are no such calls.
const CALLS: [(&str, &str, &str); 6] = [
    ("fsync", "syscalls/sys_enter_fsync", ""),
    ("fdatasync", "syscalls/sys_enter_fdatasync", ""),
    ("sync", "syscalls/sys_enter_sync", ""),
    ("syncfs", "syscalls/sys_enter_syncfs", ""),
    ("sync_file_range", "syscalls/sys_enter_sync_file_range", ""),
    // MS_SYNC is 4; MS_ASYNC does nothing.
    ("msync", "syscalls/sys_enter_msync", "flags & 4"),
];

/// Counters of those calls.
pub(super) struct SyncCounters {
    counters: Vec<(&'static str, Vec<TracepointCounter>)>,
    unknown: Option<String>,
}

impl SyncCounters {
    /// Starts to count for `threads` and what they start later.
    pub(super) fn start(tracefs: &Tracefs, threads: &[u32]) -> SyncCounters {
        let mut found = SyncCounters { counters: Vec::new(), unknown: None };
        for (name, event, filter) in CALLS {
            match counters(tracefs, event, filter, threads) {
                Ok(counters) => found.counters.push((name, counters)),
                Err(error) => found.unknown = Some(error.to_string()),
            }
        }
        found
    }

    /// The number of each call since the start.
    pub(super) fn calls(&self) -> Result<SyncCalls, TracepointError> {
        let mut calls = Vec::new();
        for (name, counters) in &self.counters {
            let count = |sum: u64, counter: &TracepointCounter| {
                counter.count().map(|count| sum.saturating_add(count))
            };
            let count = counters.iter().try_fold(0, count)?;
            calls.push(SyncCall { name: (*name).to_owned(), calls: count });
        }
        Ok(SyncCalls { calls, unknown: self.unknown.clone() })
    }
}

fn counters(
    tracefs: &Tracefs,
    event: &str,
    filter: &str,
    threads: &[u32],
) -> Result<Vec<TracepointCounter>, TracepointError> {
    let format = tracefs.event(event)?;
    let mut found = Vec::new();
    for thread in threads {
        match TracepointCounter::open(&format, filter, CountedScope::Thread(*thread)) {
            Ok(counter) => found.push(counter),
            Err(error @ TracepointError::NotAllowed { .. }) => return Err(error),
            // The thread ended meanwhile.
            Err(_) => {}
        }
    }
    Ok(found)
}
