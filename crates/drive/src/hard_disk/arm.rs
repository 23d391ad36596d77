//! The arm and the turning platter: how long it takes to read or write sectors, from where it is.

use super::platter::{DiskTrack, HeadWork, Platter, Spot};
use super::seeks::Seeks;
use super::{HardDiskPlan, Rmw};
use crate::DriveTally;
use crate::power::MediumPass;

/// A run of physical sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SectorRun {
    /// The first.
    pub(super) first: u64,
    /// Number of sectors, at least 1.
    pub(super) sectors: u64,
    /// True if a part of the first is meant.
    pub(super) has_head: bool,
    /// True if a part of the last is meant. Where there is only one, `has_head` says it.
    pub(super) has_tail: bool,
}

impl SectorRun {
    /// The sectors that bytes from `start` to `end` touch; `start` is below `end`.
    pub(super) fn of(plan: &HardDiskPlan, start: u64, end: u64) -> SectorRun {
        // A sector is a power of two, and divisions take long.
        let (bits, within) = (plan.physical_bytes.trailing_zeros(), plan.physical_bytes - 1);
        // Where the origin is not 0, sector 0 is the piece before it.
        let shift = (plan.physical_bytes - plan.origin_bytes) & within;
        let (start, end) = (start + shift, end + shift);
        let (first, last) = (start >> bits, (end - 1) >> bits);
        let (head, tail) = (start & within != 0, end & within != 0);
        let is_one = first == last;
        SectorRun {
            first,
            sectors: last - first + 1,
            has_head: head || (is_one && tail),
            has_tail: tail && !is_one,
        }
    }

    /// Returns how many of its sectors must be read before they can be written.
    pub(super) fn parts(self) -> u64 {
        u64::from(self.has_head) + u64::from(self.has_tail)
    }
}

/// The arm, with its account.
#[derive(Clone, Debug)]
pub(super) struct DiskArm {
    platter: Platter,
    seeks: Seeks,
    rmw: Rmw,
    /// Time that the head settles longer before it writes.
    write_settle_ns: u64,
    /// Track that the arm is at.
    track: DiskTrack,
    pub(super) tally: DriveTally,
    /// The passes that wrote since somebody asked, where somebody asks.
    pub(super) spans: Option<Vec<MediumPass>>,
}

/// Angle of the platter, as the time that it takes to turn so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turned {
    now_ns: u64,
    /// After the shortest seek, which takes `shortest_ns`.
    landed_ns: u64,
    shortest_ns: u64,
}

impl DiskArm {
    /// The arm of `plan`, which was checked, on the first track.
    pub(super) fn new(plan: &HardDiskPlan) -> DiskArm {
        let platter = Platter::new(plan);
        DiskArm {
            seeks: Seeks::new(plan, platter.cylinders()),
            platter,
            rmw: plan.rmw,
            write_settle_ns: plan.write_settle_ns,
            track: DiskTrack::FIRST,
            tally: DriveTally::default(),
            spans: None,
        }
    }

    /// Returns where the head begins with a run: a part that is to be written is read before.
    pub(super) fn first_spot(&self, run: SectorRun, work: HeadWork) -> Spot {
        let is_read = run.has_head && self.rmw != Rmw::Buffered;
        let work = if is_read { HeadWork::Reads } else { work };
        self.platter.spot(self.platter.place(run.first), work)
    }

    /// Returns whether the arm is on the track of `spot`.
    fn is_on_track(&self, spot: Spot) -> bool {
        spot.track == self.track
    }

    fn cylinders_to(&self, spot: Spot) -> u64 {
        spot.track.cylinder().abs_diff(self.track.cylinder())
    }

    /// Returns how long the arm takes to `spot`.
    fn seek_ns(&self, spot: Spot) -> u64 {
        if self.is_on_track(spot) {
            return 0;
        }
        self.seeks.seek_ns(self.cylinders_to(spot))
    }

    /// Returns how long until the head is over `spot`, from `at_ns`: the seek, and the wait.
    fn reach_ns(&self, spot: Spot, at_ns: u64) -> (u64, u64) {
        let turn_ns = self.platter.turn_ns();
        let seek_ns = match self.seek_ns(spot) {
            0 => 0,
            seek_ns => seek_ns + self.settles_ns(spot.work),
        };
        (seek_ns, self.platter.wait_ns(spot, (at_ns + seek_ns) % turn_ns))
    }

