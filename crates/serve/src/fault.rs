//! Why a request failed.

use drive::CommandFault;

/// Why a request failed. No byte that it names is promised to be old or new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ServeFault {
    /// The range ends past the end of the drive.
    #[error("the range ends past the end of the drive")]
    Bounds,
    /// The range is not a multiple of the logical sector.
    #[error("the range is empty, or not a multiple of the logical sector")]
    Sectors,
    /// The store may not grow any more.
    #[error("the store is full")]
    Full,
    /// The store failed.
    #[error("the store cannot be read or written")]
    Store,
}

impl ServeFault {
    /// The errno that a block device answers with: EINVAL, ENOSPC or EIO.
    #[must_use]
    pub fn errno(self) -> i32 {
        match self {
            ServeFault::Sectors => 22,
            ServeFault::Bounds | ServeFault::Full => 28,
            ServeFault::Store => 5,
        }
    }
}

impl From<CommandFault> for ServeFault {
    fn from(fault: CommandFault) -> ServeFault {
        match fault {
            CommandFault::Bounds => ServeFault::Bounds,
            CommandFault::Sectors => ServeFault::Sectors,
        }
    }
}

impl From<std::io::Error> for ServeFault {
    fn from(error: std::io::Error) -> ServeFault {
        match error.kind() {
            std::io::ErrorKind::StorageFull
            | std::io::ErrorKind::FileTooLarge
            | std::io::ErrorKind::QuotaExceeded => ServeFault::Full,
            _ => ServeFault::Store,
        }
    }
}
