//! Reads that the disk does by itself after a read, since the sectors pass under the head anyway.

use super::arm::SectorRun;

/// Bytes that were read, and the head's further way.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadAhead {
    most: u64,
    /// Sectors that were read, with the time at which the last of them had passed.
    read: Option<(u64, u64, u64)>,
    /// True if the head has gone on since.
    goes_on: bool,
}

impl ReadAhead {
    /// Nothing yet; at most `most` sectors will be read behind a read.
    pub(super) fn new(most: u64) -> ReadAhead {
        ReadAhead { most, read: None, goes_on: false }
    }

    /// Sectors that were read, or will be without the arm moving.
    pub(super) fn reach(&self) -> Reach {
        let Some((from, upto, _)) = self.read else { return Reach { from: 0, sectors: 0 } };
        let most = if self.goes_on { upto + self.most } else { upto };
        Reach { from, sectors: most - from }
    }

    /// The first sector of `run` that was not read when the head was there last, and when that was;
    /// `None` where the arm must go there.
    pub(super) fn rest(&self, run: SectorRun) -> Option<(u64, u64)> {
        let (_, upto, at_ns) = self.read?;
        self.reach().has(run).then_some((upto, at_ns))
    }

    /// The head has read `run`, and goes on from `at_ns`. Where nothing is read ahead there is no
    /// buffer either.
    pub(super) fn read(&mut self, run: SectorRun, at_ns: u64) {
        if self.most == 0 {
            return;
        }
        let last = run.first + run.sectors;
        // What it has stays as far as there is room: a stream's sectors join.
        let from = match self.read {
            Some((from, upto, _)) if run.first >= from && run.first <= upto => from,
            _ => run.first,
        };
        let from = from.max(last.saturating_sub(self.most)).min(run.first);
        (self.read, self.goes_on) = (Some((from, last, at_ns)), true);
    }

    /// The arm is needed elsewhere.
    pub(super) fn stop(&mut self) {
        self.goes_on = false;
    }
}

/// Sectors that need no arm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    from: u64,
    sectors: u64,
}

impl Reach {
    /// Returns whether all of `run` is among them.
    #[inline]
    pub(super) fn has(self, run: SectorRun) -> bool {
        // One comparison, since half of all runs are before; their distance is beyond all.
        run.first.wrapping_sub(self.from).saturating_add(run.sectors) <= self.sectors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_reads_nothing_ahead_reads_a_sector_again() {
        let run = SectorRun { first: 7, sectors: 1, has_head: false, has_tail: false };
        for (most, has) in [(0, false), (8, true)] {
            let mut ahead = ReadAhead::new(most);
            ahead.read(run, 0);
            assert_eq!(ahead.reach().has(run), has);
        }
    }
}
