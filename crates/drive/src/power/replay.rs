//! State of the medium at an instant, and of the sector under the head.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::medium_log::{Arrived, Put};
use super::sectors::{Units, common};
use super::{Cut, CutFault, HostLog, MediumLog, MediumPass, SectorContent, UnderHead};

/// A logical sector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Content of the medium.
    pub(super) held: SectorContent,
    /// Number of arrivals of no more concern: put there, or superseded by what was.
    pub(super) settled: usize,
    /// The newest write that the cache had.
    cached: Option<usize>,
}

/// The medium at the instant of a cut.
#[derive(Clone, Debug)]
pub(super) struct Medium {
    cells: BTreeMap<u64, Cell>,
    /// Physical sectors that the cut decided, since they were under the head.
    decided: BTreeSet<u64>,
}

/// Progress of writing a physical sector.
enum WriteProgress {
    /// Not begun.
    Ahead,
    Under,
    Done,
}

impl Medium {
    /// The medium as `cut` finds it.
    pub(super) fn at(host: &HostLog, medium: &MediumLog, cut: &Cut) -> Result<Medium, CutFault> {
        let mut replay = PowerReplay {
            host,
            medium,
            cut,
            physical: medium.sectors().physical(),
            order: BTreeMap::new(),
            arrived: 0,
            at: Medium { cells: BTreeMap::new(), decided: BTreeSet::new() },
        };
        for put in medium.puts().iter().filter(|put| put.from_ns <= cut.at_ns) {
            replay.arrive(put.upto)?;
            replay.put(put);
        }
        replay.arrive(medium.arrivals().len())?;
        Ok(replay.at)
    }

    /// Returns what the logical sector `lba` is; `None` where nothing came near it.
    pub(super) fn cell(&self, lba: u64) -> Option<&Cell> {
        self.cells.get(&lba)
    }

    /// Returns whether the cut decided what becomes of the physical sector `unit`.
    pub(super) fn is_decided(&self, unit: u64) -> bool {
        self.decided.contains(&unit)
    }

    /// Puts something else there.
    pub(super) fn set(&mut self, lba: u64, held: SectorContent) {
        self.touch(lba).held = held;
    }

    /// Returns what each sector holds, in order.
    pub(super) fn held(&self) -> impl Iterator<Item = (u64, SectorContent)> {
        self.cells.iter().map(|(&lba, cell)| (lba, cell.held))
    }

    fn touch(&mut self, lba: u64) -> &mut Cell {
        let new = Cell { held: SectorContent::Original, settled: 0, cached: None };
        self.cells.entry(lba).or_insert(new)
    }
}

/// Arrivals and puts, in the order in which they were.
struct PowerReplay<'a> {
    host: &'a HostLog,
    medium: &'a MediumLog,
    cut: &'a Cut,
    physical: Units,
    /// Number of arrivals with each write.
    order: BTreeMap<usize, usize>,
    arrived: usize,
    at: Medium,
}

impl PowerReplay<'_> {
    /// Takes arrivals until there were `upto`, or the power goes.
    fn arrive(&mut self, upto: usize) -> Result<(), CutFault> {
        while self.arrived < upto {
            let (at_ns, arrived) = self.medium.arrivals()[self.arrived];
            self.arrived += 1;
            if at_ns > self.cut.at_ns {
                continue;
            }
            let number = match arrived {
                Arrived::Cached(number) | Arrived::Through(number) => number,
                Arrived::Dropped(range) => {
                    // Where nothing came before there is nothing to forget.
                    let lbas = self.medium.sectors().lbas(range);
                    for (_, cell) in self.at.cells.range_mut(lbas) {
                        (cell.settled, cell.cached) = (self.arrived, None);
                    }
                    continue;
                }
            };
            self.order.insert(number, self.arrived);
            for lba in self.lbas(number)? {
                let cell = self.at.touch(lba);
                if matches!(arrived, Arrived::Cached(_)) {
                    cell.cached = Some(number);
                }
            }
        }
        Ok(())
    }

    /// The sectors of a write.
    fn lbas(&self, number: usize) -> Result<Range<u64>, CutFault> {
        let write = self.host.writes().get(number).ok_or(CutFault::NoSuchWrite { number })?;
        Ok(self.medium.sectors().lbas(write.range))
    }

    /// Puts on the medium what was there until the cut.
    fn put(&mut self, put: &Put) {
        let lbas = self.medium.sectors().lbas(put.range);
        if put.to_ns <= self.cut.at_ns {
            for unit in self.physical.touched(&lbas) {
                self.land(put, &common(&self.physical.lbas(unit), &lbas));
            }
            return;
        }
        for span in self.medium.spans(put) {
            for place in 0..span.sectors {
                let whole = self.physical.lbas(span.first + place);
                let part = common(&whole, &lbas);
                match self.progress(span, place) {
                    WriteProgress::Ahead => {}
                    WriteProgress::Done => self.land(put, &part),
                    WriteProgress::Under => self.under_head(put, &whole, &part),
                }
            }
        }
    }

    /// Returns how far the sector at `place` of a span is.
    fn progress(&self, span: &MediumPass, place: u64) -> WriteProgress {
        let at = |place: u64| {
            let all_ns = u128::from(span.to_ns - span.from_ns);
            let gone_ns = all_ns * u128::from(place) / u128::from(span.sectors);
            span.from_ns + u64::try_from(gone_ns).unwrap_or(u64::MAX)
        };
        let (from_ns, to_ns, now_ns) = (at(place), at(place + 1), self.cut.at_ns);
        match now_ns {
            now_ns if now_ns >= to_ns => WriteProgress::Done,
            now_ns if now_ns <= from_ns => WriteProgress::Ahead,
            _ => WriteProgress::Under,
        }
    }

    /// The sectors `lbas` of a put are on the medium.
    fn land(&mut self, put: &Put, lbas: &Range<u64>) {
        for lba in lbas.clone() {
            let cell = self.at.touch(lba);
            let settled = match put.write {
                Some(number) => self.order.get(&number).copied().unwrap_or(put.upto),
                None => put.upto,
            };
            if put.is_mapped && settled < cell.settled {
                continue;
            }
            cell.settled = cell.settled.max(settled);
            if let Some(number) = put.write.or(cell.cached) {
                cell.held = SectorContent::Write(number);
            }
        }
    }

    /// The power goes while the head is over the physical sector `whole`, of which `part` is meant.
    fn under_head(&mut self, put: &Put, whole: &Range<u64>, part: &Range<u64>) {
        // A buffer that does not forget has the parts of sectors; a cache that does not has all.
        let is_safe = self.cut.is_non_volatile || (put.is_buffered && part != whole);
        let fate = if is_safe { UnderHead::Completes } else { self.cut.under_head };
        match fate {
            UnderHead::Completes => self.land(put, part),
            UnderHead::Old => {}
            UnderHead::Unreadable => {
                for lba in whole.start..whole.end.min(self.medium.capacity_lbas()) {
                    self.at.set(lba, SectorContent::Unreadable);
                }
            }
        }
        if !self.cut.is_non_volatile {
            self.at.decided.insert(self.physical.of(whole.start));
        }
    }
}
