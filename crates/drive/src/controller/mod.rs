//! A controller with a write-back cache that survives a power cut: battery-backed, or flash-backed.
//!
//! A write has ended when the cache has it, and so has a flush, forced writes included: nothing
//! that the cache has is lost. The cache is emptied in the background in the order of addresses,
//! what is adjacent as one, and in full stripes where the model below says what its stripe is
//! ([`Model::stripe_bytes`]). What it gives to that model is forced to the medium, since its own
//! copy is given up then. When the cache is full, a write waits until there is room: the controller
//! is then as fast as what is below it.
//!
//! The cache is emptied while it is more than half full, and when the host has been silent. That
//! leaves time for writes to join, and half of the cache for bursts.

mod ledger;

use std::collections::VecDeque;

use ledger::Ledger;

use crate::hard_disk::PlanFault;
use crate::hard_disk::cache::{Cache, Extent};
use crate::hard_disk::plan::TIME_NS_MAX;
use crate::power::{Aftermath, Cut, CutFault, HostLog, Told};
use crate::server::{Server, transfer_ns};
use crate::slab::Slab;
use crate::{Action, Command, Done, Fault, Model, Tally};

/// What a controller is: [`ControllerPlan::checked`] says what each value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerPlan {
    /// The cache.
    pub cache_bytes: u64,
    /// What it takes for each command.
    pub command_ns: u64,
    /// The speed of the wire to the host.
    pub link_bytes_per_second: u64,
    /// How much is written to the model below as one, at most, and at least a stripe.
    pub run_bytes: u64,
    /// How many writes the model below has at once.
    pub depth: u16,
    /// How long the host must leave it alone before it empties a cache that is not half full.
    pub idle_ns: u64,
}

impl ControllerPlan {
    /// The plan, where such a controller can be.
    ///
    /// # Errors
    /// When a value is out of its bounds; the first such is named.
    pub fn checked(self) -> Result<ControllerPlan, PlanFault> {
        let is_time = |ns: u64| ns <= TIME_NS_MAX;
        let time = "at most 10 s";
        let cache = (1 << 16..=1 << 40).contains(&self.cache_bytes);
        let link = (1_000..=1 << 40).contains(&self.link_bytes_per_second);
        let run = (4096..=self.cache_bytes).contains(&self.run_bytes);
        let checks: [(bool, &'static str, u64, &'static str); 6] = [
            (cache, "cache", self.cache_bytes, "from 64 KiB to 1 TiB"),
            (is_time(self.command_ns), "command", self.command_ns, time),
            (link, "link", self.link_bytes_per_second, "from 1000 to 2^40"),
            (run, "run", self.run_bytes, "from 4096 to cache"),
            ((1..=1024).contains(&self.depth), "depth", self.depth.into(), "from 1 to 1024"),
            (is_time(self.idle_ns), "idle", self.idle_ns, time),
        ];
        match checks.into_iter().find(|(is_right, ..)| !is_right) {
            Some((_, value, found, wanted)) => Err(PlanFault { value, found, wanted }),
            None => Ok(self),
        }
    }
}

/// A controller over a model, in simulated time.
#[derive(Clone, Debug)]
pub struct Controller<M> {
    plan: ControllerPlan,
    model: M,
    /// The stripe of the model; 0 for none.
    stripe_bytes: u64,
    now_ns: u64,
    /// The wire.
    link: Server,
    /// When the host was here last.
    asked_ns: u64,
    /// What comes over the wire, with the time at which it is there.
    incoming: VecDeque<(u64, Command)>,
    /// Writes that wait for room.
    waiting: VecDeque<Command>,
    /// What goes back over the wire.
    leaving: VecDeque<Done>,
    /// What the model has not.
    dirty: Cache,
    /// What is on its way to the model, in no order.
    destaging: Vec<Extent>,
    destaging_bytes: u64,
    /// Behind the last byte that was given to the model.
    position: u64,
    jobs: Slab<Job>,
    heard: Vec<Done>,
    tally: Tally,
    /// What came and what was given, where somebody asked.
    ledger: Option<Box<Ledger>>,
}

