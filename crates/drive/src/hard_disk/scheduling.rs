//! Choice of the arm's next job: of what waits for the medium, and of what the cache holds.
//!
//! Either in order, or what is reached first: shortest access time first. What was read ahead is
//! there already.

use std::cell::Cell;
use std::collections::VecDeque;

use super::arm::{DiskArm, SectorRun, Turned};
use super::cache::{Cache, CachedExtent};
use super::plan::{HardDiskPlan, Scheduler};
use super::platter::{HeadWork, Spot};
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

/// Extents that are not on the medium: each with a note of where it starts, once somebody
/// looked.
pub(super) type Dirty = Cache<Cell<Option<Spot>>>;

/// State that a disk looks at when it chooses.
pub(super) struct Choice<'a> {
    pub(super) plan: &'a HardDiskPlan,
    pub(super) arm: &'a DiskArm,
    pub(super) ahead: &'a ReadAhead,
    pub(super) now_ns: u64,
    /// Behind the last byte that the arm was at.
    pub(super) position: u64,
}

/// Next job of the arm. Of two as near it is a command, and the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Next {
    /// The waiting command at this place.
    Command(usize),
    /// The cached extent with this first byte.
    Extent(u64),
    Nothing,
}

/// Nearest job so far, after its distance in nanoseconds.
pub(super) type Nearest = (u64, Next);
/// Before anything is looked at.
pub(super) const NOTHING: Nearest = (u64::MAX, Next::Nothing);

impl Choice<'_> {
    /// Returns the waiting command that is next.
    pub(super) fn command(&self, waiting: &VecDeque<WaitingCommand>) -> Nearest {
        if waiting.is_empty() {
            return NOTHING;
        }
        if self.plan.scheduler == Scheduler::Fifo {
            return (0, Next::Command(0));
        }
        let (mut search, reach) = (self.search(NOTHING), self.ahead.reach());
        let seen = waiting.iter().take(self.plan.depth.into());
        for (place, WaitingCommand { command, run, spot, .. }) in seen.enumerate() {
            match command.action == CommandKind::Read && reach.has(*run) {
                true => search.found(0, Next::Command(place)),
                false => search.look(*spot, Next::Command(place)),
            }
        }
        search.best
    }

    /// Returns the cached extent that is next, or `best` where that is as near.
    pub(super) fn extent(&self, cache: &Dirty, best: Nearest) -> Nearest {
        let window = self.plan.window.into();
        if self.plan.scheduler == Scheduler::Fifo {
            let first = cache.near(self.position, 1).next();
            return first.map_or(best, |(extent, _)| best.min((0, Next::Extent(extent.start))));
        }
        let mut search = self.search(best);
        cache.each_near(self.position, window, |extent, note| {
            search.look(self.spot(extent, note), Next::Extent(extent.start));
        });
        search.best
    }

    fn search(&self, best: Nearest) -> Search<'_> {
        Search { arm: self.arm, turned: self.arm.turned(self.now_ns), best }
    }

    /// Returns where an extent starts, as its note says, or will say.
    fn spot(&self, extent: CachedExtent, note: &Cell<Option<Spot>>) -> Spot {
        note.get().unwrap_or_else(|| {
            let run = SectorRun::of(self.plan, extent.start, extent.end);
            let spot = self.arm.first_spot(run, HeadWork::Writes);
            note.set(Some(spot));
            spot
        })
    }
}

/// Search for what the head reaches first.
struct Search<'a> {
    arm: &'a DiskArm,
    turned: Turned,
    best: Nearest,
}

impl Search<'_> {
    /// Looks at `next`, which begins at `spot`.
    #[inline]
    fn look(&mut self, spot: Spot, next: Next) {
        if let Some(far_ns) = self.arm.distance_ns(spot, self.turned, self.best.0) {
            self.found(far_ns, next);
        }
    }

    /// Takes `next`, where it is nearer. Compared part by part, the best stays in registers.
    #[inline]
    fn found(&mut self, far_ns: u64, next: Next) {
        let (best_ns, best) = self.best;
        if far_ns < best_ns || (far_ns == best_ns && next < best) {
            self.best = (far_ns, next);
        }
    }
}
