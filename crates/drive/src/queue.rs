//! A model as a [`Queue`] with its [`Counters`]: what measures real drives measures models.

use std::cell::Cell;
use std::rc::Rc;

use device::{
    Action as Asked, Completion, Counters, CountersError, DiskCounts, Durability, Operation, Queue,
    QueueError, SyncKind,
};

use crate::{CommandKind, DriveCommand, DriveCompletion, Model};

/// Nanoseconds that asking for the time takes: so that time passes for whoever waits by asking. A
/// `clock_gettime` of the vDSO takes about that long.
const ASKED_NS: u64 = 25;

/// Rules by which a host drives a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRules {
    /// The slots, at least 1.
    pub depth: u16,
    /// The length of each slot's buffer.
    pub buffer_bytes: usize,
    /// First byte of each file on the drive.
    pub start_bytes: u64,
    /// Between the end of an operation and the begin of the next.
    pub turnaround_ns: u64,
    /// True if the drive says that it has a cache that forgets: where it says no, Linux sends no
    /// flush at all (Documentation/block/writeback_cache_control.rst).
    pub has_cache: bool,
    /// True if writes can be forced to the medium; else a flush follows them, as Linux does it.
    pub has_fua: bool,
}

/// A model under a queue. Its clock is simulated, and goes on by 25 ns whenever it is asked.
#[derive(Debug)]
pub struct ModelQueue<M> {
    model: M,
    host: HostRules,
    now_ns: u64,
    pushed: Vec<Operation>,
    flying: Vec<SlotOperation>,
    ended: Vec<Completion>,
    done: Vec<DriveCompletion>,
    buffer: Vec<u8>,
    counts: Rc<Cell<DiskCounts>>,
}

/// Operation that a slot has in flight.
#[derive(Clone, Copy, Debug)]
struct SlotOperation {
    operation: Operation,
    submitted_ns: u64,
    /// True if a flush follows.
    flushes: bool,
}

/// The counters of a model under a queue, as the kernel would count.
#[derive(Clone, Debug)]
pub struct ModelCounters(Rc<Cell<DiskCounts>>);

impl Counters for ModelCounters {
    fn counts(&mut self) -> Result<DiskCounts, CountersError> {
        Ok(self.0.get())
    }
}