/// What the model is at.
#[derive(Clone, Copy, Debug)]
enum Job {
    /// A command that goes by the cache.
    Command(Command),
    /// A part of the cache.
    Destage(Extent),
}

impl<M: Model> Controller<M> {
    /// A controller with an empty cache, at time 0.
    ///
    /// # Errors
    /// When such a controller cannot be, or its cache does not hold two stripes of the model.
    pub fn new(plan: ControllerPlan, model: M) -> Result<Controller<M>, PlanFault> {
        let plan = plan.checked()?;
        let stripe_bytes = model.stripe_bytes().unwrap_or(0);
        if stripe_bytes > plan.cache_bytes / 2 {
            let (value, found) = ("cache", plan.cache_bytes);
            return Err(PlanFault { value, found, wanted: "two full stripes at least" });
        }
        Ok(Controller {
            plan,
            model,
            stripe_bytes,
            now_ns: 0,
            link: Server::default(),
            asked_ns: 0,
            incoming: VecDeque::new(),
            waiting: VecDeque::new(),
            leaving: VecDeque::new(),
            dirty: Cache::default(),
            destaging: Vec::new(),
            destaging_bytes: 0,
            position: 0,
            jobs: Slab::new(),
            heard: Vec::new(),
            tally: Tally::default(),
            ledger: None,
        })
    }

