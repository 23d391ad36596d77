//! Methods that make writes durable, and the places of the writes.

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
