//! A hard disk: a platter that turns, an arm that moves, a cache that answers first.
//!
//! | file | what it is |
//! |---|---|
//! | `plan` | what a disk is, and what it cannot be |
//! | `platter` | where sectors are |
//! | `seeks` | how long the arm takes from track to track |
//! | `scheduling` | what the arm does next |
//! | `arm` | how long it takes to read and write them, parts of sectors included |
//! | `cache` | what was acknowledged and is not on the medium |
//! | `read_ahead` | what was read behind a read |
//!
//! Why a misaligned write costs turns: a part of a physical sector cannot be written, so the sector
//! is read, and is under the head again a turn later. What that makes of a whole write depends on
//! the firmware: [`Rmw`]. Commands on the wire come one behind the other; a flush is alone on it,
//! as Linux sends it (libata: `FLUSH CACHE EXT` is not a queued command).

mod arm;
pub(crate) mod cache;
pub(crate) mod plan;
mod platter;
mod read_ahead;
mod scheduling;
mod seeks;

use std::collections::VecDeque;

use arm::{DiskArm, SectorRun};
use cache::{Cache, CachedExtent};
pub use plan::{Firmware, HardDiskPlan, Rmw, Scheduler};
use platter::HeadWork;
use read_ahead::ReadAhead;
use scheduling::{Choice, Dirty, NOTHING, Nearest, Next, WaitingCommand};
use units::ByteRange;
use units::random::Random;

use crate::clock::{earliest, goes_on};
use crate::model::refuses;
use crate::plan_bounds::PlanFault;
use crate::power::{Data, HostPromises, MediumLog, Sectors};
use crate::wire::Wire;
use crate::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};

/// A hard disk in simulated time.
#[derive(Clone, Debug)]
pub struct HardDisk {
    plan: HardDiskPlan,
    arm: DiskArm,
    cache: Dirty,
    ahead: ReadAhead,
    now_ns: u64,
    wire: Wire,
    /// When the host was here last.
    asked_ns: u64,
    /// Commands that wait for the medium, in the order in which they came.
    waiting: VecDeque<WaitingCommand>,
    /// Job of the arm, and when it ends.
    job: Option<(u64, ArmJob)>,
    /// When the arm ended its last job.
    free_ns: u64,
    flushing: Option<u64>,
    /// Behind the last byte that the arm was at.
    position: u64,
    tally: DriveTally,
    /// Hundredths of a command, and of a piece, whose turn it is in the order in which they came.
    in_order: (u8, u8),
    random: Random,
    /// Log of what is put on the platter, if somebody asked for it.
    log: Option<Box<MediumLog>>,
    /// When something happens next, as of the last event.
    next_ns: Option<u64>,
}

/// Job of the arm.
#[derive(Clone, Copy, Debug)]
enum ArmJob {
    /// A command, and for how long its bytes pass under the head.
    Command(DriveCommand, u64),
    Destage(CachedExtent),
}

impl HardDisk {
    /// A disk that did nothing yet, at time 0.
    ///
    /// # Errors
    /// When such a disk cannot be.
    pub fn new(plan: HardDiskPlan) -> Result<HardDisk, PlanFault> {
        let plan = plan.checked()?;
        Ok(HardDisk {
            arm: DiskArm::new(&plan),
            cache: Cache::default(),
            ahead: ReadAhead::new(plan.read_ahead_bytes / plan.physical_bytes),
            now_ns: 0,
            wire: Wire::new(plan.command_ns, plan.link_bytes_per_second),
            asked_ns: 0,
            waiting: VecDeque::new(),
            job: None,
            free_ns: 0,
            flushing: None,
            position: 0,
            tally: DriveTally::default(),
            in_order: (0, 0),
            random: Random::new(0),
            log: None,
            next_ns: None,
            plan,
        })
    }

    /// Returns whether the medium has all that was acknowledged of `range`: none of it is in the
    /// cache alone, nor on its way from there.
    #[must_use]
    pub fn is_on_medium(&self, range: ByteRange) -> bool {
        let (start, end) = (range.start_bytes(), range.end_bytes());
        let is_on_its_way = match self.job {
            Some((_, ArmJob::Destage(extent))) => extent.start < end && start < extent.end,
            _ => false,
        };
        !is_on_its_way && !self.cache.touches(start, end)
    }

    /// Returns what it reads and writes as one, which it reports.
    fn sectors(&self) -> Sectors {
        let HardDiskPlan { logical_bytes, physical_bytes, origin_bytes, .. } = self.plan;
        Sectors { logical_bytes, physical_bytes, origin_bytes }
    }

    /// The bytes that the cache holds, with those on their way to the medium.
    fn dirty_bytes(&self) -> u64 {
        let flying = match self.job {
            Some((_, ArmJob::Destage(extent))) => extent.bytes(),
            _ => 0,
        };
        self.cache.bytes() + flying
    }

