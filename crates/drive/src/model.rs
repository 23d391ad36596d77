//! The trait of every drive model.

use crate::power::{self, Aftermath, Cut, CutFault, HostLog, HostPromises, MediumLog, Sectors};
use crate::{DriveCommand, DriveCompletion, DriveTally};

/// A drive in simulated time: it has no clock, and does no I/O. Commands and times go in,
/// completions come out; the same calls give the same answers on any machine.
///
/// Time only goes on: each call names a time that is not before that of the call before it. A
/// model can move to another thread, since one that is served is used by the threads of its
/// clients.
pub trait Model: Send {
    /// Takes `command` at `at_ns`. What ends until then, `at_ns` included, is added to `done`, in
    /// the order of time; the command itself may be among it.
    ///
    /// # Panics
    /// When `at_ns` is before the time of an earlier call.
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>);

    /// When something happens next if no command comes; `None` when nothing ever will.
    fn next_ns(&self) -> Option<u64>;

    /// Advances to `to_ns`; what ends until then, `to_ns` included, is added to `done`.
    ///
    /// # Panics
    /// When `to_ns` is before the time of an earlier call.
    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>);

    /// Returns how many bytes it holds.
    fn capacity_bytes(&self) -> u64;

    /// The addressable unit in bytes.
    fn logical_bytes(&self) -> u64;

    /// Returns what it did so far, and for how long.
    fn tally(&self) -> DriveTally;

    /// The model that this one wraps, which answers all that follows unless the wrapper does;
    /// `None` for a drive of its own.
    fn below(&self) -> Option<&dyn Model> {
        None
    }

    /// Bytes of acknowledged writes that wait in a cache for a medium that turns; of several drives
    /// the sum, so that a mirror's count twice. What flash keeps in its buffer is not among them.
    fn waiting_bytes(&self) -> u64 {
        self.below().map_or(0, Model::waiting_bytes)
    }

    /// The bytes that are best written as one, from multiples of them: the full stripe of an array
    /// with parity, which is written without reads. `None` where there is no such thing.
    fn stripe_bytes(&self) -> Option<u64> {
        self.below()?.stripe_bytes()
    }

    /// Begins to write down what it puts on its medium, at most `entries_max` entries; whether it
    /// does. It does not where it cannot, or where it was told something already.
    fn keep_log(&mut self, entries_max: usize) -> bool {
        let _ = entries_max;
        false
    }

    /// Returns what it put on its medium; `None` where nobody asked it to write that down, and
    /// where it is made of others that each have a medium.
    fn medium_log(&self) -> Option<&MediumLog> {
        self.below()?.medium_log()
    }

    /// Returns what it tells the host about itself, from which its promises follow.
    fn told(&self) -> HostPromises {
        if let Some(below) = self.below() {
            return below.told();
        }
        let bytes = self.logical_bytes();
        let sectors = Sectors { logical_bytes: bytes, physical_bytes: bytes, origin_bytes: 0 };
        HostPromises { sectors, has_volatile_cache: true }
    }

    /// Returns whether it tells the host of a write cache. Linux sends flushes to no other
    /// (`Documentation/block/writeback_cache_control.rst`). A drive may tell of one that loses
    /// nothing, as SATA drives with capacitors do.
    fn has_write_cache(&self) -> bool {
        self.below().map_or_else(|| self.told().has_volatile_cache, Model::has_write_cache)
    }

    /// Returns what it holds when the power goes as `cut` says; `host` has what was sent to it.
    ///
    /// # Errors
    /// When nobody asked it to keep a log, one is full or of another drive, or nothing can be torn
    /// as the cut says.
    fn after(&self, host: &HostLog, cut: &Cut) -> Result<Aftermath, CutFault> {
        match self.below() {
            Some(below) => below.after(host, cut),
            None => power::cut(host, self.medium_log().ok_or(CutFault::NoLog)?, cut),
        }
    }
}

/// Refuses a command that `model` cannot do, at `at_ns`; true if it does.
pub(crate) fn refuses(
    model: &impl Model,
    command: &DriveCommand,
    at_ns: u64,
    done: &mut Vec<DriveCompletion>,
) -> bool {
    let outcome = command.checked(model.capacity_bytes(), model.logical_bytes());
    if outcome.is_err() {
        done.push(DriveCompletion { id: command.id, at_ns, outcome });
    }
    outcome.is_err()
}

impl Model for Box<dyn Model> {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        (**self).submit(command, at_ns, done);
    }

    fn next_ns(&self) -> Option<u64> {
        (**self).next_ns()
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        (**self).advance(to_ns, done);
    }

    fn capacity_bytes(&self) -> u64 {
        (**self).capacity_bytes()
    }

    fn logical_bytes(&self) -> u64 {
        (**self).logical_bytes()
    }

    fn tally(&self) -> DriveTally {
        (**self).tally()
    }

    fn below(&self) -> Option<&dyn Model> {
        Some(&**self)
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        (**self).keep_log(entries_max)
    }
}
