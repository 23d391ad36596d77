//! A host that does one operation behind the other, in some lanes side by side: a closed loop in
//! simulated time, or an open one where operations arrive at times of their own.

mod fio;
mod source;
mod trace;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub use fio::{FioFault, FioStream, streams};
pub use source::{
    AccessOrder, CommandPart, Ext4Sync, OperationSource, OperationStream, Paced, Region,
};
pub use trace::{TraceLayout, TraceReplay};

use crate::{CommandFault, CommandKind, DriveCommand, DriveCompletion, Model};

/// A program: where its operations come from, and how many it has in flight.
pub struct DriveJob<'a> {
    /// Source of its operations.
    pub source: &'a mut dyn OperationSource,
    /// Number of operations it has in flight at most.
    pub lanes: u16,
    /// True if a flush waits for what it has in flight, and what comes behind waits for the flush:
    /// as in a file system, whose syncs mean what was written before. Without it lanes do not know
    /// of each other, as threads that sync each for itself.
    pub has_barriers: bool,
}

/// Limits of a run; the first that is reached ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// So many operations.
    pub operations: u64,
    /// So much simulated time, in nanoseconds.
    pub time_ns: u64,
    /// Time of a host from the end of a command to the next, in nanoseconds.
    pub turnaround_ns: u64,
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedOperation {
    /// Number of the job.
    pub job: usize,
    /// True if it reads first.
    pub reads: bool,
    /// True if it is a flush alone, whether one was sent or the drive needs none.
    pub is_flush: bool,
    /// When it arrived: its first command was sent then, or as soon as there was a lane for it.
    pub from_ns: u64,
    /// When its last command ended.
    pub to_ns: u64,
    /// The first thing that went wrong.
    pub fault: Option<CommandFault>,
}

impl EndedOperation {
    /// Returns how long it took, in nanoseconds.
    #[must_use]
    pub fn took_ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }
}

/// One operation at a time.
#[derive(Debug, Default)]
struct Lane {
    job: usize,
    pieces: Vec<CommandPart>,
    next: usize,
    from_ns: u64,
    fault: Option<CommandFault>,
}

/// A job's lanes, as far as they wait for each other.
#[derive(Debug, Default)]
struct JobTurn {
    in_flight: usize,
    /// The lane whose flush or read the others wait for.
    awaited: Option<usize>,
    /// Nanoseconds that the job rests when nothing is in flight any more.
    rests_ns: Option<u64>,
    /// Until when it rests.
    until_ns: u64,
    /// The lanes that wait for it, or for what is in flight.
    parked: Vec<usize>,
}

