//! A served drive that FUSE carries: as a file, or as the loop device over one.

use std::thread::JoinHandle;

use super::guard::Guard;
use super::plug::Plug;

/// A session of FUSE, with a guard that takes it away when this process cannot.
pub(super) struct FusePlug {
    guard: Guard,
    session: JoinHandle<std::io::Result<()>>,
    address: String,
}

impl FusePlug {
    /// The drive that `session` serves at `address`.
    pub(super) fn new(
        guard: Guard,
        session: JoinHandle<std::io::Result<()>>,
        address: String,
    ) -> FusePlug {
        FusePlug { guard, session, address }
    }
}

/// A thread that runs `work` as soon as there is some: requests and answers pass through it.
pub(super) fn prompt_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    std::thread::spawn(|| {
        // Without it requests and answers are a little later.
        let _ = host::wake_promptly();
        work()
    })
}

impl Plug for FusePlug {
    fn address(&self) -> &str {
        &self.address
    }

    fn is_gone(&self) -> bool {
        self.guard.is_gone() || self.session.is_finished()
    }

    fn look(&mut self) {
        self.guard.tick();
    }

    /// Unmounts and detaches it, when nobody uses it any more.
    ///
    /// # Errors
    /// When it stays.
    fn pull(&mut self) -> anyhow::Result<()> {
        // The connection ends with this process, where it has not ended with its last file.
        self.guard.end()
    }
}