    /// The model below.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The bytes that the cache keeps.
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        self.dirty.bytes() + self.destaging_bytes
    }

    /// For how long so many bytes are on the wire.
    fn on_link_ns(&self, bytes: u64) -> u64 {
        transfer_ns(bytes, self.plan.link_bytes_per_second)
    }

    /// Whether the cache is emptied now.
    fn is_emptied(&self) -> bool {
        // What is on its way makes room by itself.
        let is_stuck = !self.waiting.is_empty() && self.destaging.is_empty();
        let is_pressed = self.dirty.bytes() > self.plan.cache_bytes / 2;
        is_pressed || is_stuck || self.now_ns >= self.idle_ns()
    }

    /// When the cache is emptied because the host is silent.
    fn idle_ns(&self) -> u64 {
        self.asked_ns.saturating_add(self.plan.idle_ns)
    }

    /// Takes a command from the wire.
    fn enter(&mut self, command: Command, done: &mut Vec<Done>) {
        let (start, end) = (command.offset_bytes, command.offset_bytes + command.length_bytes);
        match command.action {
            Action::Write { .. } => self.waiting.push_back(command),
            Action::Flush => self.end(&command, Ok(()), done),
            Action::Discard => {
                self.dirty.forget(start, end);
                if let (Some(ledger), Some(range)) = (&mut self.ledger, command.range()) {
                    ledger.dropped(range, self.now_ns);
                }
                self.hand_down(command);
            }
            Action::Read if self.has(start, end) => {
                self.tally.cache_hits += 1;
                self.leave(&command, Ok(()));
            }
            Action::Read => self.hand_down(command),
        }
    }

    /// Whether all of `start..end` is in the cache, or on its way from there.
    fn has(&self, start: u64, end: u64) -> bool {
        let is_in = |extent: &Extent| extent.start <= start && extent.end >= end;
        self.dirty.covers(start, end) || self.destaging.iter().any(is_in)
    }

    /// Lets in writes for which there is room. What is larger than the cache goes by it.
    fn let_in(&mut self, done: &mut Vec<Done>) {
        while let Some(&command) = self.waiting.front() {
            let (start, bytes) = (command.offset_bytes, command.length_bytes);
            let is_large = bytes > self.plan.cache_bytes;
            if !is_large && self.kept_bytes() + bytes > self.plan.cache_bytes {
                return;
            }
            if is_large && self.is_destaging(start, start + bytes) {
                return;
            }
            self.waiting.pop_front();
            if is_large {
                self.dirty.forget(start, start + bytes);
                if let (Some(ledger), Some(range)) = (&mut self.ledger, command.range()) {
                    ledger.goes_by(command.id, range, self.now_ns);
                }
                self.hand_down(Command { action: Action::Write { fua: true }, ..command });
            } else {
                self.dirty.insert(start, start + bytes);
                if let Some(ledger) = &mut self.ledger {
                    ledger.kept(command.id, self.now_ns);
                }
                self.end(&command, Ok(()), done);
            }
        }
    }

    /// Whether a part of `start..end` is on its way to the model.
    fn is_destaging(&self, start: u64, end: u64) -> bool {
        self.destaging.iter().any(|extent| extent.start < end && start < extent.end)
    }

    /// Gives a command to the model.
    fn hand_down(&mut self, command: Command) {
        let id = self.jobs.insert(Job::Command(command));
        self.give(Command { id: id as u64, ..command });
    }

    fn give(&mut self, command: Command) {
        match command.action {
            Action::Read => self.tally.member_reads += 1,
            Action::Write { .. } => self.tally.member_writes += 1,
            Action::Flush | Action::Discard => {}
        }
        self.model.submit(command, self.now_ns, &mut self.heard);
    }

    /// Gives parts of the cache to the model, as many as it takes.
    fn destage(&mut self) {
        while self.destaging.len() < self.plan.depth.into() && self.is_emptied() {
            let Some(run) = self.next_run() else { return };
            let extent = self.dirty.cut(run);
            if let Some(ledger) = &mut self.ledger {
                ledger.destages(extent, self.now_ns);
            }
            self.position = extent.end;
            self.destaging.push(extent);
            self.destaging_bytes += extent.bytes();
            let id = self.jobs.insert(Job::Destage(extent));
            let (offset_bytes, length_bytes) = (extent.start, extent.bytes());
            let action = Action::Write { fua: true };
            self.give(Command { id: id as u64, action, offset_bytes, length_bytes });
        }
    }

    /// What of the cache is written next: from where the last run ended, full stripes before parts
    /// of them.
    fn next_run(&self) -> Option<Extent> {
        let count = usize::from(self.plan.depth) + 1;
        let near = || {
            let runs = self.dirty.near(self.position, count).map(|(extent, ())| self.run(extent));
            runs.filter(|run| !self.is_destaging(run.start, run.end))
        };
        near().find(|run| self.is_full(*run)).or_else(|| near().next())
    }

    fn is_full(&self, run: Extent) -> bool {
        self.stripe_bytes > 0
            && run.start.is_multiple_of(self.stripe_bytes)
            && run.bytes() >= self.stripe_bytes
    }

    /// What of an extent is written as one: full stripes if it has any, else what it has of one.
    fn run(&self, extent: Extent) -> Extent {
        let Extent { start, end } = extent;
        if self.stripe_bytes == 0 {
            return Extent { start, end: end.min(start + self.plan.run_bytes) };
        }
        let first = start.next_multiple_of(self.stripe_bytes);
        let last = end - end % self.stripe_bytes;
        if first < last {
            let stripes = (self.plan.run_bytes / self.stripe_bytes).max(1);
            return Extent { start: first, end: last.min(first + stripes * self.stripe_bytes) };
        }
        // A part of one stripe, or the end of one and the begin of the next.
        Extent { start, end: if first > start { end.min(first) } else { end } }
    }

    /// Sends an answer over the wire, behind the bytes that were read.
    fn leave(&mut self, command: &Command, outcome: Result<(), Fault>) {
        let at_ns = self.link.serve(self.now_ns, self.on_link_ns(command.length_bytes));
        self.tally.count(command);
        self.leaving.push_back(Done { id: command.id, at_ns, outcome });
    }

    /// Tells that `command` has ended now.
    fn end(&mut self, command: &Command, outcome: Result<(), Fault>, done: &mut Vec<Done>) {
        self.tally.count(command);
        done.push(Done { id: command.id, at_ns: self.now_ns, outcome });
    }

    /// Takes what the model has done; whether it has done anything.
    fn hear(&mut self, done: &mut Vec<Done>) -> bool {
        let mut heard = std::mem::take(&mut self.heard);
        let is_any = !heard.is_empty();
        for Done { id, outcome, .. } in heard.drain(..) {
            let place = usize::try_from(id).expect("a job's place");
            match self.jobs.remove(place) {
                Job::Command(command) if command.action == Action::Read => {
                    self.leave(&command, outcome);
                }
                Job::Command(command) => self.end(&command, outcome, done),
                Job::Destage(extent) => {
                    let place = self.destaging.iter().position(|&other| other == extent);
                    self.destaging.swap_remove(place.expect("it is on its way"));
                    self.destaging_bytes -= extent.bytes();
                    if let Some(ledger) = &mut self.ledger {
                        ledger.destaged(extent, self.now_ns);
                    }
                }
            }
        }
        self.heard = heard;
        is_any
    }

    /// Does all that can be done now.
    fn settle(&mut self, done: &mut Vec<Done>) {
        loop {
            while self.leaving.front().is_some_and(|leaving| leaving.at_ns <= self.now_ns) {
                done.extend(self.leaving.pop_front());
            }
            while let Some(&(ready_ns, command)) = self.incoming.front()
                && ready_ns <= self.now_ns
            {
                self.incoming.pop_front();
                self.enter(command, done);
            }
            self.let_in(done);
            self.destage();
            if !self.hear(done) {
                return;
            }
        }
    }
}

