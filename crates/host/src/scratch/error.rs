//! Why there is no scratch file, and what to do.

use std::io;

use rustix::io::Errno;
use thiserror::Error;
use units::DiskText;
use units::prefix::{Exact, Size};

use super::below::StoreBelow;
use super::full_part::FullPart;

/// Why a scratch file cannot be made, or not be trusted. Nothing remains of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScratchError {
    /// The length is none, or not of whole pages.
    #[error("cannot make a scratch file of {}: it takes a multiple of 4 KiB", Exact(*length_bytes))]
    Length {
        /// The wanted length, in bytes.
        length_bytes: u64,
    },
    /// More was asked for than may be written.
    #[error(
        "cannot write a scratch file of {}: no more than {} may be written",
        Size(*length_bytes),
        Size(*budget_bytes)
    )]
    Budget {
        /// The wanted length, in bytes.
        length_bytes: u64,
        /// The budget, in bytes.
        budget_bytes: u64,
    },
    /// A call failed.
    #[error("cannot {attempted} {directory}: {reason}")]
    Refused {
        /// The call that failed, in words: `open the directory`, `make a file in`.
        attempted: &'static str,
        /// The directory.
        directory: DiskText,
        /// The kernel's error text.
        reason: String,
    },
    /// The file system is in memory: there is no drive to measure.
    #[error("cannot measure in {directory}: {filesystem} is in memory, and no drive is behind it")]
    Memory {
        /// The directory.
        directory: DiskText,
        /// Its type.
        filesystem: String,
    },
    /// The file system is on another machine.
    #[error("cannot measure in {directory}: the drives of {filesystem} are in another machine")]
    Network {
        /// The directory.
        directory: DiskText,
        /// Its type.
        filesystem: String,
    },
    /// The file system is a program, which does what it likes with what is written.
    #[error(
        "cannot measure in {directory}: {filesystem} is a program, and where it puts the bytes \
         cannot be seen"
    )]
    Userspace {
        /// The directory.
        directory: DiskText,
        /// Its type.
        filesystem: String,
    },
    /// The file system hands on to others.
    #[error("cannot measure in {directory}: {filesystem} passes writes on to other file systems")]
    Stacked {
        /// The directory.
        directory: DiskText,
        /// Its type.
        filesystem: String,
    },
    /// The file system writes elsewhere each time.
    #[error(
        "cannot measure in {directory}: {filesystem} is copy-on-write and relocates every write, \
         so offsets cannot be controlled"
    )]
    Moving {
        /// The directory.
        directory: DiskText,
        /// Its type.
        filesystem: String,
    },
    /// New files in the directory are encrypted.
    #[error("cannot measure in {directory}: {filesystem} encrypts what is written there")]
    Encrypted {
        /// The directory.
        directory: DiskText,
        /// Its type.
        filesystem: String,
    },
    /// New files in the directory are compressed.
    #[error(
        "cannot measure in {directory}: what is written there is compressed, by {by}, so offsets \
         cannot be controlled"
    )]
    Compressed {
        /// The directory.
        directory: DiskText,
        /// The flag or option that compresses.
        by: String,
    },
    /// Nothing can be written there.
    #[error("cannot write in {directory}: its file system is mounted read-only")]
    ReadOnly {
        /// The directory.
        directory: DiskText,
    },
    /// Too little would stay free.
    #[error(
        "cannot make a scratch file of {} in {directory}: {} are free, and at least {} must stay \
         free",
        Size(*length_bytes),
        Size(*free_bytes),
        Size(*keep_bytes)
    )]
    Space {
        /// The directory.
        directory: DiskText,
        /// The wanted length, in bytes.
        length_bytes: u64,
        /// Space that is free for the user, in bytes.
        free_bytes: u64,
        /// Space that has to stay free, in bytes.
        keep_bytes: u64,
    },
    /// Too little would stay free on a layer below the file system.
    #[error(
        "cannot make a scratch file of {} in {directory}: it may need {} of new space in {store}; \
         {} are free there, and at least {} must stay free",
        Size(*length_bytes),
        Size(*needs_bytes),
        Size(*free_bytes),
        Size(*keep_bytes)
    )]
    Below {
        /// The directory.
        directory: DiskText,
        /// The wanted length, in bytes.
        length_bytes: u64,
        /// The layer.
        store: Box<StoreBelow>,
        /// The most space that the layer may have to take, in bytes.
        needs_bytes: u64,
        /// Space that is free there, in bytes.
        free_bytes: u64,
        /// Space that has to stay free there, in bytes.
        keep_bytes: u64,
    },
    /// A file system became full while the file was written.
    #[error(
        "cannot write the scratch file in {directory}: {full} is full after {}",
        Size(*written_bytes)
    )]
    Full {
        /// The directory.
        directory: DiskText,
        /// The layer that is full.
        full: FullPart,
        /// Number of bytes written before.
        written_bytes: u64,
    },
    /// The quota was reached.
    #[error(
        "cannot write the scratch file in {directory}: the disk quota is reached after {}",
        Size(*written_bytes)
    )]
    Quota {
        /// The directory.
        directory: DiskText,
        /// Number of bytes written before.
        written_bytes: u64,
    },
    /// Writing it failed.
    #[error(
        "cannot write the scratch file in {directory}: {attempted} failed {} from its start: \
         {reason}",
        Size(*at_bytes)
    )]
    Failed {
        /// The call that failed: `pwrite`, `fsync`.
        attempted: &'static str,
        /// The directory.
        directory: DiskText,
        /// The first byte of what was tried.
        at_bytes: u64,
        /// The kernel's error text.
        reason: String,
    },
    /// It was told to stop.
    #[error("stopped after {} of the scratch file in {directory}", Size(*written_bytes))]
    Stopped {
        /// The directory.
        directory: DiskText,
        /// Number of bytes written before.
        written_bytes: u64,
    },
}

