//! The line on standard error that shows the interval while it narrows; drawn between pairs only.

use measure::PairStep;
use report::bench;

use super::session::Session;
use crate::shared::progress::ProgressLine;

/// A line that is drawn again and again.
pub(crate) struct BenchProgressLine {
    line: ProgressLine,
    begun_ns: u64,
    title: String,
}

impl BenchProgressLine {
    pub(crate) fn start(session: &Session<'_>, title: &str) -> BenchProgressLine {
        let begun_ns = session.elapsed_ns();
        let line = ProgressLine::new(session.shows_progress, begun_ns);
        BenchProgressLine { line, begun_ns, title: title.to_owned() }
    }

    pub(crate) fn show(&mut self, session: &Session<'_>, step: &PairStep) {
        let now_ns = session.elapsed_ns();
        let so_far = bench::BenchProgress {
            title: &self.title,
            elapsed_ns: now_ns.saturating_sub(self.begun_ns),
            written_bytes: session.written_bytes(),
        };
        self.line.show(now_ns, |look| bench::progress(step, &so_far, look));
    }

    pub(crate) fn clear(&mut self) {
        self.line.clear();
    }
}