    /// Returns how much longer the head settles before its work.
    fn settles_ns(&self, work: HeadWork) -> u64 {
        match work {
            HeadWork::Reads => 0,
            HeadWork::Writes => self.write_settle_ns,
        }
    }

    /// Returns how far the platter has turned at `at_ns`.
    pub(super) fn turned(&self, at_ns: u64) -> Turned {
        let turn_ns = self.platter.turn_ns();
        let (now_ns, shortest_ns) = (at_ns % turn_ns, self.seeks.shortest_ns());
        Turned { now_ns, landed_ns: (now_ns + shortest_ns) % turn_ns, shortest_ns }
    }

    /// Returns how long until the head is over `spot`, where the platter has turned so far; `None`
    /// where that is surely longer than `most_ns`.
    #[inline]
    pub(super) fn distance_ns(&self, spot: Spot, turned: Turned, most_ns: u64) -> Option<u64> {
        if self.is_on_track(spot) {
            return Some(self.platter.wait_ns(spot, turned.now_ns));
        }
        // No way is shorter.
        let passes_ns = turned.shortest_ns + self.platter.wait_ns(spot, turned.landed_ns);
        if passes_ns > most_ns {
            return None;
        }
        self.pass_after_seek_ns(spot, passes_ns, most_ns)
    }

    /// When `spot`, which passes in `passes_ns` and each turn after that, passes first once the arm
    /// is there; `None` where that is surely longer than `most_ns`. It is not inlined: most are
    /// known to be too far before.
    #[inline(never)]
    fn pass_after_seek_ns(&self, spot: Spot, passes_ns: u64, most_ns: u64) -> Option<u64> {
        let cylinders = self.cylinders_to(spot);
        let (turn_ns, settles_ns) = (self.platter.turn_ns(), self.settles_ns(spot.work));
        let (shortest_ns, longest_ns) = self.seeks.bounds_ns(cylinders);
        let (shortest_ns, longest_ns) = (shortest_ns + settles_ns, longest_ns + settles_ns);
        if longest_ns <= passes_ns {
            return Some(passes_ns);
        }
        if shortest_ns > most_ns || (shortest_ns > passes_ns && passes_ns + turn_ns > most_ns) {
            return None;
        }
        let seek_ns = self.seeks.seek_ns(cylinders) + settles_ns;
        let late_ns = seek_ns.saturating_sub(passes_ns);
        Some(passes_ns + late_ns.div_ceil(turn_ns) * turn_ns)
    }

    /// Passes over `sectors` from `first`, beginning at `at_ns`; when the last has passed.
    fn pass(&mut self, head: HeadWork, first: u64, sectors: u64, at_ns: u64) -> u64 {
        let (mut sector, mut left, mut now_ns) = (first, sectors, at_ns);
        while left > 0 {
            let place = self.platter.place(sector);
            let spot = self.platter.spot(place, head);
            let (seek_ns, wait_ns) = self.reach_ns(spot, now_ns);
            let here = left.min(place.track_sectors - place.index);
            let span_ns = self.platter.span_ns(place, here);
            self.tally.seeks += u64::from(seek_ns > 0);
            self.tally.seek_ns += seek_ns;
            self.tally.wait_ns += wait_ns;
            self.tally.transfer_ns += span_ns;
            self.track = spot.track;
            now_ns += seek_ns + wait_ns + span_ns;
            if head == HeadWork::Writes
                && let Some(spans) = &mut self.spans
            {
                let (from_ns, to_ns) = (now_ns - span_ns, now_ns);
                spans.push(MediumPass { first: sector, sectors: here, from_ns, to_ns });
            }
            (sector, left) = (sector + here, left - here);
        }
        self.tally.busy_ns += now_ns - at_ns;
        now_ns
    }

    /// Waits for so many further turns from `at_ns`; until when.
    pub(super) fn retry(&mut self, turns: u32, at_ns: u64) -> u64 {
        let wait_ns = u64::from(turns) * self.platter.turn_ns();
        self.tally.wait_ns += wait_ns;
        self.tally.busy_ns += wait_ns;
        at_ns + wait_ns
    }