/// Runs `jobs` on `model` until a limit is reached or nothing is left to do, and tells `seen` each
/// operation, in the order in which they end. Returns when the last one ended, in nanoseconds.
///
/// A model that tells of no write cache is sent no flush, as Linux does it.
/// Commands in flight at the end are left there.
pub fn run(
    model: &mut dyn Model,
    jobs: &mut [DriveJob<'_>],
    limits: RunLimits,
    seen: &mut dyn FnMut(EndedOperation),
) -> u64 {
    let mut host = AllLanes::new(jobs, limits.turnaround_ns, model.has_write_cache());
    let (mut done, mut left, mut ended_ns) = (Vec::<DriveCompletion>::new(), limits.operations, 0);
    while left > 0 {
        let due_ns = host.due_ns();
        let now_ns = match (due_ns, model.next_ns()) {
            (Some(due_ns), Some(model_ns)) => due_ns.min(model_ns),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => break,
        };
        if now_ns > limits.time_ns {
            break;
        }
        if due_ns == Some(now_ns) {
            match host.next(jobs, now_ns) {
                Some(DriveCommand { id, action: CommandKind::Flush, .. })
                    if !host.sends_flushes =>
                {
                    done.push(DriveCompletion { id, at_ns: now_ns, outcome: Ok(()) });
                }
                Some(command) => model.submit(command, now_ns, &mut done),
                None => {}
            }
        } else {
            model.advance(now_ns, &mut done);
        }
        for done in done.drain(..) {
            if let Some(whole) = host.ended(&done) {
                seen(whole);
                (left, ended_ns) = (left.saturating_sub(1), done.at_ns);
            }
        }
    }
    ended_ns
}

/// All lanes of all jobs.
struct AllLanes {
    lanes: Vec<Lane>,
    turns: Vec<JobTurn>,
    has_barriers: Vec<bool>,
    waits_for_reads: Vec<bool>,
    /// When each lane that has nothing in flight goes on.
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    turnaround_ns: u64,
    sends_flushes: bool,
}

impl AllLanes {
    fn new(jobs: &[DriveJob<'_>], turnaround_ns: u64, sends_flushes: bool) -> AllLanes {
        let mut lanes: Vec<Lane> = Vec::new();
        for (job, asked) in jobs.iter().enumerate() {
            lanes.extend((0..asked.lanes).map(|_| Lane { job, ..Lane::default() }));
        }
        AllLanes {
            turns: jobs.iter().map(|_| JobTurn::default()).collect(),
            has_barriers: jobs.iter().map(|job| job.has_barriers).collect(),
            waits_for_reads: jobs.iter().map(|job| job.source.waits_for_reads()).collect(),
            ready: (0..lanes.len()).map(|lane| Reverse((0, lane))).collect(),
            lanes,
            turnaround_ns,
            sends_flushes,
        }
    }

    /// When the next lane goes on.
    fn due_ns(&self) -> Option<u64> {
        self.ready.peek().map(|Reverse((at_ns, _))| *at_ns)
    }

    /// The command of the lane that goes on now; none where it waits, or has no more.
    fn next(&mut self, jobs: &mut [DriveJob<'_>], now_ns: u64) -> Option<DriveCommand> {
        let Reverse((_, lane)) = self.ready.pop()?;
        let one = &mut self.lanes[lane];
        let turn = &mut self.turns[one.job];
        if turn.awaited.is_some_and(|other| other != lane) {
            turn.parked.push(lane);
            return None;
        }
        if one.begins() {
            turn.rests_ns = turn.rests_ns.or_else(|| jobs[one.job].source.rests_ns());
            if let Some(rests_ns) = turn.rests_ns {
                turn.parked.push(lane);
                if turn.in_flight == 0 {
                    turn.rests_ns = None;
                    turn.until_ns = now_ns.saturating_add(rests_ns);
                    let parked = turn.parked.drain(..);
                    self.ready.extend(parked.map(|lane| Reverse((turn.until_ns, lane))));
                }
                return None;
            }
            if turn.until_ns > now_ns {
                self.ready.push(Reverse((turn.until_ns, lane)));
                return None;
            }
            let arrives_ns = jobs[one.job].source.arrives_ns().unwrap_or(now_ns);
            if arrives_ns > now_ns {
                self.ready.push(Reverse((arrives_ns, lane)));
                return None;
            }
            if !one.filled(jobs, arrives_ns) {
                return None;
            }
            if !self.sends_flushes {
                one.drop_flushes();
            }
        }
        if self.waits_for_reads[one.job] && one.sends_next(CommandKind::Read) {
            turn.awaited = Some(lane);
        } else if self.has_barriers[one.job] && one.sends_next(CommandKind::Flush) {
            turn.awaited = Some(lane);
            if turn.in_flight > 0 {
                // The last that ends wakes it.
                return None;
            }
        }
        turn.in_flight += 1;
        Some(one.command(lane))
    }

    /// Takes a completion; the operation, where it was its last.
    fn ended(&mut self, done: &DriveCompletion) -> Option<EndedOperation> {
        let lane = usize::try_from(done.id).expect("a lane's number");
        let one = &mut self.lanes[lane];
        let turn = &mut self.turns[one.job];
        let at_ns = done.at_ns + self.turnaround_ns;
        one.fault = one.fault.or(done.outcome.err());
        turn.in_flight -= 1;
        match turn.awaited {
            Some(awaited) if awaited == lane => {
                turn.awaited = None;
                let parked = turn.parked.drain(..);
                self.ready.extend(parked.map(|parked| Reverse((at_ns, parked))));
            }
            Some(awaited) if turn.in_flight == 0 => self.ready.push(Reverse((at_ns, awaited))),
            _ => {}
        }
        self.ready.push(Reverse((at_ns, lane)));
        one.whole(done.at_ns)
    }
}

impl Lane {
    /// Returns whether its operation is over.
    fn begins(&self) -> bool {
        self.next >= self.pieces.len()
    }

    /// Takes the next operation, which arrived at `now_ns`; whether there is one.
    fn filled(&mut self, jobs: &mut [DriveJob<'_>], now_ns: u64) -> bool {
        self.pieces.clear();
        (self.next, self.from_ns, self.fault) = (0, now_ns, None);
        jobs[self.job].source.next(&mut self.pieces) && !self.pieces.is_empty()
    }

    /// Leaves out the flushes of an operation that does something else too; one that is nothing
    /// else is over as soon as its turn comes.
    fn drop_flushes(&mut self) {
        if self.pieces.iter().any(|piece| piece.action != CommandKind::Flush) {
            self.pieces.retain(|piece| piece.action != CommandKind::Flush);
        }
    }

    /// Returns whether its next command is of this kind.
    fn sends_next(&self, action: CommandKind) -> bool {
        self.pieces.get(self.next).is_some_and(|piece| piece.action == action)
    }

    /// Its next command.
    fn command(&mut self, lane: usize) -> DriveCommand {
        let CommandPart { action, offset_bytes, length_bytes } = self.pieces[self.next];
        self.next += 1;
        let id = u64::try_from(lane).expect("few");
        DriveCommand { id, action, offset_bytes, length_bytes }
    }

    /// Its operation, where that was the last command of it.
    fn whole(&self, at_ns: u64) -> Option<EndedOperation> {
        let Lane { job, from_ns, fault, .. } = *self;
        let reads = self.pieces.first().is_some_and(|piece| piece.action == CommandKind::Read);
        let is_flush = self.pieces.iter().all(|piece| piece.action == CommandKind::Flush);
        let to_ns = at_ns;
        self.begins().then_some(EndedOperation { job, reads, is_flush, from_ns, to_ns, fault })
    }
}
