//! The line on standard error that shows the interval while it narrows; drawn between pairs only.

use std::io::Write as _;

use report::Look;
use report::bench::{self, Step};

use super::session::Session;
use crate::printer;

/// How far apart two drawings are at least.
const EVERY_NS: u64 = 100_000_000;

/// A line that is drawn again and again.
pub(crate) struct Progress {
    is_wanted: bool,
    is_drawn: bool,
    begun_ns: u64,
    next_ns: u64,
    look: Look,
    title: String,
}

impl Progress {
    pub(crate) fn start(session: &Session<'_>, title: &str) -> Progress {
        let look = printer::look(false);
        let begun_ns = session.elapsed_ns();
        Progress {
            is_wanted: session.shows_progress,
            is_drawn: false,
            begun_ns,
            next_ns: begun_ns.saturating_add(EVERY_NS),
            look,
            title: title.to_owned(),
        }
    }

    pub(crate) fn show(&mut self, session: &Session<'_>, step: &Step) {
        let now_ns = session.elapsed_ns();
        if !self.is_wanted || now_ns < self.next_ns {
            return;
        }
        self.next_ns = now_ns.saturating_add(EVERY_NS);
        let so_far = bench::Progress {
            title: &self.title,
            elapsed_ns: now_ns.saturating_sub(self.begun_ns),
            written_bytes: session.written_bytes(),
        };
        let line = bench::progress(step, &so_far, &self.look);
        // Nobody is left to see it when standard error is gone.
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        self.is_drawn = true;
    }

    pub(crate) fn clear(&mut self) {
        if self.is_drawn {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
            self.is_drawn = false;
        }
    }
}