impl<M: Model> Model for Controller<M> {
    fn submit(&mut self, command: Command, at_ns: u64, done: &mut Vec<Done>) {
        self.advance(at_ns, done);
        self.asked_ns = at_ns;
        if let Err(fault) = command.checked(self.capacity_bytes(), self.logical_bytes()) {
            done.push(Done { id: command.id, at_ns, outcome: Err(fault) });
            return;
        }
        let bytes = match command.action {
            Action::Write { .. } => command.length_bytes,
            _ => 0,
        };
        if let (Action::Write { .. }, Some(ledger)) = (command.action, &mut self.ledger) {
            ledger.sent(command.id);
        }
        let ready_ns = self.link.serve(at_ns, self.plan.command_ns + self.on_link_ns(bytes));
        self.incoming.push_back((ready_ns, command));
        self.settle(done);
    }

    fn next_ns(&self) -> Option<u64> {
        let leaving = self.leaving.front().map(|leaving| leaving.at_ns);
        let incoming = self.incoming.front().map(|&(ready_ns, _)| ready_ns);
        let is_kept = self.destaging.is_empty() && !self.dirty.is_empty();
        let idle = is_kept.then(|| self.idle_ns());
        let next = [leaving, incoming, idle, self.model.next_ns()].into_iter().flatten().min();
        next.map(|next_ns| next_ns.max(self.now_ns))
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<Done>) {
        assert!(to_ns >= self.now_ns, "time does not run backward");
        while let Some(next_ns) = self.next_ns()
            && next_ns <= to_ns
        {
            self.now_ns = next_ns;
            self.model.advance(next_ns, &mut self.heard);
            self.settle(done);
        }
        self.now_ns = to_ns;
    }

    fn capacity_bytes(&self) -> u64 {
        self.model.capacity_bytes()
    }

    fn logical_bytes(&self) -> u64 {
        self.model.logical_bytes()
    }

    fn tally(&self) -> Tally {
        self.model.tally().over(self.tally)
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        let is_new = self.now_ns == 0 && self.incoming.is_empty() && self.tally == Tally::default();
        let keeps = is_new && self.model.keep_log(entries_max);
        self.ledger = keeps.then(|| Box::new(Ledger::new(self.model.told(), entries_max)));
        keeps
    }

    fn told(&self) -> Told {
        Told { has_volatile_cache: false, ..self.model.told() }
    }

    fn after(&self, host: &HostLog, cut: &Cut) -> Result<Aftermath, CutFault> {
        let ledger = self.ledger.as_ref().ok_or(CutFault::NoLog)?;
        let below = self.model.after(ledger.below(), cut)?;
        match cut.faults.is_dead {
            true => Ok(below),
            false => ledger.over(host, &below, cut),
        }
    }
}
