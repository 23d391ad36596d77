//! World of the commands that measure: its clock, its queues and durable files, its counters, and
//! the facts of its machine.
//!
//! Before it measures, a command looks up paths, takes claims and refuses what it can, on the
//! machine that runs it. [`this_machine`] is the only world of the program; tests have one of drive
//! models under a simulated clock.

pub(crate) mod clock;
#[cfg(test)]
pub(crate) mod models;
pub(crate) mod this_machine;

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use device::{Counters, Durable, Queue};
use host::engine::{Access, EngineError};
use host::scratch::{ScratchError, ScratchPlan};
use host::{DurablePlan, Interrupt, Pinned, TrialError, TrialStep};
use jiff::Timestamp;
use report::Refusal;
use stack::UnitKind;
use units::{DiskText, Known};

use self::clock::Clock;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::printer::Printer;

/// Buffers of a queue: how many, how long, and the seed of the bytes that writes write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferPlan {
    pub(crate) depth: u16,
    pub(crate) slot_bytes: u32,
    pub(crate) seed: u64,
}

/// World of the commands that measure.
pub(crate) trait World {
    /// An open file or device.
    type File;
    /// A queue of one operation at a time.
    type One: Queue;
    /// A queue of any depth.
    type Many: Queue;
    /// Counters of a device.
    type Counters: Counters;
    /// A scratch file.
    type Scratch: ScratchSpace<File = Self::File> + 'static;
    /// Files of durable writes.
    type SyncFiles: SyncFiles;
    /// A small file to try syncs on.
    type Trial: TimedSyncs;

    /// Printer of its commands.
    fn printer(&self) -> Printer;

    /// Listens to signals from now on.
    ///
    /// # Errors
    /// When that is not possible.
    fn interrupt(&self) -> io::Result<Interrupt>;

    /// Now, by the calendar.
    fn started(&self) -> Timestamp;

    /// Its clock.
    fn clock(&self) -> Rc<dyn Clock>;

    /// Facts of its machine.
    fn inspected(&self) -> InspectedMachine;

    /// A queue on one file.
    ///
    /// # Errors
    /// When there is no memory for its buffers.
    fn one(&self, file: Self::File, buffers: BufferPlan) -> Result<Self::One, EngineError>;

    /// A queue with a depth on one file.
    ///
    /// # Errors
    /// When there is no io_uring, or no memory for its buffers.
    fn many(&self, file: Self::File, buffers: BufferPlan) -> Result<Self::Many, EngineError>;

    /// Counters of the block device with this number; `None` where it has none.
    fn counters(&self, number: (u32, u32)) -> Option<Self::Counters>;

    /// A file or device that was opened on the machine that runs the command.
    fn adopted(&self, file: OwnedFd) -> Self::File;

    /// Removes scratch files that earlier runs left in `directory`.
    fn clear_leftovers(&self, directory: &Pinned);

    /// Returns the file system of `directory`, where a scratch file can be made, as far as that is
    /// known without writing.
    ///
    /// # Errors
    /// When none can be made.
    fn possible(&self, directory: &Pinned, plan: ScratchPlan) -> Result<String, ScratchError>;

    /// Returns the least step of direct I/O in `directory`, in bytes. An empty file without a name
    /// is made there, and gone at once.
    ///
    /// # Errors
    /// When no file can be made.
    fn direct_unit(&self, directory: &Pinned) -> Result<Known<u64>, ScratchError>;

    /// Makes a scratch file, while `goes_on` with the bytes so far.
    ///
    /// # Errors
    /// When it cannot be made.
    fn scratch(
        &self,
        directory: &Pinned,
        plan: ScratchPlan,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Self::Scratch, ScratchError>;

    /// Returns where the bytes of a scratch file lie.
    ///
    /// # Errors
    /// When that cannot be told.
    fn place(
        &self,
        inspected: &InspectedMachine,
        scratch: &Self::Scratch,
        wanted: UnitKind,
    ) -> Result<MeasuredBytes, Refusal>;

    /// Returns whether any file can be made in `directory`: an empty one, gone at once.
    ///
    /// # Errors
    /// When none can.
    fn takes_files(&self, directory: &Pinned) -> Result<(), ScratchError>;

    /// Returns whether the layers below `directory` have room for so many bytes.
    ///
    /// # Errors
    /// When one has not.
    fn room_below(&self, directory: &Pinned, bytes: u64) -> Result<(), ScratchError>;

    /// Returns whether the files of `plan` can be made, as far as that is known without writing.
    ///
    /// # Errors
    /// When they cannot.
    fn files_possible(&self, plan: &DurablePlan<'_>) -> Result<(), ScratchError>;

    /// Makes the files of durable writes.
    ///
    /// # Errors
    /// When they cannot be made.
    fn sync_files(&self, plan: &DurablePlan<'_>) -> Result<Self::SyncFiles, ScratchError>;

    /// A small file in `directory` to try syncs on, and how long its first write and sync took, in
    /// nanoseconds.
    ///
    /// # Errors
    /// When it cannot be made.
    fn trial(&self, directory: &Pinned) -> Result<(Self::Trial, u64), TrialError>;
}

/// A scratch file, written and open.
pub(crate) trait ScratchSpace {
    /// It, opened.
    type File;

    /// Name of its directory.
    fn directory(&self) -> &DiskText;

    /// Name of its file system.
    fn filesystem(&self) -> &str;

    /// Its length in bytes.
    fn length_bytes(&self) -> u64;

    /// The step of direct I/O on it, in bytes.
    fn direct_unit(&self) -> &Known<u64>;

    /// Why writes cannot be placed in it; `None` where they can.
    fn unusable(&self) -> Option<String>;

    /// Opens it past the page cache.
    ///
    /// # Errors
    /// When it cannot be opened so.
    fn open(&self, access: Access) -> Result<Self::File, EngineError>;

    /// Returns that it lies elsewhere now than when it was written; `None` where it does not.
    fn moved(&self) -> Option<String>;
}

/// Files of durable writes, with what is to be said of them.
pub(crate) trait SyncFiles: Durable {
    /// Name of their directory.
    fn directory(&self) -> &DiskText;

    /// Name of their file system.
    fn filesystem(&self) -> &str;

    /// Returns whether they have no name though their file system syncs such files otherwise.
    fn lack_name(&self) -> bool;
}

/// Syncs of a small file, each timed.
pub(crate) trait TimedSyncs {
    /// Returns how long a step took, in nanoseconds.
    ///
    /// # Errors
    /// When a call of it fails.
    fn step(&mut self, step: TrialStep) -> Result<u64, TrialError>;
}
