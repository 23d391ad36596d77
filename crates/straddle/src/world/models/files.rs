//! Durable writes on the drive of the world. A file system adds one write to a sync that makes a
//! file longer, as a journal does; a sync flushes the drive where that has a cache.

use device::durable::{DurableMethod, Method, WritePlace};
use device::{
    Action, Completion, Durability, Durable, DurableFault, Operation, Queue as _, SyncKind,
};
use host::scratch::ScratchError;
use host::{DurablePlan, Interrupt, Pinned, TrialError, TrialStep};
use units::DiskText;

use super::queue::SharedQueue;
use super::{DriveFacts, NO_ROOM, SharedDrive};
use crate::world::clock::Clock as _;
use crate::world::{BufferPlan, SyncFiles, TimedSyncs};

/// Place of the journal, behind all files.
const JOURNAL_BYTES: u64 = 128 << 30;
const JOURNAL_BLOCK_BYTES: u32 = 4096;

/// One operation at a time, to its end.
pub(super) struct OneOperation(SharedQueue);

impl OneOperation {
    pub(super) fn new(drive: &SharedDrive, slot_bytes: u32) -> OneOperation {
        let plan = BufferPlan { depth: 1, slot_bytes, seed: 0 };
        OneOperation(SharedQueue::new(drive.clone(), plan))
    }

    /// Returns how long it took, in nanoseconds; `Err` is the kernel's number of its error.
    fn done(&mut self, action: Action, offset_bytes: u64, length_bytes: u32) -> Result<u64, i32> {
        let mut completions =
            [Completion { slot: 0, submitted_ns: 0, completed_ns: 0, result: Ok(0) }];
        self.0.push(Operation { action, file: 0, slot: 0, offset_bytes, length_bytes });
        self.0.submit().expect("a model takes operations");
        let count = self.0.reap(&mut completions, 1).expect("an operation ends");
        assert_eq!(count, 1, "one was pushed");
        completions[0].result.map(|_| completions[0].latency_ns())
    }

    /// Writes into the drive's cache.
    pub(super) fn write(&mut self, offset_bytes: u64, length_bytes: u32) -> Result<u64, i32> {
        let action = Action::Write { durability: Durability::Cached, atomic: false };
        self.done(action, offset_bytes, length_bytes)
    }

    fn sync(&mut self) -> Result<u64, i32> {
        self.done(Action::Sync(SyncKind::Data), 0, 0)
    }
}

/// Files of durable writes.
pub(crate) struct ModelFiles {
    queue: OneOperation,
    drive: SharedDrive,
    ways: Vec<DurableMethod>,
    directory: DiskText,
    filesystem: &'static str,
    interrupt: Interrupt,
    file_bytes: u64,
    next_bytes: u64,
    written_bytes: u64,
}

impl ModelFiles {
    pub(super) fn made(
        drive: &SharedDrive,
        facts: &DriveFacts,
        plan: &DurablePlan<'_>,
    ) -> Result<ModelFiles, ScratchError> {
        let longest = plan.ways.iter().map(|way| way.write_bytes).max().unwrap_or(0);
        Ok(ModelFiles {
            queue: OneOperation::new(
                drive,
                longest.next_multiple_of(JOURNAL_BLOCK_BYTES) + JOURNAL_BLOCK_BYTES,
            ),
            drive: drive.clone(),
            ways: plan.ways.to_vec(),
            directory: plan.directory.text(),
            filesystem: facts.filesystem,
            interrupt: plan.interrupt.clone(),
            file_bytes: plan.file_bytes.max(1),
            next_bytes: 0,
            written_bytes: plan.made_bytes(),
        })
    }

    /// Does one operation of `way`; `Err` is the kernel's number, and true of a sync.
    fn tried(&mut self, way: DurableMethod) -> Result<(), (i32, bool)> {
        let writes = if way.place == WritePlace::Nothing { 0 } else { way.writes };
        let start = match way.place {
            WritePlace::Overwrite | WritePlace::Nothing => 0,
            _ => self.next_bytes % self.file_bytes,
        };
        for number in 0..writes {
            let at = start + u64::from(number) * u64::from(way.write_bytes);
            let (at, length) = if way.is_direct { (at, way.write_bytes) } else { pages(at, way) };
            self.queue.write(at, length).map_err(|error| (error, false))?;
        }
        self.next_bytes += way.operation_bytes();
        let is_synced = !matches!(way.method, Method::None | Method::SyncFileRange);
        if !is_synced {
            return Ok(());
        }
        if matches!(way.place, WritePlace::Append | WritePlace::Preallocated) {
            let journal = self.queue.write(JOURNAL_BYTES, JOURNAL_BLOCK_BYTES);
            journal.map_err(|error| (error, true))?;
        }
        self.queue.sync().map(drop).map_err(|error| (error, true))
    }
}

