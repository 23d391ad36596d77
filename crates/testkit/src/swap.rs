//! Swap areas of a test's own, of which there is one at a time: the kernel may put pages of any
//! process into each.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::scratch::text;
use crate::tool;

static ONE: Mutex<()> = Mutex::new(());

/// A swap area that is in use, until this is dropped.
#[derive(Debug)]
pub struct Swap {
    path: PathBuf,
    _one: MutexGuard<'static, ()>,
}

impl Swap {
    /// Makes a swap area at `path`, a device or a file, and uses it; `None` where the kernel does
    /// not swap to it.
    ///
    /// # Panics
    /// When mkswap fails.
    #[must_use]
    pub fn on(path: &Path) -> Option<Swap> {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        tool::run("mkswap", &["-q", text(path)]);
        let is_on = tool::output("swapon", &[text(path)]).status.success();
        is_on.then(|| Swap { path: path.to_owned(), _one: one })
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        let _ = tool::output("swapoff", &[text(&self.path)]);
    }
}
