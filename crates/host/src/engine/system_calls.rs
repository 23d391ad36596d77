//! One system call an operation: pread, pwrite, fsync and their kin.
//!
//! Source: preadv2(2), pwritev2(2), fsync(2), `sync_file_range`(2).
//!
//! # No return after a call
//!
//! The path of a system call is always inlined here, and so is the loop around it. A kernel that
//! keeps its returns safe from speculation (the kernel's
//! `Documentation/admin-guide/hw-vuln/srso.rst`) leaves the processor without what it knew of our
//! own returns: the first one from a function that was entered before the call is guessed wrong,
//! into the kernel. On a Zen 3 under such a kernel each cost about 170 ns, and where the call has a
//! function of its own, that stands in its latency.

use std::fs::File;
use std::io::IoSlice;
use std::os::fd::{AsFd as _, OwnedFd};

use device::{Action, Durability, Operation, SyncKind};
use rustix::io::{Errno, ReadWriteFlags};

use super::buffers::Buffers;
use super::error::EngineError;
use super::open;
use super::sequential::{Operate, SequentialQueue};
use crate::sync_range::{ALL, sync_file_range};

/// `RWF_ATOMIC`, since Linux 6.11.
pub(super) const RWF_ATOMIC: u32 = 0x40;

/// A queue of one system call an operation.
pub type SyncQueue = SequentialQueue<SystemCalls>;

/// One system call an operation, to one of some files.
#[derive(Debug)]
pub struct SystemCalls {
    files: Vec<File>,
}

impl Operate for SystemCalls {
    #[inline(always)]
    fn operate(&mut self, buffers: &mut Buffers, operation: &Operation) -> Result<u32, i32> {
        let file = &self.files[usize::from(operation.file)];
        done(file, buffers, operation).map_err(Errno::raw_os_error)
    }
}

impl SyncQueue {
    /// A queue over `files`, of as many slots as there are `buffers`.
    ///
    /// # Errors
    /// [`EngineError::Files`] when there is no file, or more than 65535.
    pub fn new(files: Vec<OwnedFd>, buffers: Buffers) -> Result<SyncQueue, EngineError> {
        let files = open::checked(files)?;
        let count = files.len();
        Ok(SequentialQueue::over(SystemCalls { files }, count, buffers))
    }
}

/// Does `operation`; the bytes moved, which may be fewer than asked.
#[inline(always)]
fn done(file: &File, buffers: &mut Buffers, operation: &Operation) -> Result<u32, Errno> {
    let Operation { action, slot, offset_bytes, length_bytes, .. } = *operation;
    let length = usize::try_from(length_bytes).expect("push has seen that it fits the buffer");
    let moved = match action {
        Action::Read => {
            let bytes = &mut buffers.slot(slot)[..length];
            uninterrupted(|| rustix::io::pread(file, &mut *bytes, offset_bytes))?
        }
        Action::Write { durability: Durability::Cached, atomic: false } => {
            let bytes = &buffers.slot(slot)[..length];
            uninterrupted(|| rustix::io::pwrite(file, bytes, offset_bytes))?
        }
        Action::Write { durability, atomic } => {
            let bytes = [IoSlice::new(&buffers.slot(slot)[..length])];
            let flags = ReadWriteFlags::from_bits_retain(write_flags(durability, atomic));
            uninterrupted(|| rustix::io::pwritev2(file, &bytes, offset_bytes, flags))?
        }
        // What a sync did before it was interrupted is not known, so it is not tried again.
        Action::Sync(SyncKind::Data) => rustix::fs::fdatasync(file).map(|()| 0)?,
        Action::Sync(SyncKind::All) => rustix::fs::fsync(file).map(|()| 0)?,
        Action::Sync(SyncKind::Range) => {
            sync_file_range(file.as_fd(), offset_bytes, length_bytes.into(), ALL).map(|()| 0)?
        }
    };
    Ok(u32::try_from(moved).expect("no more than was asked for, which is a u32"))
}

/// Tries again as long as a signal came before anything was moved: pread(2) and pwrite(2) give
/// `EINTR` only then, and a short count otherwise.
#[inline(always)]
fn uninterrupted(mut call: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

/// The `RWF_` bits of a write.
pub(super) fn write_flags(durability: Durability, atomic: bool) -> u32 {
    let durable = match durability {
        Durability::Cached => ReadWriteFlags::empty(),
        Durability::Data => ReadWriteFlags::DSYNC,
        Durability::All => ReadWriteFlags::SYNC,
    };
    durable.bits() | if atomic { RWF_ATOMIC } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_was_interrupted_before_it_did_anything_is_made_again() {
        let mut answers = [Err(Errno::INTR), Err(Errno::INTR), Ok(100)].into_iter();
        assert_eq!(uninterrupted(|| answers.next().unwrap()), Ok(100));
        assert_eq!(uninterrupted(|| Err(Errno::IO)), Err(Errno::IO));
    }

    #[test]
    fn durability_is_the_bits_of_the_kernels_header() {
        assert_eq!(write_flags(Durability::Data, false), 0x2);
        assert_eq!(write_flags(Durability::All, true), 0x4 | 0x40);
        assert_eq!(write_flags(Durability::Cached, false), 0);
    }
}
