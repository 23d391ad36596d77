//! Between blocks: a rest where the drive is shared, the line that says how far it is, and whether
//! the user wants to end.

use super::session::Session;
use crate::shared::busy;
use crate::shared::progress::{self, ProgressLine};

/// Pauses between blocks, and what is checked in them.
pub(super) struct Pauses<'a> {
    run: &'a Session<'a>,
    line: ProgressLine,
    /// Step that is done now.
    what: &'static str,
    begun_ns: u64,
    most_ns: u64,
    /// Share of the time in which the drive is used, in percent.
    share_percent: u64,
}

impl<'a> Pauses<'a> {
    /// For something that takes `most_ns` at most.
    pub(super) fn new(run: &'a Session<'a>, most_ns: u64) -> Pauses<'a> {
        let begun_ns = run.clock.now_ns();
        let is_wanted = progress::is_wanted(run.probe.kept.no_progress);
        let line = ProgressLine::new(is_wanted, begun_ns);
        Pauses { run, line, what: "", begun_ns, most_ns, share_percent: 100 }
    }

    /// From here on the drive is used for so much of the time, in percent.
    pub(super) fn share(&mut self, percent: u64) {
        self.share_percent = percent;
    }

    /// `what` begins.
    pub(super) fn begin(&mut self, what: &'static str) {
        self.what = what;
        let Pauses { run, line, begun_ns, most_ns, .. } = self;
        let spent_ns = run.clock.now_ns().saturating_sub(*begun_ns);
        line.announce(|look| report::probe::probing(what, spent_ns, *most_ns, look));
    }

    /// Told how long a block took: rests, and says whether to go on.
    pub(super) fn pause(&mut self, took_ns: u64) -> bool {
        let Pauses { run, line, what, begun_ns, most_ns, share_percent } = self;
        let now_ns = run.clock.now_ns();
        line.show(now_ns, |look| {
            report::probe::probing(what, now_ns.saturating_sub(*begun_ns), *most_ns, look)
        });
        busy::rest((run.clock, &run.interrupt), took_ns, *share_percent, u64::MAX);
        !run.interrupt.is_raised()
    }
}

impl Drop for Pauses<'_> {
    fn drop(&mut self) {
        self.line.clear();
    }
}