    /// Returns whether a write goes to the cache.
    fn is_cached(&self, command: &DriveCommand) -> bool {
        let bytes = command.length_bytes;
        matches!(command.action, CommandKind::Write { fua: false })
            && bytes <= self.plan.cache_bytes
    }

    /// Returns whether the first command on the wire is let in.
    fn lets_in(&self, command: &DriveCommand) -> bool {
        if self.flushing.is_some() {
            return false;
        }
        match command.action {
            CommandKind::Flush => {
                let is_busy = matches!(self.job, Some((_, ArmJob::Command(..))));
                self.waiting.is_empty() && !is_busy
            }
            _ if self.is_cached(command) => {
                self.dirty_bytes() + command.length_bytes <= self.plan.cache_bytes
                    && self.has_piece(command)
            }
            _ => true,
        }
    }

    /// Returns whether the cache has a piece for a write: one of its own, or one that it touches.
    fn has_piece(&self, command: &DriveCommand) -> bool {
        let end = command.offset_bytes.saturating_add(command.length_bytes);
        self.cache.pieces() < self.plan.cache_pieces.into()
            || self.cache.touches(command.offset_bytes.saturating_sub(1), end.saturating_add(1))
    }

    /// When the cache is emptied because the host is silent.
    fn idle_ns(&self) -> u64 {
        self.asked_ns.saturating_add(self.plan.idle_ns)
    }

    /// Returns whether the cache is so full that it is emptied while the host is there.
    fn is_pressed(&self) -> bool {
        self.cache.bytes() > self.plan.cache_bytes / 2
            || self.cache.pieces() > u64::from(self.plan.cache_pieces) / 2
    }

    /// Takes a command from the wire.
    fn enter(&mut self, command: DriveCommand, done: &mut Vec<DriveCompletion>) {
        let (start, end) = (command.offset_bytes, command.offset_bytes + command.length_bytes);
        self.log_arrival(&command);
        match command.action {
            CommandKind::Flush => self.flushing = Some(command.id),
            CommandKind::Write { .. } if self.is_cached(&command) => {
                self.cache.insert(start, end);
                self.end(&command, done);
            }
            CommandKind::Write { .. } => {
                self.cache.forget(start, end);
                self.wait(command);
            }
            CommandKind::Discard => {
                self.cache.forget(start, end);
                self.end(&command, done);
            }
            CommandKind::Read if self.cache.covers(start, end) => {
                self.tally.cache_hits += 1;
                self.leave(&command, 0);
            }
            CommandKind::Read => self.wait(command),
        }
    }

    /// Adds a command to those that wait for the medium.
    fn wait(&mut self, command: DriveCommand) {
        let run = self.run_of(&command);
        let is_read = command.action == CommandKind::Read;
        let work = if is_read { HeadWork::Reads } else { HeadWork::Writes };
        let (spot, since_ns) = (self.arm.first_spot(run, work), self.now_ns);
        self.waiting.push_back(WaitingCommand { command, run, spot, since_ns });
    }

    /// Writes down that a command has come in.
    fn log_arrival(&mut self, command: &DriveCommand) {
        let (is_cached, now_ns) = (self.is_cached(command), self.now_ns);
        let Some(log) = &mut self.log else { return };
        match (command.action, command.range()) {
            (CommandKind::Write { .. }, _) => log.arrived(command.id, is_cached, now_ns),
            (CommandKind::Discard, Some(range)) => log.dropped(range, now_ns),
            _ => {}
        }
    }

    /// Writes down that the arm puts `start..end` on the platter, from now until `end_ns`.
    fn log_put(&mut self, data: Data, (start, end): (u64, u64), end_ns: u64) {
        let (Some(log), Some(spans)) = (&mut self.log, &mut self.arm.spans) else { return };
        let range = ByteRange::new(start, end - start).expect("bytes of the disk");
        let is_buffered = self.plan.rmw == Rmw::Buffered;
        log.put(data, range, (self.now_ns, end_ns), spans, is_buffered);
        spans.clear();
    }

    /// Sends what was read over the wire, the first bytes of it while the last still pass under the
    /// head: for the last `pass_ns`.
    fn leave(&mut self, command: &DriveCommand, pass_ns: u64) {
        let wire_ns = self.wire.bytes_ns(command.length_bytes);
        let from_ns = self.now_ns.saturating_sub(pass_ns.min(wire_ns));
        self.tally.count(command);
        self.wire.answer(command, Ok(()), from_ns);
    }

    /// Tells that `command` has ended now.
    fn end(&mut self, command: &DriveCommand, done: &mut Vec<DriveCompletion>) {
        if let Some(log) = &mut self.log {
            log.ended(command.id);
        }
        self.tally.count(command);
        done.push(DriveCompletion { id: command.id, at_ns: self.now_ns, outcome: Ok(()) });
    }

