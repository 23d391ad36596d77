//! Reads, writes and syncs with a depth, each stamped by the queue's own clock.
//!
//! Measuring code is generic over [`Queue`], so the same loop runs on a drive and on a model whose
//! time is simulated. A slot is one buffer and at most one operation in flight. Nothing here
//! allocates between the first `submit` and the last `reap`.

use thiserror::Error;

/// Durability of a write when it completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Left to the caches below.
    #[default]
    Cached,
    /// The data and what is needed to read it (`RWF_DSYNC`, `O_DSYNC`).
    Data,
    /// All metadata too (`RWF_SYNC`, `O_SYNC`).
    All,
}

/// The part that a sync covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncKind {
    /// The file's data and what is needed to read it: fdatasync(2).
    Data,
    /// All metadata too: fsync(2).
    All,
    /// The operation's range, written out and waited for, without the drive's cache:
    /// `sync_file_range(2)` with all three flags.
    Range,
}

/// A read, a write or a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Read into the slot's buffer.
    Read,
    /// Write the slot's buffer.
    Write {
        /// Durability of the write when it completes.
        durability: Durability,
        /// All or nothing on a power cut (`RWF_ATOMIC`); refused where that is not possible.
        atomic: bool,
    },
    /// Make writes durable.
    Sync(SyncKind),
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The read, write or sync.
    pub action: Action,
    /// Index of the file among the queue's, from 0.
    pub file: u16,
    /// The slot, below [`Queue::depth`]; free until its completion was reaped.
    pub slot: u16,
    /// The first byte of the file.
    pub offset_bytes: u64,
    /// Number of bytes; at most the slot's buffer. 0 for a sync of the whole file.
    pub length_bytes: u32,
}

/// The result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Its slot, which is free again.
    pub slot: u16,
    /// When it was handed over, in nanoseconds of the queue's clock.
    pub submitted_ns: u64,
    /// When its end was seen, not before `submitted_ns`.
    pub completed_ns: u64,
    /// The bytes moved, which may be fewer than asked (0 for a sync), or the error's number.
    pub result: Result<u32, i32>,
}

/// Why a queue cannot go on; every operation in flight is lost.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{attempted} failed: {reason}")]
pub struct QueueError {
    /// The call that failed: `io_uring_enter`, for example.
    pub attempted: &'static str,
    /// The kernel's error text.
    pub reason: String,
}

/// Operations on some open files, with a clock.
pub trait Queue {
    /// The number of slots, at least 1.
    fn depth(&self) -> u16;

    /// The buffer of a slot, all slots' of one length. What it holds is what writes write.
    ///
    /// # Panics
    /// When there is no such slot.
    fn buffer(&mut self, slot: u16) -> &mut [u8];

    /// Takes an operation, which starts at the next [`Queue::submit`].
    ///
    /// # Panics
    /// When the slot has one already, when there is no such slot or file, or when the operation is
    /// longer than the buffer.
    fn push(&mut self, operation: Operation);

    /// Starts what was pushed, in order. A queue without depth does one after the other when they
    /// are reaped.
    ///
    /// # Errors
    /// When the kernel does not take them; what one operation meets stands in its completion.
    fn submit(&mut self) -> Result<(), QueueError>;

    /// Waits until at least `least` operations that were not reaped have ended, and puts the ended
    /// ones into `completions` as far as there is room; returns how many. Waits for no more than
    /// are in flight.
    ///
    /// # Errors
    /// When the kernel cannot be asked.
    fn reap(&mut self, completions: &mut [Completion], least: usize) -> Result<usize, QueueError>;

    /// Now, in nanoseconds from any fixed moment; never goes back.
    fn now_ns(&mut self) -> u64;
}

impl Completion {
    /// Returns how long it took, in nanoseconds.
    #[must_use]
    pub fn latency_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.submitted_ns)
    }
}