impl ScratchError {
    /// Returns how long a scratch file may be there instead, in bytes; `None` where this one's
    /// length is not what is wrong, or no other is known to do. Where it was met while the file was
    /// written, half of what fitted, since the file system takes room for itself.
    #[must_use]
    pub fn room_bytes(&self) -> Option<u64> {
        let room_bytes = match self {
            ScratchError::Space { free_bytes, keep_bytes, .. } => {
                free_bytes.saturating_sub(*keep_bytes)
            }
            ScratchError::Below { length_bytes, needs_bytes, free_bytes, keep_bytes, .. } => {
                let room_bytes = u128::from(free_bytes.saturating_sub(*keep_bytes));
                let least = u128::from(*needs_bytes.max(length_bytes)).max(1);
                let shorter = (room_bytes * u128::from(*length_bytes)).div_euclid(least);
                u64::try_from(shorter).unwrap_or(0)
            }
            ScratchError::Full { written_bytes, .. }
            | ScratchError::Quota { written_bytes, .. } => written_bytes.div_euclid(2),
            _ => 0,
        };
        Some(room_bytes).filter(|bytes| *bytes > 0)
    }

    /// Advice, in lower case and without a full stop; `None` when there is none. Only the caller
    /// knows the options that ask for a file of [`ScratchError::room_bytes`]: `smaller` is the text
    /// to be typed, where anything would do.
    #[must_use]
    pub fn hint(&self, smaller: Option<&str>) -> Option<String> {
        let room = match self {
            ScratchError::Space { .. } => "free some space there".to_owned(),
            ScratchError::Full { full, .. } => format!("free some space {}", full.place()),
            ScratchError::Quota { .. } => "ask for a larger quota".to_owned(),
            ScratchError::Below { store, needs_bytes, free_bytes, keep_bytes, .. } => {
                let lacks_bytes = needs_bytes.saturating_add(*keep_bytes) - free_bytes;
                let lacks = Size(lacks_bytes.next_multiple_of(1 << 20));
                let room = format!("free {lacks} {}", store.place());
                match smaller {
                    Some(_) => room,
                    None => return Some(format!("{room}, or name a directory on another drive")),
                }
            }
            _ => return self.remedy().map(str::to_owned),
        };
        Some(match smaller {
            Some(smaller) => format!("{room}, or measure with less: {smaller}"),
            None => room,
        })
    }

    /// Advice where no other length would help.
    fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            ScratchError::Length { .. } => "give a multiple of 4 KiB",
            ScratchError::Budget { .. } => "allow more with --bytes-max",
            ScratchError::Memory { .. } => {
                "name a directory on a drive; df -T shows what is mounted where"
            }
            ScratchError::Network { .. } => "run it on the machine that has the drives",
            ScratchError::Userspace { .. } => "name a directory that the kernel itself mounts",
            ScratchError::Stacked { .. } => {
                "name a directory of the file system below: in a container, a volume"
            }
            ScratchError::Moving { .. } => {
                "measure the device below, or on a file system that writes in place: ext4, XFS"
            }
            ScratchError::Encrypted { .. } => "name a directory that is not encrypted",
            ScratchError::Compressed { .. } => {
                "on btrfs make a directory that is not: mkdir D && chattr +C D"
            }
            ScratchError::ReadOnly { .. } => "name a directory that may be written",
            ScratchError::Refused { attempted: "make a file in", .. } if crate::is_root() => {
                "name a directory on a disk"
            }
            ScratchError::Refused { attempted: "make a file in", .. } => {
                "name a directory on a disk that you may write, or try sudo"
            }
            ScratchError::Space { .. }
            | ScratchError::Below { .. }
            | ScratchError::Full { .. }
            | ScratchError::Quota { .. }
            | ScratchError::Refused { .. }
            | ScratchError::Failed { .. }
            | ScratchError::Stopped { .. } => return None,
        })
    }

    /// The error that no file could be made in `directory`.
    pub(super) fn not_made(error: Errno, directory: &DiskText) -> ScratchError {
        match error {
            Errno::NOSPC | Errno::DQUOT | Errno::ROFS => {
                ScratchError::of(error, "open", directory, 0)
            }
            error => ScratchError::refused("make a file in", directory, &error.into()),
        }
    }

    /// The error that `attempted` in `directory` failed with `error`, before anything was written.
    pub(super) fn refused(
        attempted: &'static str,
        directory: &DiskText,
        error: &io::Error,
    ) -> ScratchError {
        let reason = error.to_string();
        ScratchError::Refused { attempted, directory: directory.clone(), reason }
    }

    /// The error for `error` of `attempted`, at `at_bytes` of the file.
    pub(super) fn of(
        error: Errno,
        attempted: &'static str,
        directory: &DiskText,
        at_bytes: u64,
    ) -> ScratchError {
        let directory = directory.clone();
        match error {
            Errno::NOSPC => {
                ScratchError::Full { directory, full: FullPart::Mounted, written_bytes: at_bytes }
            }
            Errno::DQUOT => ScratchError::Quota { directory, written_bytes: at_bytes },
            Errno::ROFS => ScratchError::ReadOnly { directory },
            error => {
                let reason = crate::errno::text_of(error);
                ScratchError::Failed { attempted, directory, at_bytes, reason }
            }
        }
    }
}
