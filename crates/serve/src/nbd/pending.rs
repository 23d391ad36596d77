//! Requests of a connection that wait for a timed drive, and their replies.

use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

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

impl Pending {
    /// Counts a request when there is room for it; false where the connection is broken.
    pub(super) fn begin(&self) -> bool {
        let mut state = self.state();
        while state.count >= PENDING_MAX && !state.is_broken {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.count += 1;
        !state.is_broken
    }

    /// A request has ended.
    pub(super) fn end(&self, reply: Reply) {
        self.state().ready.push_back(reply);
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
            self.state().is_broken = true;
            self.changed.notify_all();
        }
        done
    }

    fn send_all(&self, replies: &mut Replies<'_>) -> io::Result<()> {
        loop {
            let mut state = self.state();
            while state.ready.is_empty() {
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
