//! Many operations in flight, by `io_uring`, with registered files and buffers.
//!
//! Source: io_uring_setup(2), io_uring_enter(2), io_uring_register(2) of liburing.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};

use device::{Action, Completion, Operation, Queue, QueueError, SyncKind};
use io_uring::squeue::Entry;
use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{EnterFlags, IoUring, opcode};
use rustix::io::Errno;

use super::buffers::Buffers;
use super::clock::now_ns;
use super::error::EngineError;
use super::open;
use super::slot_states::Slots;
use super::system_calls::write_flags;
use crate::sync_range;

/// Keeps up to `depth` operations in flight.
///
/// All that one `submit` starts have the stamp that was taken before its system call, and all that
/// one `reap` finds have the stamp that was taken when it found them: so a latency is never shorter
/// than the truth, and the clock is read twice a batch.
///
/// The first `submit` binds the queue to its thread where the kernel then does less (Linux 6.1).
#[derive(Debug)]
pub struct UringQueue {
    ring: Ring,
    slots: Slots,
    submitted_ns: Box<[u64]>,
    /// Slots that were pushed since the last submit.
    pushed: Vec<u16>,
    /// Taken by the kernel, and not yet reaped.
    flying: usize,
    enabled: bool,
    buffers: Buffers,
    files: Vec<File>,
}

/// A ring, and what it has registered.
struct Ring {
    ring: IoUring,
    /// True if the buffers are registered: not where memory may not be locked.
    fixed: bool,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Ring").field("fixed", &self.fixed).finish_non_exhaustive()
    }
}

impl UringQueue {
    /// A queue over `files`, of as many slots as there are `buffers`.
    ///
    /// # Errors
    /// [`EngineError::Forbidden`] where the kernel has no `io_uring` or does not allow it,
    /// [`EngineError::Ring`] when it fails, [`EngineError::Files`] when there is no file or too
    /// many.
    pub fn new(files: Vec<OwnedFd>, buffers: Buffers) -> Result<UringQueue, EngineError> {
        let files = open::checked(files)?;
        let ring =
            build(buffers.slots()).map_err(|error| refused(&error, disabled().as_deref()))?;
        let numbers: Vec<RawFd> = files.iter().map(|file| file.as_raw_fd()).collect();
        let registered = ring.submitter().register_files(&numbers);
        registered.map_err(|error| failed("io_uring_register (files)", &error))?;
        let fixed = register(&ring, &buffers)?;
        let slots = Slots::new(buffers.slots(), files.len(), buffers.slot_bytes());
        let submitted_ns = vec![0; buffers.slots().into()].into_boxed_slice();
        let ring = Ring { ring, fixed };
        let pushed = Vec::with_capacity(buffers.slots().into());
        let (flying, enabled) = (0, false);
        Ok(UringQueue { ring, slots, submitted_ns, pushed, flying, enabled, buffers, files })
    }

    /// Returns how many files it is over.
    #[must_use]
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// The kernel's form of `operation`.
    #[inline]
    fn entry(&self, operation: &Operation) -> Entry {
        let Operation { action, file, slot, offset_bytes, length_bytes } = *operation;
        let file = Fixed(file.into());
        let entry = match (action, self.ring.fixed) {
            (Action::Read, true) => {
                opcode::ReadFixed::new(file, self.buffers.place(slot), length_bytes, 0)
                    .offset(offset_bytes)
                    .build()
            }
            (Action::Read, false) => {
                let place = self.buffers.place(slot);
                opcode::Read::new(file, place, length_bytes).offset(offset_bytes).build()
            }
            (Action::Write { durability, atomic }, true) => {
                opcode::WriteFixed::new(file, self.buffers.place(slot), length_bytes, 0)
                    .offset(offset_bytes)
                    .rw_flags(write_flags(durability, atomic).cast_signed())
                    .build()
            }
            (Action::Write { durability, atomic }, false) => {
                opcode::Write::new(file, self.buffers.place(slot), length_bytes)
                    .offset(offset_bytes)
                    .rw_flags(write_flags(durability, atomic).cast_signed())
                    .build()
            }
            (Action::Sync(SyncKind::All), _) => opcode::Fsync::new(file).build(),
            (Action::Sync(SyncKind::Data), _) => {
                opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build()
            }
            (Action::Sync(SyncKind::Range), _) => opcode::SyncFileRange::new(file, length_bytes)
                .offset(offset_bytes)
                .flags(sync_range::ALL)
                .build(),
        };
        entry.user_data(slot.into())
    }

