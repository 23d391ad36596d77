//! The Network Block Device protocol: fixed newstyle negotiation, simple replies, FLUSH, FUA, TRIM,
//! WRITE_ZEROES and block sizes. No TLS, no structured replies.
//!
//! Source: <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>.

mod connection;
mod input;
mod negotiation;
mod pending;
mod replies;
mod stream;
mod wire;

use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd as _;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub use stream::{NbdListener, NbdStream};

use crate::ServedDrive;

/// Connections at once. Each has two threads at most, and [`input::BUFFER_BYTES`] and a little more
/// of memory in each direction.
const CONNECTIONS_MAX: usize = 64;
/// Pause between looks at the flag that ends the server.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A drive under the name of an export.
#[derive(Clone, Debug)]
pub struct NbdExport {
    /// The drive.
    pub drive: Arc<ServedDrive>,
    /// The name; the empty name means this export too.
    pub name: String,
}

/// A server of one export, on any number of listeners.
#[derive(Debug)]
pub struct NbdServer {
    export: NbdExport,
    open: Mutex<HashMap<u64, NbdStream>>,
    next: AtomicU64,
    refused: AtomicU64,
    is_stopped: AtomicBool,
}

impl NbdServer {
    /// A server of `export`.
    #[must_use]
    pub fn new(export: NbdExport) -> NbdServer {
        NbdServer {
            export,
            open: Mutex::default(),
            next: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
        }
    }

    /// Number of connections that are open.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Number of connections that were refused because too many were open.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Takes connections until [`NbdServer::stop`], and returns when all are closed.
    ///
    /// # Errors
    /// When the kernel takes the listener away.
    pub fn run(&self, listener: &NbdListener) -> io::Result<()> {
        listener.set_nonblocking()?;
        std::thread::scope(|scope| {
            while !self.is_stopped.load(Ordering::SeqCst) {
                let mut ready = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
                match poll(&mut ready, Some(&LOOK_EVERY)) {
                    Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                    Ok(_) => {}
                    Err(error) => return Err(error.into()),
                }
                // One that hung up meanwhile, or no descriptor left: others may still come.
                let Ok(stream) = listener.accept() else {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                };
                let Some(number) = self.admitted(&stream) else { continue };
                scope.spawn(move || {
                    // Whatever went wrong, it went wrong on this connection; a drive that panicked
                    // is stopped.
                    let serve = || connection::serve(&stream, &self.export);
                    let _ = std::panic::catch_unwind(AssertUnwindSafe(serve));
                    stream.close();
                    self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
                });
            }
            Ok(())
        })
    }

    /// The number of a new connection; `None` where there are too many.
    fn admitted(&self, stream: &NbdStream) -> Option<u64> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let twin = (open.len() < CONNECTIONS_MAX).then(|| stream.twin().ok()).flatten();
        let Some(twin) = twin else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            stream.close();
            return None;
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        open.insert(number, twin);
        // It may have stopped while this one was taken.
        if self.is_stopped.load(Ordering::SeqCst) {
            stream.close();
        }
        Some(number)
    }

    /// Hangs up on everybody, and ends [`NbdServer::run`].
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .for_each(NbdStream::close);
    }
}
