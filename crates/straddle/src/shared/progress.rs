//! A line on standard error that is drawn again and again while something is measured; between what
//! is timed only.

use std::io::{IsTerminal as _, Write as _};

use report::Look;

use crate::shared::printer;

/// Shortest time between two drawings.
const EVERY_NS: u64 = 100_000_000;

/// The line.
pub(crate) struct ProgressLine {
    is_wanted: bool,
    is_drawn: bool,
    next_ns: u64,
    look: Look,
}

impl ProgressLine {
    /// A line that is drawn only where `is_wanted`, a first time some moments after `begun_ns`.
    pub(crate) fn new(is_wanted: bool, begun_ns: u64) -> ProgressLine {
        let look = printer::look(false);
        let next_ns = begun_ns.saturating_add(EVERY_NS);
        ProgressLine { is_wanted, is_drawn: false, next_ns, look }
    }

    /// Draws what `text` makes, where it is time for that at `now_ns`.
    pub(crate) fn show(&mut self, now_ns: u64, text: impl FnOnce(&Look) -> String) {
        if !self.is_wanted || now_ns < self.next_ns {
            return;
        }
        self.next_ns = now_ns.saturating_add(EVERY_NS);
        self.put(&text(&self.look));
    }

    /// Draws what `text` makes at once: what is going to take a while.
    pub(crate) fn announce(&mut self, text: impl FnOnce(&Look) -> String) {
        if self.is_wanted {
            self.put(&text(&self.look));
        }
    }

    fn put(&mut self, line: &str) {
        // Nobody is left to see it when standard error is gone.
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        self.is_drawn = true;
    }

    /// Takes it away.
    pub(crate) fn clear(&mut self) {
        if self.is_drawn {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
            self.is_drawn = false;
        }
    }
}

/// Returns whether such a line is for somebody: standard error is a terminal, and `--no-progress`
/// was not typed.
pub(crate) fn is_wanted(no_progress: bool) -> bool {
    !no_progress && std::io::stderr().is_terminal()
}
