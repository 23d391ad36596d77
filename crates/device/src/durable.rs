//! Ways of making writes durable, and doing one of them once.

/// The call or flag that makes a write durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// The file was opened with `O_DSYNC`.
    OpenDatasync,
    /// The file was opened with `O_SYNC`.
    OpenSync,
    /// `fdatasync` after the writes.
    Fdatasync,
    /// `fsync` after the writes.
    Fsync,
    /// `fcntl(F_FULLFSYNC)`, which Linux does not have.
    Writethrough,
    /// `sync_file_range` of what was written, waited for. It starts no flush of the drive's cache
    /// and writes no metadata: it is not durable (sync_file_range(2)).
    SyncFileRange,
    /// The file is opened, written, synced with `fsync`, closed, opened and closed.
    WriteFsyncClose,
    /// The file is opened, written, closed, opened again, synced with `fsync`, closed.
    WriteCloseFsync,
    /// Nothing: the page cache has it.
    None,
}

/// The place of an operation's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WritePlace {
    /// To the file's first bytes, again and again.
    Overwrite,
    /// To the next bytes of a file that was written before.
    Sequential,
    /// To the next bytes of a file whose space was taken and never written.
    Preallocated,
    /// To the file's end, which grows.
    Append,
    /// Nothing is written.
    Nothing,
}

/// One way of making writes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DurableMethod {
    /// The call or flag that makes it durable.
    pub method: Method,
    /// True if the page cache is passed by (`O_DIRECT`).
    pub is_direct: bool,
    /// The place of its writes.
    pub place: WritePlace,
    /// Bytes of each write.
    pub write_bytes: u32,
    /// Writes of one operation, one after the other.
    pub writes: u32,
    /// True if another file of the same file system is written meanwhile.
    pub is_contended: bool,
}

impl DurableMethod {
    /// The bytes that one operation writes.
    #[must_use]
    pub fn operation_bytes(&self) -> u64 {
        match self.place {
            WritePlace::Nothing => 0,
            _ => u64::from(self.write_bytes) * u64::from(self.writes),
        }
    }

    /// The syncs of one operation, at least one: where each write is one, as many as writes.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        match self.method {
            Method::OpenDatasync | Method::OpenSync => u64::from(self.writes.max(1)),
            _ => 1,
        }
    }
}

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
