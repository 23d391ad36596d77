//! A drive that says "done" and has done nothing: to teach with, and to test what finds such
//! drives.

use crate::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};

/// Promises that a drive breaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lies {
    /// Flushes complete at once, and put nothing on the medium.
    pub flush: bool,
    /// Writes that are forced to the medium are kept in the cache as others are.
    pub fua: bool,
}

/// A model whose firmware lies.
#[derive(Clone, Debug)]
pub struct Liar<M> {
    model: M,
    lies: Lies,
    flushes: u64,
}

impl<M: Model> Liar<M> {
    /// `model` that lies so.
    pub fn new(model: M, lies: Lies) -> Liar<M> {
        Liar { model, lies, flushes: 0 }
    }
}

impl<M: Model> Model for Liar<M> {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        let action = match command.action {
            CommandKind::Flush if self.lies.flush => {
                self.model.advance(at_ns, done);
                self.flushes += 1;
                done.push(DriveCompletion { id: command.id, at_ns, outcome: Ok(()) });
                return;
            }
            CommandKind::Write { fua } => CommandKind::Write { fua: fua && !self.lies.fua },
            other => other,
        };
        self.model.submit(DriveCommand { action, ..command }, at_ns, done);
    }

    fn next_ns(&self) -> Option<u64> {
        self.model.next_ns()
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.model.advance(to_ns, done);
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
        let told =
            DriveTally { commands: self.flushes, flushes: self.flushes, ..DriveTally::default() };
        self.model.tally().plus(told)
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        self.flushes == 0 && self.model.keep_log(entries_max)
    }
}
