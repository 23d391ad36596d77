//! Requests of clients, counted.

use std::sync::atomic::{AtomicU64, Ordering};

use drive::{CommandKind, RequestCounts};

/// The counters of a drive that many threads serve.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    reads: AtomicU64,
    read_bytes: AtomicU64,
    writes: AtomicU64,
    written_bytes: AtomicU64,
    fua_writes: AtomicU64,
    flushes: AtomicU64,
    discards: AtomicU64,
    errors: AtomicU64,
    timed_answers: AtomicU64,
    late_ns: AtomicU64,
    late_max_ns: AtomicU64,
}

impl Counters {
    pub(crate) fn count(&self, action: CommandKind, bytes: u64) {
        let add = |counter: &AtomicU64, more| counter.fetch_add(more, Ordering::Relaxed);
        match action {
            CommandKind::Read => {
                add(&self.reads, 1);
                add(&self.read_bytes, bytes);
            }
            CommandKind::Write { fua } => {
                add(&self.writes, 1);
                add(&self.written_bytes, bytes);
                add(&self.fua_writes, fua.into());
            }
            CommandKind::Flush => {
                add(&self.flushes, 1);
            }
            CommandKind::Discard => {
                add(&self.discards, 1);
            }
        }
    }

    pub(crate) fn count_error(&self) {
        self.errors.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_late(&self, late_ns: u64) {
        self.timed_answers.fetch_add(1, Ordering::Relaxed);
        self.late_ns.fetch_add(late_ns, Ordering::Relaxed);
        self.late_max_ns.fetch_max(late_ns, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> RequestCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RequestCounts {
            reads: of(&self.reads),
            read_bytes: of(&self.read_bytes),
            writes: of(&self.writes),
            written_bytes: of(&self.written_bytes),
            fua_writes: of(&self.fua_writes),
            flushes: of(&self.flushes),
            discards: of(&self.discards),
            errors: of(&self.errors),
            timed_answers: of(&self.timed_answers),
            late_ns: of(&self.late_ns),
            late_max_ns: of(&self.late_max_ns),
        }
    }
}
