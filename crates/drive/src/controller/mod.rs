//! A controller with a write-back cache that survives a power cut: battery-backed, or flash-backed.
//!
//! | file | what it is |
//! |---|---|
//! | `plan` | what a controller is, and what it cannot be |
//! | `destage` | what goes from the cache to the model, and what goes next |
//! | `ledger` | which write is in the cache, for power cuts |
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

mod destage;
mod ledger;
mod plan;

use std::collections::VecDeque;

use destage::Destage;
use ledger::ArrivalLedger;
pub use plan::ControllerPlan;

use crate::clock::goes_on;
use crate::hard_disk::cache::{Cache, CachedExtent};
use crate::model::refuses;
use crate::plan_bounds::PlanFault;
use crate::power::{Aftermath, Cut, CutFault, HostLog, HostPromises};
use crate::slab::Slab;
use crate::wire::Wire;
use crate::{CommandFault, CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};

/// A controller over a model, in simulated time.
#[derive(Clone, Debug)]
pub struct Controller<M> {
    plan: ControllerPlan,
    model: M,
    now_ns: u64,
    wire: Wire,
    /// When the host was here last.
    asked_ns: u64,
    /// Writes that wait for room.
    waiting: VecDeque<DriveCommand>,
    /// Extents that the model has not yet.
    dirty: Cache,
    destage: Destage,
    jobs: Slab<ControllerJob>,
    heard: Vec<DriveCompletion>,
    tally: DriveTally,
    /// Ledger of arrivals and commands, if somebody asked for it.
    ledger: Option<Box<ArrivalLedger>>,
}

