//! Facts about a trace beside its entries.

use super::entry::{DeviceNumber, TraceEntry, TraceTarget};
use super::request::Stage;
use crate::InputError;

/// The most devices of one trace.
pub const DEVICES_MAX: usize = 1024;

/// Why something in a trace became no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// An event of another stage than the one asked for, or a merge, a plug, a remap and so on.
    OtherEvent,
    /// A message, a process's name or a clock's reading.
    Notice,
    /// A command that a program or driver sent past the block layer (`SG_IO`, NVMe passthrough).
    Passthrough,
    /// A request that moves no bytes and flushes nothing, or less than a sector in blkparse's text.
    NoData,
    /// `add`, `open`, `close` and `unlink` of an iolog.
    FileManagement,
    /// `sync_file_range`, after which nothing is durable.
    SyncFileRange,
    /// `wait` in an iolog of version 3, which fio ignores too.
    Wait,
    /// A line of blkparse that is not about an event: its summary, and which files it read.
    Summary,
}

impl Skipped {
    /// Each reason.
    pub const ALL: [Skipped; 8] = [
        Skipped::OtherEvent,
        Skipped::Notice,
        Skipped::Passthrough,
        Skipped::NoData,
        Skipped::FileManagement,
        Skipped::SyncFileRange,
        Skipped::Wait,
        Skipped::Summary,
    ];

    /// Returns what was skipped, for people, in the plural.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Skipped::OtherEvent => "events of other stages",
            Skipped::Notice => "messages and names",
            Skipped::Passthrough => "passthrough commands",
            Skipped::NoData => "requests without data",
            Skipped::FileManagement => "lines that add, open, close or unlink files",
            Skipped::SyncFileRange => "calls of sync_file_range",
            Skipped::Wait => "waits in an iolog of version 3",
            Skipped::Summary => "lines of blkparse's summary",
        }
    }
}

/// Counts so far. A request that flushes before it writes is two entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Number of entries given.
    pub entries: u64,
    /// Number of entries that have an earlier time than the one before them. They are given where
    /// they stand.
    pub unsorted: u64,
    /// Number of requests queued, whatever was asked for (blktrace, `Q`).
    pub queued: u64,
    /// Number of requests issued to the driver (`D`). Device-mapper and md have none.
    pub issued: u64,
    /// Number of requests completed (`C`).
    pub completed: u64,
    /// Number of events the kernel could not keep: gaps between the numbers of blktrace's records,
    /// seen where neighbors are of the same device and CPU, as in the file of one CPU.
    pub lost: u64,
    /// True if the last line has no end, and may be cut.
    pub cut: bool,
    skipped: [u64; Skipped::ALL.len()],
    devices: Vec<(DeviceNumber, u64)>,
    /// The place among the devices of the one met last.
    last_device: usize,
    last_ns: Option<u64>,
}

impl Notes {
    /// Returns how much was skipped for `reason`.
    #[must_use]
    pub fn skipped(&self, reason: Skipped) -> u64 {
        self.skipped[reason as usize]
    }

    /// The devices of the entries in the order in which they were met, each with how many entries
    /// it has; none for an iolog. At most [`DEVICES_MAX`].
    #[must_use]
    pub fn devices(&self) -> &[(DeviceNumber, u64)] {
        &self.devices
    }

    pub(super) fn skip(&mut self, reason: Skipped) {
        self.skipped[reason as usize] += 1;
    }

    /// Counts an event of `stage`; whether it is of the one asked for.
    pub(super) fn pass(&mut self, stage: Stage, asked_for: Stage) -> bool {
        match stage {
            Stage::Queued => self.queued += 1,
            Stage::Issued => self.issued += 1,
            Stage::Completed => self.completed += 1,
        }
        let passes = stage == asked_for;
        if !passes {
            self.skip(Skipped::OtherEvent);
        }
        passes
    }

    /// Counts `entry`, which is given next.
    pub(super) fn give(&mut self, entry: &TraceEntry) -> Result<(), InputError> {
        if let TraceTarget::Device(device) = entry.target {
            self.of_device(device)?;
        }
        self.entries += 1;
        self.unsorted += u64::from(entry.at_ns < self.last_ns);
        self.last_ns = entry.at_ns;
        Ok(())
    }

    fn of_device(&mut self, device: DeviceNumber) -> Result<(), InputError> {
        let known = |at: usize, devices: &[(DeviceNumber, u64)]| {
            devices.get(at).is_some_and(|(known, _)| *known == device)
        };
        if !known(self.last_device, &self.devices) {
            let found = self.devices.iter().position(|(known, _)| *known == device);
            self.last_device = found.unwrap_or(self.devices.len());
            if found.is_none() {
                if self.devices.len() == DEVICES_MAX {
                    let problem = format!("the trace names more than {DEVICES_MAX} devices");
                    let hint = "record fewer files in one trace";
                    return Err(InputError::new(problem, hint));
                }
                self.devices.push((device, 0));
            }
        }
        self.devices[self.last_device].1 += 1;
        Ok(())
    }
}
