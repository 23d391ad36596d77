//! Writes made durable by one of several methods, once at a time.

pub use crate::sync_methods::{DurableMethod, Method, WritePlace};

/// Why an operation is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DurableFault {
    /// This way cannot be done here: no direct I/O, no such call. Nothing went wrong.
    Unavailable(String),
    /// Something went wrong, so that what this way took means nothing; others may go on.
    Void(String),
    /// There is no room: the file system is full, or a quota is reached. What this way took means
    /// nothing; others may go on.
    NoRoom(String),
    /// A sync failed for another reason. Nothing may be written any more, and the sync is not tried
    /// again: what was written before it may be lost though the kernel calls it clean (Rebello and
    /// others, "Can Applications Recover from fsync Failures?", ATC 2020).
    Stopped(String),
}

/// Does writes in several ways, each known by its number, one at a time.
pub trait Durable {
    /// Makes ready for some operations of `way`; nothing of it is timed.
    ///
    /// # Errors
    /// When that fails.
    fn begin(&mut self, way: usize) -> Result<(), DurableFault>;

    /// Does one operation of `way`; how long it took in nanoseconds.
    ///
    /// # Errors
    /// When a call fails, or writes less than it was told to.
    fn once(&mut self, way: usize) -> Result<u64, DurableFault>;

    /// Settles what the operations since [`Durable::begin`] left behind; nothing of it is timed.
    ///
    /// # Errors
    /// When that fails.
    fn end(&mut self, way: usize) -> Result<(), DurableFault>;

    /// Returns how many bytes were written so far, as far as they can have reached the drive.
    fn written_bytes(&self) -> u64;

    /// Now, in nanoseconds.
    fn now_ns(&self) -> u64;

    /// Returns whether the user wants it to go on.
    fn goes_on(&self) -> bool;
}