    fn run(&self, start: u64, end: u64) -> SectorRun {
        SectorRun::of(&self.plan, start, end)
    }

    fn run_of(&self, command: &DriveCommand) -> SectorRun {
        self.run(command.offset_bytes, command.offset_bytes + command.length_bytes)
    }

    /// Returns what it looks at when it chooses what the arm does next.
    fn choice(&self) -> Choice<'_> {
        let HardDisk { plan, arm, ahead, now_ns, position, .. } = self;
        Choice { plan, arm, ahead, now_ns: *now_ns, position: *position }
    }

    /// Returns whether the cache is emptied now: for a flush, since it is full, or since the host
    /// is silent.
    fn is_emptied(&self) -> bool {
        self.flushing.is_some()
            || self.is_pressed()
            || (self.waiting.is_empty() && self.now_ns >= self.idle_ns())
    }

    /// Gives the arm something to do, if there is anything.
    fn begin(&mut self) {
        let is_emptied = self.is_emptied();
        let command = self.next_command();
        let (_, next) = if is_emptied { self.next_extent(command) } else { command };
        match next {
            Next::Command(place) => {
                let waiting = self.waiting.remove(place).expect("it is there");
                let command = waiting.command;
                let passed_ns = self.arm.tally.transfer_ns;
                let end_ns = self.command_end_ns(&waiting);
                let pass_ns = self.arm.tally.transfer_ns - passed_ns;
                if matches!(command.action, CommandKind::Write { .. }) {
                    let start = command.offset_bytes;
                    let bytes = (start, start + command.length_bytes);
                    self.log_put(Data::Command(command.id), bytes, end_ns);
                }
                self.job = Some((end_ns, ArmJob::Command(command, pass_ns)));
            }
            Next::Extent(start) => {
                let extent = self.cache.take(start, self.run_bytes(start));
                let run = self.run(extent.start, extent.end);
                self.ahead.stop();
                // What was planned while the arm was busy starts at once.
                let is_idle = self.now_ns > self.free_ns;
                let setup_ns = if is_idle { self.plan.firmware.setup_ns } else { 0 };
                let end_ns = self.arm.write(run, self.now_ns + setup_ns);
                let end_ns = self.retried(end_ns);
                self.position = extent.end;
                self.log_put(Data::Cached, (extent.start, extent.end), end_ns);
                self.job = Some((end_ns, ArmJob::Destage(extent)));
            }
            Next::Nothing => {}
        }
    }

    /// Returns how much from `start` is written to the medium at once. Where the last sector is
    /// kept for what follows, it ends with a whole one.
    fn run_bytes(&self, start: u64) -> u64 {
        let plan = &self.plan;
        let end = start + plan.run_bytes;
        let behind = (end + plan.physical_bytes - plan.origin_bytes) % plan.physical_bytes;
        plan.run_bytes - if plan.holds_tail { behind } else { 0 }
    }

    /// Returns the next waiting command: the nearest, or now and then that which came first.
    fn next_command(&mut self) -> Nearest {
        if self.waiting.len() > 1 {
            self.in_order.0 += self.plan.firmware.in_order_percent;
            if self.in_order.0 >= 100 {
                self.in_order.0 -= 100;
                return (0, Next::Command(0));
            }
        }
        self.choice().command(&self.waiting)
    }

    /// Returns the next piece of the cache, or `best` where that is as near: as
    /// [`HardDisk::next_command`].
    fn next_extent(&mut self, best: Nearest) -> Nearest {
        if self.cache.pieces() > 1 {
            self.in_order.1 += self.plan.firmware.pieces_in_order_percent;
            if self.in_order.1 >= 100 {
                self.in_order.1 -= 100;
                let anywhere = self.random.below(self.plan.capacity_bytes);
                let first = self.cache.near(anywhere, 1).next();
                let first = first.map_or(NOTHING, |(extent, _)| (0, Next::Extent(extent.start)));
                return best.min(first);
            }
        }
        self.choice().extent(&self.cache, best)
    }

    /// Returns how much longer a command takes that needs further attempts.
    fn retried(&mut self, end_ns: u64) -> u64 {
        let Firmware { retries_per_million, retry_turns, .. } = self.plan.firmware;
        if retries_per_million == 0 || self.random.below(1_000_000) >= retries_per_million.into() {
            return end_ns;
        }
        self.arm.retry(retry_turns, end_ns)
    }

    /// When the arm has done the command that it begins now.
    fn command_end_ns(&mut self, waiting: &WaitingCommand) -> u64 {
        let WaitingCommand { command, run, since_ns, .. } = *waiting;
        self.position = command.offset_bytes + command.length_bytes;
        let planned_ns = self.now_ns.max(since_ns.saturating_add(self.plan.firmware.setup_ns));
        if command.action != CommandKind::Read {
            self.ahead.stop();
            let end_ns = self.arm.write(run, planned_ns);
            return self.retried(end_ns);
        }
        let (first, since_ns) = match self.ahead.rest(run) {
            // The head reads on by itself; what passed is there.
            Some((first, since_ns)) => (first, since_ns),
            None => (run.first, planned_ns),
        };
        let last = run.first + run.sectors;
        if first >= last {
            self.tally.cache_hits += 1;
            return self.now_ns;
        }
        let rest = SectorRun { first, sectors: last - first, ..run };
        let end_ns = self.arm.read(rest, since_ns);
        let end_ns = self.retried(end_ns);
        self.ahead.read(run, end_ns);
        end_ns.max(self.now_ns)
    }

    /// When something happens next by itself.
    fn upcoming_ns(&self) -> Option<u64> {
        let job = self.job.map(|(end_ns, _)| end_ns);
        let incoming = self.wire.first().filter(|(_, command)| self.lets_in(command));
        let incoming = incoming.map(|(ready_ns, _)| ready_ns);
        let idle = (self.job.is_none() && !self.cache.is_empty()).then(|| self.idle_ns());
        earliest([self.wire.answer_ns(), job, incoming, idle])
    }

    /// Ends what the arm was at.
    fn finish(&mut self, done: &mut Vec<DriveCompletion>) {
        let Some((end_ns, job)) = self.job.take() else { return };
        self.free_ns = end_ns;
        match job {
            ArmJob::Command(command, pass_ns) if command.action == CommandKind::Read => {
                self.leave(&command, pass_ns);
            }
            ArmJob::Command(command, _) => self.end(&command, done),
            ArmJob::Destage(_) => {}
        }
    }

    /// Does all that is due now.
    fn settle(&mut self, done: &mut Vec<DriveCompletion>) {
        while self.step(done) {}
        self.next_ns = self.upcoming_ns();
    }

    /// Does what is due now; whether anything was.
    fn step(&mut self, done: &mut Vec<DriveCompletion>) -> bool {
        if let Some(answer) = self.wire.answered(self.now_ns) {
            done.push(answer);
            return true;
        }
        if self.job.is_some_and(|(end_ns, _)| end_ns <= self.now_ns) {
            self.finish(done);
            return true;
        }
        if let Some((ready_ns, command)) = self.wire.first()
            && ready_ns <= self.now_ns
            && self.lets_in(command)
        {
            let command = *command;
            self.wire.take();
            self.enter(command, done);
            return true;
        }
        if self.job.is_some() {
            return false;
        }
        if let Some(id) = self.flushing
            && self.cache.is_empty()
        {
            self.flushing = None;
            let flush =
                DriveCommand { id, action: CommandKind::Flush, offset_bytes: 0, length_bytes: 0 };
            self.end(&flush, done);
            return true;
        }
        self.begin();
        self.job.is_some()
    }
}

