//! The calls, each with its result checked, and what a failure means.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use device::DurableFault;
use device::durable::{DurableMethod, Method, WritePlace};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::sync_range;

/// A call that did not do what it was to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallFailure {
    Open(Errno),
    Write(Errno),
    /// A write moved fewer bytes than it was given: how many, and how many it was given.
    Short(usize, usize),
    /// A sync, by its name.
    Sync(&'static str, Errno),
}

impl CallFailure {
    /// A write that moved `moved` bytes of `given`, where the `rest` was tried once more: a file
    /// system that fills up takes what fits first, and says so only then.
    pub(super) fn short(moved: usize, given: usize, rest: Result<usize, Errno>) -> CallFailure {
        match rest {
            Err(error @ (Errno::NOSPC | Errno::DQUOT)) => CallFailure::Write(error),
            _ => CallFailure::Short(moved, given),
        }
    }

    /// Returns the fault of `way` that follows from it.
    pub(super) fn fault(self, way: DurableMethod) -> DurableFault {
        let said = |error: Errno| crate::errno::text_of(error);
        let syncs = matches!(way.method, Method::OpenDatasync | Method::OpenSync);
        let bytes = way.write_bytes;
        match self {
            CallFailure::Open(error) => {
                DurableFault::Void(format!("the scratch file cannot be opened: {}", said(error)))
            }
            CallFailure::Write(error @ (Errno::NOSPC | Errno::DQUOT)) => {
                DurableFault::NoRoom(format!("a write of {bytes} bytes failed: {}", said(error)))
            }
            // What was to be allocated when it is written out: with XFS, btrfs, NFS.
            CallFailure::Sync(call, error @ (Errno::NOSPC | Errno::DQUOT)) => {
                DurableFault::NoRoom(format!("{call} failed: {}", said(error)))
            }
            CallFailure::Write(Errno::INVAL) if way.is_direct => {
                DurableFault::Unavailable(format!(
                    "direct I/O of {bytes} bytes is refused here: the drive's sectors are longer"
                ))
            }
            CallFailure::Write(error) if syncs && error == Errno::IO => DurableFault::Stopped(
                format!("a durable write of {bytes} bytes failed: {}", said(error)),
            ),
            CallFailure::Write(error) => {
                DurableFault::Void(format!("a write of {bytes} bytes failed: {}", said(error)))
            }
            CallFailure::Short(moved, given) => {
                DurableFault::Void(format!("a write of {given} bytes wrote {moved}"))
            }
            CallFailure::Sync(
                call @ "sync_file_range",
                Errno::NOSYS | Errno::INVAL | Errno::SPIPE,
            ) => DurableFault::Unavailable(format!("{call} is not there")),
            CallFailure::Sync(call, error) => {
                DurableFault::Stopped(format!("{call} failed: {}", said(error)))
            }
        }
    }
}

/// The scratch file at `path`, opened as `way` wants it.
pub(super) fn open(path: &Path, way: DurableMethod) -> Result<OwnedFd, Errno> {
    let sync = match way.method {
        Method::OpenDatasync => OFlags::DSYNC,
        Method::OpenSync => OFlags::SYNC,
        _ => OFlags::empty(),
    };
    let direct = if way.is_direct { OFlags::DIRECT } else { OFlags::empty() };
    rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC | sync | direct, Mode::empty())
}

/// Why `way` cannot open its file.
pub(super) fn not_opened(error: Errno, way: DurableMethod, filesystem: &str) -> DurableFault {
    match error {
        Errno::INVAL if way.is_direct => DurableFault::Unavailable(format!(
            "{filesystem} and its mount options do not support direct I/O"
        )),
        error => CallFailure::Open(error).fault(way),
    }
}

/// Writes all of `bytes` by one call.
#[inline]
pub(super) fn write(file: BorrowedFd<'_>, bytes: &[u8], at_bytes: u64) -> Result<(), CallFailure> {
    let moved = rustix::io::pwrite(file, bytes, at_bytes).map_err(CallFailure::Write)?;
    if moved == bytes.len() { Ok(()) } else { Err(cut_short(file, bytes, at_bytes, moved)) }
}

/// Why a write of `bytes` moved only `moved` of them.
#[cold]
fn cut_short(file: BorrowedFd<'_>, bytes: &[u8], at_bytes: u64, moved: usize) -> CallFailure {
    let behind = at_bytes.saturating_add(u64::try_from(moved).unwrap_or(0));
    let rest = rustix::io::pwrite(file, bytes.get(moved..).unwrap_or_default(), behind);
    CallFailure::short(moved, bytes.len(), rest)
}

#[inline]
pub(super) fn fdatasync(file: BorrowedFd<'_>) -> Result<(), CallFailure> {
    rustix::fs::fdatasync(file).map_err(|error| CallFailure::Sync("fdatasync", error))
}

#[inline]
pub(super) fn fsync(file: BorrowedFd<'_>) -> Result<(), CallFailure> {
    rustix::fs::fsync(file).map_err(|error| CallFailure::Sync("fsync", error))
}

/// Has a range written to the drive and waits for that; the drive's cache is not flushed.
pub(super) fn sync_file_range(
    file: BorrowedFd<'_>,
    at: u64,
    bytes: u64,
) -> Result<(), CallFailure> {
    sync_range::sync_file_range(file, at, bytes, sync_range::ALL)
        .map_err(|error| CallFailure::Sync("sync_file_range", error))
}

/// Has a range go on its way to the drive, as the kernel does by itself when much waits in memory.
pub(super) fn start_writing(file: BorrowedFd<'_>, at: u64, bytes: u64) -> Result<(), Errno> {
    match sync_range::sync_file_range(file, at, bytes, sync_range::START) {
        // Where there is no such call the kernel does it in its own time.
        Err(Errno::NOSYS | Errno::INVAL | Errno::SPIPE) => Ok(()),
        done => done,
    }
}

/// One operation of the rows that sync on another descriptor than they write, or on the same: what
/// `pg_test_fsync` does, call by call.
pub(super) fn on_descriptors(path: &Path, method: Method, bytes: &[u8]) -> Result<(), CallFailure> {
    const PLAIN: DurableMethod = DurableMethod {
        method: Method::None,
        is_direct: false,
        place: WritePlace::Overwrite,
        write_bytes: 0,
        writes: 1,
        is_contended: false,
    };
    let open = || open(path, PLAIN).map_err(CallFailure::Open);
    let file = open()?;
    write(file.as_fd(), bytes, 0)?;
    if method == Method::WriteFsyncClose {
        fsync(file.as_fd())?;
        drop(file);
        // Opened once more, so that both rows open and close as often.
        drop(open()?);
    } else {
        drop(file);
        fsync(open()?.as_fd())?;
    }
    Ok(())
}