/// Work of the model.
#[derive(Clone, Copy, Debug)]
enum ControllerJob {
    /// A command that goes by the cache.
    Command(DriveCommand),
    /// A part of the cache.
    Destage(CachedExtent),
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
            destage: Destage::new(&plan, stripe_bytes),
            model,
            now_ns: 0,
            wire: Wire::new(plan.command_ns, plan.link_bytes_per_second),
            asked_ns: 0,
            waiting: VecDeque::new(),
            dirty: Cache::default(),
            jobs: Slab::new(),
            heard: Vec::new(),
            tally: DriveTally::default(),
            ledger: None,
            plan,
        })
    }

    /// The model below.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The bytes that the cache keeps.
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        self.dirty.bytes() + self.destage.bytes()
    }

    /// Returns whether the cache is emptied now.
    fn is_emptied(&self) -> bool {
        // What is on its way makes room by itself.
        let is_stuck = !self.waiting.is_empty() && self.destage.is_empty();
        let is_pressed = self.dirty.bytes() > self.plan.cache_bytes / 2;
        is_pressed || is_stuck || self.now_ns >= self.idle_ns()
    }

    /// When the cache is emptied because the host is silent.
    fn idle_ns(&self) -> u64 {
        self.asked_ns.saturating_add(self.plan.idle_ns)
    }

    /// Takes a command from the wire.
    fn enter(&mut self, command: DriveCommand, done: &mut Vec<DriveCompletion>) {
        let (start, end) = (command.offset_bytes, command.offset_bytes + command.length_bytes);
        match command.action {
            CommandKind::Write { .. } => self.waiting.push_back(command),
            CommandKind::Flush => self.end(&command, Ok(()), done),
            CommandKind::Discard => {
                self.dirty.forget(start, end);
                if let (Some(ledger), Some(range)) = (&mut self.ledger, command.range()) {
                    ledger.dropped(range, self.now_ns);
                }
                self.hand_down(command);
            }
            CommandKind::Read if self.has(start, end) => {
                self.tally.cache_hits += 1;
                self.leave(&command, Ok(()));
            }
            CommandKind::Read => self.hand_down(command),
        }
    }

    /// Returns whether all of `start..end` is in the cache, or on its way from there.
    fn has(&self, start: u64, end: u64) -> bool {
        self.dirty.covers(start, end) || self.destage.has(start, end)
    }

    /// Takes in writes for which there is room. A write larger than the cache goes by it.
    fn let_in(&mut self, done: &mut Vec<DriveCompletion>) {
        while let Some(&command) = self.waiting.front() {
            let (start, bytes) = (command.offset_bytes, command.length_bytes);
            let is_large = bytes > self.plan.cache_bytes;
            if !is_large && self.kept_bytes() + bytes > self.plan.cache_bytes {
                return;
            }
            if is_large && self.destage.touches(start, start + bytes) {
                return;
            }
            self.waiting.pop_front();
            if is_large {
                self.dirty.forget(start, start + bytes);
                if let (Some(ledger), Some(range)) = (&mut self.ledger, command.range()) {
                    ledger.goes_by(command.id, range, self.now_ns);
                }
                self.hand_down(DriveCommand {
                    action: CommandKind::Write { fua: true },
                    ..command
                });
            } else {
                self.dirty.insert(start, start + bytes);
                if let Some(ledger) = &mut self.ledger {
                    ledger.kept(command.id, self.now_ns);
                }
                self.end(&command, Ok(()), done);
            }
        }
    }

    /// Gives a command to the model.
    fn hand_down(&mut self, command: DriveCommand) {
        let id = self.jobs.insert(ControllerJob::Command(command));
        self.give(DriveCommand { id: id as u64, ..command });
    }

    fn give(&mut self, command: DriveCommand) {
        match command.action {
            CommandKind::Read => self.tally.member_reads += 1,
            CommandKind::Write { .. } => self.tally.member_writes += 1,
            CommandKind::Flush | CommandKind::Discard => {}
        }
        self.model.submit(command, self.now_ns, &mut self.heard);
    }

    /// Gives parts of the cache to the model, as many as it takes.
    fn empty(&mut self) {
        while !self.destage.is_full() && self.is_emptied() {
            let Some(run) = self.destage.next(&self.dirty) else { return };
            let extent = self.dirty.cut(run);
            if let Some(ledger) = &mut self.ledger {
                ledger.destages(extent, self.now_ns);
            }
            self.destage.begin(extent);
            let id = self.jobs.insert(ControllerJob::Destage(extent));
            let (offset_bytes, length_bytes) = (extent.start, extent.bytes());
            let action = CommandKind::Write { fua: true };
            self.give(DriveCommand { id: id as u64, action, offset_bytes, length_bytes });
        }
    }

    /// Sends an answer over the wire, behind the bytes that were read.
    fn leave(&mut self, command: &DriveCommand, outcome: Result<(), CommandFault>) {
        self.tally.count(command);
        self.wire.answer(command, outcome, self.now_ns);
    }

    /// Tells that `command` has ended now.
    fn end(
        &mut self,
        command: &DriveCommand,
        outcome: Result<(), CommandFault>,
        done: &mut Vec<DriveCompletion>,
    ) {
        self.tally.count(command);
        done.push(DriveCompletion { id: command.id, at_ns: self.now_ns, outcome });
    }

    /// Takes what the model has done; whether it has done anything.
    fn hear(&mut self, done: &mut Vec<DriveCompletion>) -> bool {
        let mut heard = std::mem::take(&mut self.heard);
        let is_any = !heard.is_empty();
        for DriveCompletion { id, outcome, .. } in heard.drain(..) {
            let place = usize::try_from(id).expect("a job's place");
            match self.jobs.remove(place) {
                ControllerJob::Command(command) if command.action == CommandKind::Read => {
                    self.leave(&command, outcome);
                }
                ControllerJob::Command(command) => self.end(&command, outcome, done),
                ControllerJob::Destage(extent) => {
                    self.destage.end(extent);
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
    fn settle(&mut self, done: &mut Vec<DriveCompletion>) {
        loop {
            done.extend(std::iter::from_fn(|| self.wire.answered(self.now_ns)));
            while let Some((ready_ns, command)) = self.wire.first()
                && ready_ns <= self.now_ns
            {
                let command = *command;
                self.wire.take();
                self.enter(command, done);
            }
            self.let_in(done);
            self.empty();
            if !self.hear(done) {
                return;
            }
        }
    }
}

impl<M: Model> Model for Controller<M> {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advance(at_ns, done);
        self.asked_ns = at_ns;
        if refuses(self, &command, at_ns, done) {
            return;
        }
        if let (CommandKind::Write { .. }, Some(ledger)) = (command.action, &mut self.ledger) {
            ledger.sent(command.id);
        }
        self.wire.send(command, at_ns);
        self.settle(done);
    }

    fn next_ns(&self) -> Option<u64> {
        let incoming = self.wire.first().map(|(ready_ns, _)| ready_ns);
        let is_kept = self.destage.is_empty() && !self.dirty.is_empty();
        let idle = is_kept.then(|| self.idle_ns());
        let next = [self.wire.answer_ns(), incoming, idle, self.model.next_ns()]
            .into_iter()
            .flatten()
            .min();
        next.map(|next_ns| next_ns.max(self.now_ns))
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        while goes_on(self.next_ns(), to_ns, &mut self.now_ns) {
            self.model.advance(self.now_ns, &mut self.heard);
            self.settle(done);
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.model.capacity_bytes()
    }

    fn logical_bytes(&self) -> u64 {
        self.model.logical_bytes()
    }

    fn tally(&self) -> DriveTally {
        self.model.tally().over(self.tally)
    }

    fn waiting_bytes(&self) -> u64 {
        self.kept_bytes() + self.model.waiting_bytes()
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        let is_new =
            self.now_ns == 0 && self.wire.is_empty() && self.tally == DriveTally::default();
        let keeps = is_new && self.model.keep_log(entries_max);
        self.ledger = keeps.then(|| Box::new(ArrivalLedger::new(self.model.told(), entries_max)));
        keeps
    }

    fn told(&self) -> HostPromises {
        HostPromises { has_volatile_cache: false, ..self.model.told() }
    }

    fn after(&self, host: &HostLog, cut: &Cut) -> Result<Aftermath, CutFault> {
        let ledger = self.ledger.as_ref().ok_or(CutFault::NoLog)?;
        let below = self.model.after(ledger.below(), cut)?;
        ledger.over(host, &below, cut)
    }
}