/// Returns the whole pages that a write through the page cache makes dirty.
fn pages(at_bytes: u64, way: DurableMethod) -> (u64, u32) {
    let page_bytes = u64::from(JOURNAL_BLOCK_BYTES);
    let start = at_bytes - at_bytes % page_bytes;
    let end = (at_bytes + u64::from(way.write_bytes)).next_multiple_of(page_bytes);
    (start, u32::try_from(end - start).expect("a write is short"))
}

fn reason(number: i32) -> String {
    std::io::Error::from_raw_os_error(number).to_string()
}

impl Durable for ModelFiles {
    fn begin(&mut self, way: usize) -> Result<(), DurableFault> {
        match self.ways[way].method {
            Method::Writethrough => Err(DurableFault::Unavailable("not on Linux".to_owned())),
            _ => Ok(()),
        }
    }

    fn once(&mut self, way: usize) -> Result<u64, DurableFault> {
        let row = self.ways[way];
        let begun_ns = self.drive.now_ns();
        self.tried(row).map_err(|(number, is_sync)| match number {
            NO_ROOM => DurableFault::NoRoom(reason(number)),
            _ if is_sync => DurableFault::Stopped(format!("fdatasync: {}", reason(number))),
            _ => DurableFault::Void(format!("pwrite: {}", reason(number))),
        })?;
        self.written_bytes += row.operation_bytes();
        Ok(self.drive.now_ns() - begun_ns)
    }

    fn end(&mut self, _way: usize) -> Result<(), DurableFault> {
        Ok(())
    }

    fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    fn now_ns(&self) -> u64 {
        self.drive.now_ns()
    }

    fn goes_on(&self) -> bool {
        !self.interrupt.is_raised()
    }
}

impl SyncFiles for ModelFiles {
    fn directory(&self) -> &DiskText {
        &self.directory
    }

    fn filesystem(&self) -> &str {
        self.filesystem
    }

    fn lack_name(&self) -> bool {
        false
    }
}

/// A small file to try syncs on.
pub(crate) struct ModelTrial {
    queue: OneOperation,
    drive: SharedDrive,
    directory: DiskText,
}

const TRIAL_BYTES: u32 = 8192;

impl ModelTrial {
    pub(super) fn made(
        drive: &SharedDrive,
        directory: &Pinned,
    ) -> Result<(ModelTrial, u64), TrialError> {
        let queue = OneOperation::new(drive, TRIAL_BYTES);
        let mut trial = ModelTrial { queue, drive: drive.clone(), directory: directory.text() };
        let made_ns = trial.step(TrialStep::Append)?;
        Ok((trial, made_ns))
    }

    fn tried(&mut self, step: TrialStep) -> Result<(), (i32, bool)> {
        if step != TrialStep::Empty {
            self.queue.write(0, TRIAL_BYTES).map_err(|error| (error, false))?;
        }
        if step == TrialStep::Append {
            let journal = self.queue.write(JOURNAL_BYTES, JOURNAL_BLOCK_BYTES);
            journal.map_err(|error| (error, true))?;
        }
        match step {
            TrialStep::Write => Ok(()),
            _ => self.queue.sync().map(drop).map_err(|error| (error, true)),
        }
    }
}

impl TimedSyncs for ModelTrial {
    fn step(&mut self, step: TrialStep) -> Result<u64, TrialError> {
        let begun_ns = self.drive.now_ns();
        let directory = self.directory.clone();
        self.tried(step).map_err(|(number, is_sync)| TrialError {
            attempted: if is_sync { "fdatasync" } else { "writing" },
            directory,
            reason: reason(number),
            is_sync: is_sync && number != NO_ROOM,
            has_no_room: number == NO_ROOM,
        })?;
        Ok(self.drive.now_ns() - begun_ns)
    }
}
