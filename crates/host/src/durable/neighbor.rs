//! Another writer on the same file system: a thread that lets a file of its own grow, through the
//! page cache and without a sync, while a row is measured. Each piece is sent on its way to the
//! drive at once, as databases do it and the kernel when much waits in memory.
//!
//! It is bounded: [`NEIGHBOR_BYTES_MAX`] for each slice of the row, in pieces with a pause after
//! each. Between slices it does nothing.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use device::DurableFault;
use rustix::io::Errno;

use crate::engine::{Access, now_ns};
use crate::scratch::{Scratch, ScratchError};

use super::checked_calls;
use super::plan::{DurablePlan, NEIGHBOR_BYTES_MAX, SEED_BYTES};

/// Length of each write, in bytes.
const PIECE_BYTES: usize = 32 << 10;
const PAUSE: Duration = Duration::from_micros(250);

/// The thread, and how to talk to it.
#[derive(Debug)]
pub(super) struct Neighbor {
    /// `None` when it is to end.
    orders: Option<Sender<()>>,
    answers: Receiver<Result<u64, Errno>>,
    halts: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    scratch: Scratch,
}

impl Neighbor {
    /// Starts it, no later than `end_ns`; it waits.
    pub(super) fn start(plan: &DurablePlan<'_>, end_ns: u64) -> Result<Neighbor, ScratchError> {
        let goes_on = |_| !plan.interrupt.is_raised() && now_ns() < end_ns;
        let small = plan.of_length(SEED_BYTES);
        let scratch = Scratch::create_anywhere_while(&plan.directory, small, goes_on)?;
        let refused = |reason: String| ScratchError::Refused {
            attempted: "start another writer in",
            directory: scratch.directory().clone(),
            reason,
        };
        let file =
            scratch.open(Access::Write, false).map_err(|error| refused(error.to_string()))?;
        let (orders, told) = channel();
        let (says, answers) = channel();
        let halts = Arc::new(AtomicBool::new(false));
        let halted = Arc::clone(&halts);
        let work = move || {
            let bytes = vec![0x5a; PIECE_BYTES];
            while let Ok(()) = told.recv() {
                if says.send(written(&file, &bytes, &halted)).is_err() {
                    break;
                }
            }
        };
        let builder = std::thread::Builder::new().name("neighbor".to_owned());
        let thread = builder.spawn(work).map_err(|error| refused(error.to_string()))?;
        Ok(Neighbor { orders: Some(orders), answers, halts, thread: Some(thread), scratch })
    }

    pub(super) fn go(&mut self) -> Result<(), DurableFault> {
        self.halts.store(false, Ordering::SeqCst);
        let sent = self.orders.as_ref().is_some_and(|orders| orders.send(()).is_ok());
        if sent { Ok(()) } else { Err(gone()) }
    }

    /// Has it stop, and settles what it wrote; how many bytes that were.
    pub(super) fn stop(&mut self) -> Result<u64, DurableFault> {
        self.halts.store(true, Ordering::SeqCst);
        let void = |error: Errno| {
            let reason = format!("the other writer failed: {}", std::io::Error::from(error));
            match error {
                Errno::NOSPC | Errno::DQUOT => DurableFault::NoRoom(reason),
                _ => DurableFault::Void(reason),
            }
        };
        let written = self.answers.recv().map_err(|_| gone())?.map_err(void)?;
        rustix::fs::fsync(self.scratch.fd()).map_err(|error| {
            let reason = std::io::Error::from(error);
            let reason = format!("fsync of the other writer's file failed: {reason}");
            match error {
                Errno::NOSPC | Errno::DQUOT => DurableFault::NoRoom(reason),
                _ => DurableFault::Stopped(reason),
            }
        })?;
        Ok(written)
    }
}

fn gone() -> DurableFault {
    DurableFault::Void("the other writer is gone".to_owned())
}

/// Makes the file empty and lets it grow until it is halted or long enough.
fn written(file: &OwnedFd, bytes: &[u8], halted: &AtomicBool) -> Result<u64, Errno> {
    rustix::fs::ftruncate(file.as_fd(), 0)?;
    let mut at_bytes = 0_u64;
    while !halted.load(Ordering::SeqCst) && at_bytes < NEIGHBOR_BYTES_MAX {
        let moved = rustix::io::pwrite(file.as_fd(), bytes, at_bytes)?;
        if moved == 0 {
            return Err(Errno::IO);
        }
        let moved = u64::try_from(moved).unwrap_or(0);
        // Blocks are chosen and the file grows in the journal only when it is written out.
        checked_calls::start_writing(file.as_fd(), at_bytes, moved)?;
        at_bytes += moved;
        std::thread::sleep(PAUSE);
    }
    Ok(at_bytes)
}

impl Drop for Neighbor {
    fn drop(&mut self) {
        self.halts.store(true, Ordering::SeqCst);
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to say any more.
            let _ = thread.join();
        }
    }
}