    /// Hands `count` of the pushed entries to the kernel, lets it run what it deferred, and waits
    /// until `least` completions are there; how many entries it took. One call does both: so what
    /// ended meanwhile is mostly seen without another.
    #[inline]
    #[expect(unsafe_code, reason = "the crate's safe call would not let deferred work run")]
    fn enter(&self, count: usize, least: usize) -> io::Result<usize> {
        let [count, least] = [count, least].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let flags = EnterFlags::GETEVENTS.bits();
        // SAFETY: the entries that the kernel takes are those of `push`, which are valid until they
        // have ended, as it says; no argument is passed, so the kernel reads and writes none of
        // this program's memory beyond those and the rings (io_uring_enter(2)).
        unsafe { self.ring.ring.submitter().enter::<libc::sigset_t>(count, least, flags, None) }
    }

    /// Waits until `least` completions are there.
    fn wait(&self, least: usize) -> Result<(), QueueError> {
        loop {
            match self.enter(0, least) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(stopped("io_uring_enter", &error)),
            }
        }
    }

    /// Returns whether something may have ended that the kernel shows only when it is asked.
    fn is_held_back(&mut self) -> bool {
        self.flying > 0 && self.ring.ring.submission().taskrun()
    }

    /// Puts what has ended into `completions`; how many.
    #[inline]
    fn take(&mut self, completions: &mut [Completion]) -> usize {
        let mut ended = self.ring.ring.completion();
        if ended.is_empty() {
            return 0;
        }
        let completed_ns = now_ns();
        let mut count = 0;
        for (place, entry) in completions.iter_mut().zip(&mut ended) {
            let slot = u16::try_from(entry.user_data()).expect("it was made of a slot");
            self.slots.free(slot);
            let submitted_ns = self.submitted_ns[usize::from(slot)];
            // A negative result is an error's number.
            let result = u32::try_from(entry.result()).map_err(|_| -entry.result());
            *place = Completion { slot, submitted_ns, completed_ns, result };
            count += 1;
        }
        self.flying -= count;
        count
    }
}

impl Queue for UringQueue {
    fn depth(&self) -> u16 {
        self.buffers.slots()
    }

    /// # Panics
    /// Also while the slot has an operation, since the kernel uses its buffer.
    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        assert!(self.slots.is_free(slot), "the kernel uses the buffer of slot {slot}");
        self.buffers.slot(slot)
    }

    #[inline]
    #[expect(unsafe_code, reason = "the kernel uses the buffer until the operation has ended")]
    fn push(&mut self, operation: Operation) {
        self.slots.take(&operation);
        let entry = self.entry(&operation);
        // SAFETY: the entry's file is registered, and its buffer has the length that it names
        // (`take` asserts both). The buffer is lent to nobody until the slot is free again, and is
        // not given back before: dropping the queue waits, or leaks it.
        let pushed = unsafe { self.ring.ring.submission().push(&entry) };
        pushed.expect("the ring has room for every slot, and each slot has one operation");
        self.pushed.push(operation.slot);
    }

    #[inline]
    fn submit(&mut self) -> Result<(), QueueError> {
        if !self.enabled {
            let enabled = self.ring.ring.submitter().register_enable_rings();
            enabled.map_err(|error| stopped("io_uring_register (enable)", &error))?;
            self.enabled = true;
        }
        let submitted_ns = now_ns();
        let mut ahead = self.pushed.len();
        for slot in self.pushed.drain(..) {
            self.submitted_ns[usize::from(slot)] = submitted_ns;
        }
        while ahead > 0 {
            match self.enter(ahead, 0) {
                Ok(0) => {
                    let nothing = io::Error::from(io::ErrorKind::WriteZero);
                    return Err(stopped("io_uring_enter", &nothing));
                }
                Ok(taken) => {
                    self.flying += taken;
                    ahead = ahead.saturating_sub(taken);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(stopped("io_uring_enter", &error)),
            }
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, completions: &mut [Completion], least: usize) -> Result<usize, QueueError> {
        let least = least.min(self.flying).min(completions.len());
        let room = !completions.is_empty();
        let mut count = 0;
        loop {
            count += self.take(&mut completions[count..]);
            if count >= least && !(count == 0 && room && self.is_held_back()) {
                return Ok(count);
            }
            self.wait(least - count)?;
        }
    }

    #[inline]
    fn now_ns(&mut self) -> u64 {
        now_ns()
    }
}

impl Drop for UringQueue {
    /// Waits for what is in flight, since the kernel moves bytes in and out of the buffers until
    /// then; where it cannot wait, the buffers are never given back. Files are let go here: the
    /// kernel would do that some time after the ring is closed (`io_ring_exit_work`), and a file
    /// system that one of them is on could not be unmounted until then.
    fn drop(&mut self) {
        while self.flying > 0 {
            if self.wait(1).is_err() {
                self.buffers.keep_for_ever();
                return;
            }
            let ended = self.ring.ring.completion().count();
            self.flying = self.flying.saturating_sub(ended);
        }
        // What fails here is done when the ring is closed.
        let _ = self.ring.ring.submitter().unregister_files();
    }
}

/// A ring of at least `slots` entries, as cheap as this kernel can: completions are run when they
/// are reaped (6.1), or at least without interrupting the program (5.19), or as they come. It
/// starts disabled, so that the first submit decides which thread it belongs to.
fn build(slots: u16) -> io::Result<IoUring> {
    let entries = u32::from(slots);
    let mut deferred = IoUring::builder();
    deferred.setup_r_disabled().setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag();
    let mut polite = IoUring::builder();
    polite.setup_r_disabled().setup_coop_taskrun().setup_taskrun_flag();
    let mut plain = IoUring::builder();
    plain.setup_r_disabled();
    let unknown = |error: &io::Error| error.raw_os_error() == Some(Errno::INVAL.raw_os_error());
    match deferred.build(entries) {
        Err(error) if unknown(&error) => {}
        built => return built,
    }
    match polite.build(entries) {
        Err(error) if unknown(&error) => plain.build(entries),
        built => built,
    }
}

/// Registers all buffers as one; `false` where memory may not be locked.
#[expect(unsafe_code, reason = "the kernel is given addresses")]
fn register(ring: &IoUring, buffers: &Buffers) -> Result<bool, EngineError> {
    let (start, length) = buffers.whole();
    let whole = [libc::iovec { iov_base: start.cast(), iov_len: length }];
    // SAFETY: the memory is that of `buffers`, which the queue owns together with the ring, and
    // gives back only when nothing is in flight; the kernel pins its pages and touches them only
    // for operations (io_uring_register(2)).
    match unsafe { ring.submitter().register_buffers(&whole) } {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => Ok(false),
        Err(error) => Err(failed("io_uring_register (buffers)", &error)),
    }
}

/// Reads `kernel.io_uring_disabled`: `None` before Linux 6.6.
fn disabled() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").ok()?;
    Some(text.trim().to_owned())
}

