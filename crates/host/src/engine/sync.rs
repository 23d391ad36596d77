//! One system call an operation: pread, pwrite, fsync and their kin.
//!
//! Source: preadv2(2), pwritev2(2), fsync(2), `sync_file_range`(2).
//!
//! # No return behind a call
//!
//! What a system call goes through here is always inlined, and so is the loop around it. A kernel
//! that keeps its returns safe from speculation (the kernel's
//! `Documentation/admin-guide/hw-vuln/srso.rst`) leaves the processor without what it knew of our
//! own returns: the first one from a function that was entered before the call is guessed wrong,
//! into the kernel. On a Zen 3 under such a kernel each cost about 170 ns, and where the call has a
//! function of its own, that stands in its latency.

use std::fs::File;
use std::io::IoSlice;
use std::os::fd::{AsRawFd as _, OwnedFd};

use device::{Action, Completion, Durability, Operation, Queue, QueueError, SyncKind};
use rustix::io::{Errno, ReadWriteFlags};

use super::slots::Slots;
use super::turns::{Act, Turns};
use super::{Buffers, EngineError, now_ns, open};

/// `RWF_ATOMIC`, since Linux 6.11.
pub(super) const RWF_ATOMIC: u32 = 0x40;

/// Does what was submitted when it is reaped, one after the other in order, each stamped right
/// before and right after its system call. Depth is allowed, and gives no more than depth 1.
#[derive(Debug)]
pub struct SyncQueue {
    calls: Calls,
    slots: Slots,
    turns: Turns,
}

/// One system call an operation, to one of some files.
#[derive(Debug)]
struct Calls {
    files: Vec<File>,
    buffers: Buffers,
}

impl Act for Calls {
    #[inline(always)]
    fn act(&mut self, operation: &Operation) -> Result<u32, i32> {
        let file = &self.files[usize::from(operation.file)];
        done(file, &mut self.buffers, operation).map_err(Errno::raw_os_error)
    }
}

impl SyncQueue {
    /// A queue over `files`, of as many slots as there are `buffers`.
    ///
    /// # Errors
    /// [`EngineError::Files`] when there is no file, or more than 65535.
    pub fn new(files: Vec<OwnedFd>, buffers: Buffers) -> Result<SyncQueue, EngineError> {
        let files = open::checked(files)?;
        let slots = Slots::new(buffers.slots(), files.len(), buffers.slot_bytes());
        let turns = Turns::new(buffers.slots());
        Ok(SyncQueue { calls: Calls { files, buffers }, slots, turns })
    }
}

impl Queue for SyncQueue {
    fn depth(&self) -> u16 {
        self.calls.buffers.slots()
    }

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        self.calls.buffers.slot(slot)
    }

    #[inline]
    fn push(&mut self, operation: Operation) {
        self.slots.take(&operation);
        self.turns.push(operation);
    }

    #[inline]
    fn submit(&mut self) -> Result<(), QueueError> {
        self.turns.submit();
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self, completions: &mut [Completion], _: usize) -> Result<usize, QueueError> {
        Ok(self.turns.reap(completions, &mut self.slots, &mut self.calls))
    }

    #[inline]
    fn now_ns(&mut self) -> u64 {
        now_ns()
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
            sync_range(file, offset_bytes, length_bytes).map(|()| 0)?
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

/// The three `SYNC_FILE_RANGE_` bits: wait, write out, wait.
pub(super) const SYNC_RANGE_FLAGS: u32 = libc::SYNC_FILE_RANGE_WAIT_BEFORE
    | libc::SYNC_FILE_RANGE_WRITE
    | libc::SYNC_FILE_RANGE_WAIT_AFTER;

#[expect(unsafe_code, reason = "rustix does not offer this call")]
fn sync_range(file: &File, offset_bytes: u64, length_bytes: u32) -> Result<(), Errno> {
    let offset = i64::try_from(offset_bytes).map_err(|_| Errno::INVAL)?;
    // SAFETY: sync_file_range(2) takes four numbers and no memory; the descriptor is borrowed open.
    let result = unsafe {
        libc::sync_file_range(file.as_raw_fd(), offset, length_bytes.into(), SYNC_RANGE_FLAGS)
    };
    match result {
        0 => Ok(()),
        _ => {
            let error = std::io::Error::last_os_error();
            Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
        }
    }
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
        assert_eq!(SYNC_RANGE_FLAGS, 7);
    }
}