impl<M: Model> ModelQueue<M> {
    /// A queue over `model`, at time 0.
    pub fn new(model: M, host: HostRules) -> ModelQueue<M> {
        ModelQueue {
            model,
            host,
            now_ns: 0,
            pushed: Vec::new(),
            flying: Vec::new(),
            ended: Vec::new(),
            done: Vec::new(),
            buffer: vec![0; host.buffer_bytes],
            counts: Rc::new(Cell::new(DiskCounts { flushes: Some(0), ..DiskCounts::default() })),
        }
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> ModelCounters {
        ModelCounters(Rc::clone(&self.counts))
    }

    /// Waits until `to_ns` without a command; not at all where that is past.
    pub fn wait_until(&mut self, to_ns: u64) {
        self.now_ns = self.now_ns.max(to_ns);
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Tells the model what to do, or that there is nothing to do.
    fn start(&mut self, operation: Operation) {
        let (action, flushes) = match operation.action {
            Asked::Read => (CommandKind::Read, false),
            Asked::Write { durability: Durability::Cached, .. } => {
                (CommandKind::Write { fua: false }, false)
            }
            Asked::Write { .. } => {
                let is_volatile = self.host.has_cache;
                let fua = is_volatile && self.host.has_fua;
                (CommandKind::Write { fua }, is_volatile && !fua)
            }
            Asked::Sync(kind) => {
                if !self.host.has_cache || kind == SyncKind::Range {
                    let now_ns = self.now_ns;
                    self.end(operation, now_ns, now_ns, Ok(0));
                    return;
                }
                (CommandKind::Flush, false)
            }
        };
        let submitted_ns = self.now_ns;
        self.flying.push(SlotOperation { operation, submitted_ns, flushes });
        let is_flush = action == CommandKind::Flush;
        let command = DriveCommand {
            id: operation.slot.into(),
            action,
            offset_bytes: self.host.start_bytes.saturating_add(operation.offset_bytes),
            length_bytes: if is_flush { 0 } else { operation.length_bytes.into() },
        };
        self.count(&command);
        self.model.submit(command, submitted_ns, &mut self.done);
    }

    fn count(&self, command: &DriveCommand) {
        let mut counts = self.counts.get();
        let sectors = command.length_bytes / 512;
        match command.action {
            CommandKind::Read => {
                counts.reads += 1;
                counts.read_sectors += sectors;
            }
            CommandKind::Write { .. } => {
                counts.writes += 1;
                counts.write_sectors += sectors;
            }
            CommandKind::Flush => counts.flushes = counts.flushes.map(|flushes| flushes + 1),
            CommandKind::Discard => {}
        }
        self.counts.set(counts);
    }

    fn end(&mut self, operation: Operation, from_ns: u64, to_ns: u64, result: Result<u32, i32>) {
        self.ended.push(Completion {
            slot: operation.slot,
            submitted_ns: from_ns,
            completed_ns: to_ns,
            result,
        });
    }

    /// Takes what the model has done; a write that is to last goes on with a flush.
    fn collect(&mut self) {
        while !self.done.is_empty() {
            for done in std::mem::take(&mut self.done) {
                let place = self
                    .flying
                    .iter()
                    .position(|flight| u64::from(flight.operation.slot) == done.id);
                let mut flight = self.flying.swap_remove(place.expect("it was submitted"));
                if flight.flushes && done.outcome.is_ok() {
                    flight.flushes = false;
                    self.flying.push(flight);
                    let command = DriveCommand {
                        id: done.id,
                        action: CommandKind::Flush,
                        offset_bytes: 0,
                        length_bytes: 0,
                    };
                    self.count(&command);
                    self.model.submit(command, done.at_ns.max(self.now_ns), &mut self.done);
                    continue;
                }
                let bytes = match flight.operation.action {
                    Asked::Sync(_) => 0,
                    _ => flight.operation.length_bytes,
                };
                // EINVAL and ENOSPC are what a block device answers.
                let result = done.outcome.map(|()| bytes).map_err(|fault| match fault {
                    crate::CommandFault::Sectors => 22,
                    crate::CommandFault::Bounds => 28,
                });
                self.end(flight.operation, flight.submitted_ns, done.at_ns, result);
            }
        }
    }
}

impl<M: Model> Queue for ModelQueue<M> {
    fn depth(&self) -> u16 {
        self.host.depth
    }

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        assert!(slot < self.host.depth, "there is no such slot");
        &mut self.buffer
    }

    fn push(&mut self, operation: Operation) {
        let is_same = |slot: u16| slot == operation.slot;
        let is_taken = self.flying.iter().any(|flight| is_same(flight.operation.slot))
            || self.pushed.iter().any(|pushed| is_same(pushed.slot))
            || self.ended.iter().any(|ended| is_same(ended.slot));
        assert!(operation.slot < self.host.depth && !is_taken, "a free slot");
        self.pushed.push(operation);
    }

    fn submit(&mut self) -> Result<(), QueueError> {
        self.now_ns += self.host.turnaround_ns;
        self.model.advance(self.now_ns, &mut self.done);
        for operation in std::mem::take(&mut self.pushed) {
            self.start(operation);
        }
        self.collect();
        Ok(())
    }

    fn reap(&mut self, completions: &mut [Completion], least: usize) -> Result<usize, QueueError> {
        let wanted = least.min(completions.len()).min(self.flying.len() + self.ended.len());
        while self.ended.len() < wanted {
            let Some(next_ns) = self.model.next_ns() else {
                let reason = "an operation never ends".to_owned();
                return Err(QueueError { attempted: "waiting for the model", reason });
            };
            self.now_ns = self.now_ns.max(next_ns);
            self.model.advance(self.now_ns, &mut self.done);
            self.collect();
        }
        let room = self.ended.len().min(completions.len());
        for (completion, ended) in completions.iter_mut().zip(self.ended.drain(..room)) {
            *completion = ended;
        }
        Ok(room)
    }

    fn now_ns(&mut self) -> u64 {
        self.now_ns += ASKED_NS;
        self.now_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::built_in;

    #[test]
    fn whoever_waits_by_asking_for_the_time_waits_for_an_end() {
        let model = built_in()[0].model().expect("a built-in drive");
        let host = HostRules {
            depth: 1,
            buffer_bytes: 4096,
            start_bytes: 0,
            turnaround_ns: 0,
            has_cache: true,
            has_fua: false,
        };
        let mut queue = ModelQueue::new(model, host);
        let begun_ns = queue.now_ns();
        let asked = (1..=1_000_000).find(|_| queue.now_ns() - begun_ns >= 1_000_000);
        assert_eq!(asked, Some(1_000_000 / ASKED_NS), "a millisecond is so many looks");
    }
}
