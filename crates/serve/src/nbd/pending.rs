//! Requests of a connection that wait for a timed drive, and their replies.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::replies::{Replies, Reply};

/// Requests that a connection may have in flight; it is read on when one has ended.
const PENDING_MAX: usize = 256;

/// The requests of a connection between its reader and its writer.
#[derive(Debug, Default)]
pub(super) struct Pending {
    state: Mutex<PendingState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct PendingState {
    count: usize,
    ready: VecDeque<Reply>,
    /// No request comes any more.
    is_read: bool,
    /// No reply can be sent any more.
    is_broken: bool,
}

/// A request that waits for its end. Dropped without one, it breaks the connection.
#[derive(Debug)]
pub(super) struct PendingRequest(Option<Arc<Pending>>);

impl PendingRequest {
    /// Ends it with `reply`.
    pub(super) fn end(mut self, reply: Reply) {
        if let Some(pending) = self.0.take() {
            pending.end(reply);
        }
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if let Some(pending) = self.0.take() {
            pending.give_up();
        }
    }
}

impl Pending {
    /// Counts a request when there is room for it; `None` where the connection is broken.
    pub(super) fn begin(self: &Arc<Pending>) -> Option<PendingRequest> {
        let mut state = self.state();
        while state.count >= PENDING_MAX && !state.is_broken {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.count += 1;
        (!state.is_broken).then(|| PendingRequest(Some(Arc::clone(self))))
    }

    /// A request has ended.
    fn end(&self, reply: Reply) {
        self.state().ready.push_back(reply);
        self.changed.notify_all();
    }

    /// A request will never end, or the thread of one direction has ended early: the connection is
    /// of no more use.
    pub(super) fn give_up(&self) {
        self.state().is_broken = true;
        self.changed.notify_all();
    }

    /// No request comes any more.
    pub(super) fn close(&self) {
        self.state().is_read = true;
        self.changed.notify_all();
    }

    /// Sends replies until all requests have ended and no more come.
    ///
    /// # Errors
    /// When the connection takes no more.
    pub(super) fn send(&self, replies: &mut Replies<'_>) -> io::Result<()> {
        let done = self.send_all(replies);
        if done.is_err() {
            self.give_up();
        }
        done
    }

    fn send_all(&self, replies: &mut Replies<'_>) -> io::Result<()> {
        loop {
            let mut state = self.state();
            while state.ready.is_empty() {
                if state.is_broken {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                if state.is_read && state.count == 0 {
                    return Ok(());
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let ready = std::mem::take(&mut state.ready);
            state.count -= ready.len();
            drop(state);
            self.changed.notify_all();
            for reply in ready {
                replies.add(reply)?;
            }
            replies.send_above(0)?;
        }
    }

    fn state(&self) -> MutexGuard<'_, PendingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use drive::profile;

    use super::*;
    use crate::nbd::{NbdExport, NbdStream};
    use crate::{Pace, ServedDrive, Store};

    #[test]
    fn a_request_that_is_dropped_without_an_end_breaks_the_connection() {
        let model = profile::called("hdd-7200-512e").unwrap().model().unwrap();
        let store = Store::memory(model.capacity_bytes(), 1 << 20);
        let drive = Arc::new(ServedDrive::new(model, store, true, Pace::Off, None));
        let export = NbdExport { drive, name: String::new() };
        let (own, _other) = UnixStream::pair().unwrap();
        let stream = NbdStream::Unix(own);
        let pending = Arc::new(Pending::default());
        let requests: Vec<_> = (0..3).filter_map(|_| pending.begin()).collect();
        assert_eq!(requests.len(), 3);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| pending.send(&mut Replies::new(&stream, &export)));
            drop(requests);
            assert!(writer.join().unwrap().is_err());
        });
        assert!(pending.begin().is_none(), "no more requests are taken");
    }
}