impl Model for HardDisk {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advance(at_ns, done);
        self.asked_ns = at_ns;
        if refuses(self, &command, at_ns, done) {
            self.next_ns = self.upcoming_ns();
            return;
        }
        if let (CommandKind::Write { .. }, Some(log)) = (command.action, &mut self.log) {
            log.sent(command.id);
        }
        self.wire.send(command, at_ns);
        self.next_ns = self.upcoming_ns();
        // All that was due before is done, and mostly nothing else is due now.
        if self.next_ns.is_some_and(|next_ns| next_ns <= at_ns) {
            self.settle(done);
        }
    }

    fn next_ns(&self) -> Option<u64> {
        self.next_ns.map(|next_ns| next_ns.max(self.now_ns))
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        while goes_on(self.next_ns(), to_ns, &mut self.now_ns) {
            self.settle(done);
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.plan.capacity_bytes
    }

    fn logical_bytes(&self) -> u64 {
        self.plan.logical_bytes
    }

    fn tally(&self) -> DriveTally {
        self.tally.plus(self.arm.tally)
    }

    fn waiting_bytes(&self) -> u64 {
        self.cache.bytes()
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        let plan = &self.plan;
        let is_new =
            self.now_ns == 0 && self.wire.is_empty() && self.tally == DriveTally::default();
        if is_new {
            let log = MediumLog::new(self.sectors(), plan.capacity_bytes, entries_max);
            (self.log, self.arm.spans) = (Some(Box::new(log)), Some(Vec::new()));
        }
        is_new
    }

    fn medium_log(&self) -> Option<&MediumLog> {
        self.log.as_deref()
    }

    fn told(&self) -> HostPromises {
        HostPromises { sectors: self.sectors(), has_volatile_cache: self.plan.cache_bytes > 0 }
    }
}
