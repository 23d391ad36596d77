//! Measurement with a line on standard error that says how far it is. It is drawn where a row
//! begins, which is not timed, and never between the operations of a slice.

use device::{Durable, DurableFault};

use super::session::Session;
use crate::shared::progress::ProgressLine;

/// Does what the files do, and says how far it is.
pub(super) struct WithProgress<'a, F: Durable> {
    files: &'a mut F,
    line: ProgressLine,
    begun_ns: u64,
    most_ns: u64,
}

impl<'a, F: Durable> WithProgress<'a, F> {
    /// For something that takes `most_ns` at most.
    pub(super) fn new(
        session: &Session<'_>,
        files: &'a mut F,
        most_ns: u64,
    ) -> WithProgress<'a, F> {
        let begun_ns = files.now_ns();
        let mut watched =
            WithProgress { files, line: session.progress(begun_ns), begun_ns, most_ns };
        watched.line.announce(|look| report::fsync::measuring(0, most_ns, 0, look));
        watched
    }
}

impl<F: Durable> Durable for WithProgress<'_, F> {
    fn begin(&mut self, way: usize) -> Result<(), DurableFault> {
        let WithProgress { files, line, begun_ns, most_ns } = self;
        let now_ns = files.now_ns();
        line.show(now_ns, |look| {
            let spent_ns = now_ns.saturating_sub(*begun_ns);
            report::fsync::measuring(spent_ns, *most_ns, files.written_bytes(), look)
        });
        self.files.begin(way)
    }

    fn once(&mut self, way: usize) -> Result<u64, DurableFault> {
        self.files.once(way)
    }

    fn end(&mut self, way: usize) -> Result<(), DurableFault> {
        self.files.end(way)
    }

    fn written_bytes(&self) -> u64 {
        self.files.written_bytes()
    }

    fn now_ns(&self) -> u64 {
        self.files.now_ns()
    }

    fn goes_on(&self) -> bool {
        self.files.goes_on()
    }
}

impl<F: Durable> Drop for WithProgress<'_, F> {
    fn drop(&mut self) {
        self.line.clear();
    }
}
