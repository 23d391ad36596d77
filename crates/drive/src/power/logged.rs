//! A model with its host's log.

use super::{Aftermath, Cut, CutFault, HostLog, HostPromises};
use crate::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};

/// A model, and what was sent to it and told by it.
#[derive(Clone, Debug)]
pub struct Logged<M> {
    model: M,
    log: HostLog,
    flying: Vec<(u64, Sent)>,
}

/// A command in flight, with its number.
#[derive(Clone, Copy, Debug)]
enum Sent {
    Write(usize),
    Flush(usize),
    Discard(usize),
}

impl<M: Model> Logged<M> {
    /// `model`, which did nothing yet, with both logs: at most `commands_max` commands of the host,
    /// and 8 times as many entries of what becomes of them on each medium.
    ///
    /// `None` when the model keeps no log of its medium, or did something already.
    pub fn new(model: M, told: HostPromises, commands_max: usize) -> Option<Logged<M>> {
        Logged::with_entries(model, told, commands_max, commands_max.saturating_mul(8))
    }

    /// The same with at most `entries_max` entries of what becomes of the commands. One of many
    /// mapping units on flash takes two for each of them.
    pub fn with_entries(
        mut model: M,
        told: HostPromises,
        commands_max: usize,
        entries_max: usize,
    ) -> Option<Logged<M>> {
        let keeps = model.keep_log(entries_max);
        let log = HostLog::new(told, commands_max);
        keeps.then(|| Logged { model, log, flying: Vec::new() })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Returns what was sent and told.
    #[must_use]
    pub fn log(&self) -> &HostLog {
        &self.log
    }

    /// Returns what the model holds when the power goes as `cut` says.
    ///
    /// # Errors
    /// When a log is full, or nothing can be torn as the cut says.
    pub fn cut(&self, cut: &Cut) -> Result<Aftermath, CutFault> {
        self.model.after(&self.log, cut)
    }

    /// Writes down what was sent. Commands that no drive takes are none: nothing comes of them.
    fn sent(&mut self, command: &DriveCommand, at_ns: u64) {
        let (capacity, logical) = (self.model.capacity_bytes(), self.model.logical_bytes());
        if command.checked(capacity, logical).is_err() {
            return;
        }
        let log = &mut self.log;
        let sent = match (command.action, command.range()) {
            (CommandKind::Write { fua }, Some(range)) => {
                log.write_sent(range, fua, at_ns).map(Sent::Write)
            }
            (CommandKind::Flush, _) => log.flush_sent(at_ns).map(Sent::Flush),
            (CommandKind::Discard, Some(range)) => {
                log.discard_sent(range, at_ns).map(Sent::Discard)
            }
            _ => None,
        };
        self.flying.extend(sent.map(|sent| (command.id, sent)));
    }

    /// Writes down what was told.
    fn told(&mut self, done: &[DriveCompletion]) {
        for done in done {
            let place = self.flying.iter().position(|(id, _)| *id == done.id);
            let Some((_, sent)) = place.map(|place| self.flying.swap_remove(place)) else {
                continue;
            };
            match sent {
                // What failed was not promised.
                _ if done.outcome.is_err() => {}
                Sent::Write(number) => self.log.write_done(number, done.at_ns),
                Sent::Flush(number) => self.log.flush_done(number, done.at_ns),
                Sent::Discard(number) => self.log.discard_done(number, done.at_ns),
            }
        }
    }
}

impl<M: Model> Model for Logged<M> {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        // What ended until now was told before this was sent.
        self.advance(at_ns, done);
        self.sent(&command, at_ns);
        let from = done.len();
        self.model.submit(command, at_ns, done);
        self.told(&done[from..]);
    }

    fn next_ns(&self) -> Option<u64> {
        self.model.next_ns()
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        let from = done.len();
        self.model.advance(to_ns, done);
        self.told(&done[from..]);
    }

    fn capacity_bytes(&self) -> u64 {
        self.model.capacity_bytes()
    }

    fn logical_bytes(&self) -> u64 {
        self.model.logical_bytes()
    }

    fn below(&self) -> Option<&dyn Model> {
        Some(&self.model)
    }

    fn tally(&self) -> DriveTally {
        self.model.tally()
    }
}
