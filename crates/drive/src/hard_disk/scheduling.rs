//! Choice of the arm's next job: of what waits for the medium, and of what the cache holds.
//!
//! Either in order, or what is reached first: shortest access time first. What was read ahead is
//! there already.

use std::cell::Cell;
use std::collections::VecDeque;

use super::arm::{DiskArm, HeadWork, SectorRun};
use super::cache::{Cache, CachedExtent};
use super::plan::{HardDiskPlan, Rmw, Scheduler};
use super::platter::Spot;
use super::read_ahead::ReadAhead;
use crate::{CommandKind, DriveCommand};

/// A command that waits for the medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingCommand {
    pub(super) command: DriveCommand,
    pub(super) run: SectorRun,
    /// First sector of the run.
    pub(super) spot: Spot,
    /// When it came.
    pub(super) since_ns: u64,
}

/// Extents that are not on the medium: each with a note of where it starts and what the head does
/// there first, once somebody looked.
pub(super) type Dirty = Cache<Cell<Option<(Spot, HeadWork)>>>;

/// State that a disk looks at when it chooses.
pub(super) struct Choice<'a> {
    pub(super) plan: &'a HardDiskPlan,
    pub(super) arm: &'a DiskArm,
    pub(super) ahead: &'a ReadAhead,
    pub(super) now_ns: u64,
    /// Behind the last byte that the arm was at.
    pub(super) position: u64,
}

impl Choice<'_> {
    /// Returns how far the waiting command is that is next, and its place.
    pub(super) fn command(&self, waiting: &VecDeque<WaitingCommand>) -> Option<(u64, usize)> {
        if self.plan.scheduler == Scheduler::Fifo {
            return (!waiting.is_empty()).then_some((0, 0));
        }
        let turned_ns = self.arm.turned_ns(self.now_ns);
        let seen = waiting.iter().take(self.plan.depth.into()).enumerate();
        seen.fold(None, |best, (place, WaitingCommand { command, run, spot, .. })| {
            let far_ns = match command.action {
                CommandKind::Read if self.ahead.has(*run) => Some(0),
                CommandKind::Read => {
                    self.arm.distance_ns(HeadWork::Reads, *spot, turned_ns, most_ns(best))
                }
                _ => self.arm.distance_ns(self.first_pass(*run), *spot, turned_ns, most_ns(best)),
            };
            nearer(best, far_ns, place)
        })
    }

    /// Returns how far the cached extent is that is next, and its first byte.
    pub(super) fn extent(&self, cache: &Dirty) -> Option<(u64, u64)> {
        let window = self.plan.window.into();
        if self.plan.scheduler == Scheduler::Fifo {
            return cache.near(self.position, 1).next().map(|(extent, _)| (0, extent.start));
        }
        let turned_ns = self.arm.turned_ns(self.now_ns);
        let mut best = None;
        cache.each_near(self.position, window, |extent, note| {
            let (spot, head) = self.spot(extent, note);
            let far_ns = self.arm.distance_ns(head, spot, turned_ns, most_ns(best));
            best = nearer(best, far_ns, extent.start);
        });
        best
    }

    /// Returns what the head does first to write a run: a part is read before.
    fn first_pass(&self, run: SectorRun) -> HeadWork {
        match run.has_head && self.plan.rmw != Rmw::Buffered {
            true => HeadWork::Reads,
            false => HeadWork::Writes,
        }
    }

    /// Returns where an extent starts and what the head does there first, as its note says, or will
    /// say.
    fn spot(
        &self,
        extent: CachedExtent,
        note: &Cell<Option<(Spot, HeadWork)>>,
    ) -> (Spot, HeadWork) {
        note.get().unwrap_or_else(|| {
            let run = SectorRun::of(self.plan, extent.start, extent.end);
            let spot = (self.arm.spot(run.first), self.first_pass(run));
            note.set(Some(spot));
            spot
        })
    }
}

/// Returns how far the next may be, to be as near as the best so far.
fn most_ns<T>(best: Option<(u64, T)>) -> u64 {
    best.map_or(u64::MAX, |(far_ns, _)| far_ns)
}

/// The nearer of the best so far and another at `far_ns`, if that is known; of two as near the one
/// with the lower number.
fn nearer<T: Ord>(best: Option<(u64, T)>, far_ns: Option<u64>, number: T) -> Option<(u64, T)> {
    match (best, far_ns.map(|far_ns| (far_ns, number))) {
        (Some(best), Some(other)) => Some(best.min(other)),
        (best, other) => other.or(best),
    }
}