/// Why there is no ring, and what helps.
fn refused(error: &io::Error, disabled: Option<&str>) -> EngineError {
    let forbidden = |reason: String, hint| EngineError::Forbidden { reason, hint };
    let number = error.raw_os_error();
    if number == Some(Errno::NOSYS.raw_os_error()) {
        let reason = format!("this kernel has no io_uring ({error})");
        return forbidden(reason, "depth 1 works without it; io_uring needs Linux 5.10");
    }
    if ![Errno::PERM, Errno::ACCESS].iter().any(|known| number == Some(known.raw_os_error())) {
        return failed("io_uring_setup", error);
    }
    match disabled {
        Some(value @ ("1" | "2")) => forbidden(
            format!("the sysctl kernel.io_uring_disabled is {value} ({error})"),
            "depth 1 works without it; sysctl kernel.io_uring_disabled=0 allows it",
        ),
        _ => forbidden(
            format!("a container's or the system's policy (seccomp) does not allow it ({error})"),
            "depth 1 works without it; for more, try on the host",
        ),
    }
}

fn failed(attempted: &'static str, error: &io::Error) -> EngineError {
    EngineError::Ring { attempted, reason: error.to_string() }
}

fn stopped(attempted: &'static str, error: &io::Error) -> QueueError {
    QueueError { attempted, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_keeps_the_buffers_registered() {
        let scratch = testkit::Scratch::new();
        let file = File::open(scratch.file("file", &[0; 4096])).unwrap();
        match UringQueue::new(vec![file.into()], Buffers::new(8, 4096).unwrap()) {
            Err(error @ EngineError::Forbidden { .. }) => testkit::skip(&error.to_string()),
            made => assert!(made.unwrap().ring.fixed),
        }
    }

    #[test]
    fn where_io_uring_is_forbidden_the_error_says_by_whom_and_that_depth_1_works() {
        let error = |number: Errno| io::Error::from_raw_os_error(number.raw_os_error());
        for (number, disabled, expected) in [
            (Errno::PERM, Some("2"), "kernel.io_uring_disabled is 2"),
            (Errno::PERM, Some("0"), "seccomp"),
            (Errno::PERM, None, "seccomp"),
            (Errno::NOSYS, None, "has no io_uring"),
        ] {
            let found = refused(&error(number), disabled);
            assert!(found.to_string().contains(expected), "{found}");
            assert!(found.hint().unwrap().starts_with("depth 1 works without it"));
        }
        let found = refused(&error(Errno::NOMEM), Some("0"));
        assert!(matches!(found, EngineError::Ring { .. }), "{found}");
    }
}
