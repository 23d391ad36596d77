//! A command to a drive, and the drive's answer.

use units::ByteRange;

/// Kind of command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandKind {
    /// Read the range.
    Read,
    /// Write the range.
    Write {
        /// On the medium when it completes: force unit access. Without it the drive's cache may
        /// have it alone.
        fua: bool,
    },
    /// Put all writes that completed before on the medium. The range is empty.
    Flush,
    /// The range is not needed any more.
    Discard,
}

/// One command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriveCommand {
    /// Name of its completion; whoever submits it keeps it unique among those in flight.
    pub id: u64,
    /// Kind of command.
    pub action: CommandKind,
    /// The first byte.
    pub offset_bytes: u64,
    /// Number of bytes; 0 for a flush.
    pub length_bytes: u64,
}

/// Completion of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriveCompletion {
    /// The command's name.
    pub id: u64,
    /// When, in nanoseconds of simulated time.
    pub at_ns: u64,
    /// Success, or the reason why the drive did nothing.
    pub outcome: Result<(), CommandFault>,
}

/// Why a drive did not do what it was told; the bytes are as they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CommandFault {
    /// The range ends beyond the drive.
    #[error("the range ends past the end of the drive")]
    Bounds,
    /// The range is empty, or neither starts nor ends at logical sectors.
    #[error("the range is empty, or not a multiple of the logical sector")]
    Sectors,
}

impl DriveCommand {
    /// The bytes that are meant; `None` for none, or where they would end beyond `u64::MAX`.
    #[must_use]
    pub fn range(&self) -> Option<ByteRange> {
        ByteRange::new(self.offset_bytes, self.length_bytes).filter(|_| self.length_bytes > 0)
    }

    /// Returns what is wrong with it on a drive of `capacity_bytes` in sectors of `logical_bytes`.
    ///
    /// # Errors
    /// When it names bytes that the drive has not, or parts of sectors.
    pub fn checked(&self, capacity_bytes: u64, logical_bytes: u64) -> Result<(), CommandFault> {
        if self.action == CommandKind::Flush {
            return Ok(());
        }
        let end = self.offset_bytes.checked_add(self.length_bytes).ok_or(CommandFault::Bounds)?;
        if end > capacity_bytes {
            return Err(CommandFault::Bounds);
        }
        let is_whole = |bytes: u64| bytes.is_multiple_of(logical_bytes);
        match self.length_bytes > 0 && is_whole(self.offset_bytes) && is_whole(self.length_bytes) {
            true => Ok(()),
            false => Err(CommandFault::Sectors),
        }
    }
}