    /// Reads a run from `at_ns`; when it is read.
    pub(super) fn read(&mut self, run: SectorRun, at_ns: u64) -> u64 {
        self.tally.medium_reads += 1;
        self.tally.sectors_read += run.sectors;
        self.pass(HeadWork::Reads, run.first, run.sectors, at_ns)
    }

    /// Writes a run from `at_ns`, with what must be read before; when it is on the medium.
    pub(super) fn write(&mut self, run: SectorRun, at_ns: u64) -> u64 {
        self.tally.medium_writes += 1;
        self.tally.sectors_written += run.sectors;
        let SectorRun { first, sectors, has_head, has_tail } = run;
        let last = first + sectors - 1;
        if run.parts() == 0 || self.rmw == Rmw::Buffered {
            return self.pass(HeadWork::Writes, first, sectors, at_ns);
        }
        self.tally.rmw_reads += run.parts();
        let mut now_ns = at_ns;
        match self.rmw {
            Rmw::Batched => {
                if has_head {
                    now_ns = self.pass(HeadWork::Reads, first, 1, now_ns);
                }
                if has_tail {
                    now_ns = self.pass(HeadWork::Reads, last, 1, now_ns);
                }
                self.pass(HeadWork::Writes, first, sectors, now_ns)
            }
            Rmw::PerSector | Rmw::Serial => {
                if has_head {
                    now_ns = self.pass(HeadWork::Reads, first, 1, now_ns);
                    now_ns = self.switched(now_ns);
                }
                // The whole sectors go with the head, if there is one.
                let whole = sectors - u64::from(has_tail);
                if whole > 0 {
                    now_ns = self.pass(HeadWork::Writes, first, whole, now_ns);
                }
                if has_tail {
                    now_ns = self.switched(now_ns);
                    now_ns = self.pass(HeadWork::Reads, last, 1, now_ns);
                    now_ns = self.switched(now_ns);
                    now_ns = self.pass(HeadWork::Writes, last, 1, now_ns);
                }
                now_ns
            }
            Rmw::Buffered => now_ns,
        }
    }

    /// When the head can go on: where no pass is shared it has missed the next sector.
    fn switched(&mut self, now_ns: u64) -> u64 {
        if self.rmw != Rmw::Serial {
            return now_ns;
        }
        let missed_ns = self.platter.turn_ns() / SWITCH_SHARE;
        self.tally.wait_ns += missed_ns;
        self.tally.busy_ns += missed_ns;
        now_ns + missed_ns
    }
}

/// Switching between reading and writing takes this part of a turn, where no pass is shared: more
/// than a sector, and little beside a turn.
const SWITCH_SHARE: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_is_the_seek_and_the_wait_and_is_known_up_to_the_most() {
        let plan = HardDiskPlan {
            capacity_bytes: 1 << 33,
            physical_bytes: 4096,
            rpm: 7200,
            outer_track_bytes: 1 << 20,
            inner_track_bytes: 1 << 19,
            zones: 4,
            heads: 3,
            skew_ns: 1_500_000,
            settle_ns: 1_200_000,
            full_stroke_ns: 16_000_000,
            write_settle_ns: 300_000,
            ..HardDiskPlan::default()
        };
        let (mut arm, mut random) = (DiskArm::new(&plan), testkit::random(1));
        for step in 0..10_000_u64 {
            let first = random.below(1 << if step % 2 == 0 { 21 } else { 10 });
            let run = SectorRun { first, sectors: 1, has_head: false, has_tail: false };
            let work = if step % 3 == 0 { HeadWork::Reads } else { HeadWork::Writes };
            let (spot, at_ns) = (arm.first_spot(run, work), random.below(1 << 40));
            let (seek_ns, wait_ns) = arm.reach_ns(spot, at_ns);
            let (turned, far_ns) = (arm.turned(at_ns), seek_ns + wait_ns);
            assert_eq!(arm.distance_ns(spot, turned, far_ns), Some(far_ns), "step {step}");
            let nearer = arm.distance_ns(spot, turned, far_ns.saturating_sub(1));
            assert!(nearer.is_none_or(|ns| ns == far_ns), "step {step}");
            arm.pass(work, first, 1, at_ns);
        }
    }
}
