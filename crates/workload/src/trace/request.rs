//! A request of the block layer, as entries.
//!
//! A request may ask for two things: that the cache be emptied before it (`REQ_PREFLUSH`), and its
//! own data. Such a one, and it alone, becomes two entries.

use super::entry::{DeviceNumber, END_BYTES_MAX, TraceAction, TraceEntry, TraceTarget};
use super::refusal::damaged;
use crate::InputError;

/// The length of a sector to the block layer, in bytes, whatever the device's is.
pub(super) const SECTOR_BYTES: u32 = 512;

/// Events of the block layer that count as requests: each request passes all stages it has, so one
/// is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Stage {
    /// Queued (`Q`): what file systems and programs asked for, before requests are merged and
    /// split. The only stage of device-mapper and md.
    Queued,
    /// Issued (`D`): what the driver got.
    #[default]
    Issued,
    /// Completed (`C`): what the driver finished, at that time.
    Completed,
}

impl Stage {
    /// blkparse's letter of it.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Stage::Queued => 'Q',
            Stage::Issued => 'D',
            Stage::Completed => 'C',
        }
    }
}

/// Direction of a request's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    Read,
    Write,
    Discard,
}

/// A request of the stage that was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct StageRequest {
    pub(super) at_ns: u64,
    pub(super) device: DeviceNumber,
    /// The cache is to be emptied before.
    pub(super) preflush: bool,
    /// The data are to be durable.
    pub(super) fua: bool,
    pub(super) data: Data,
    pub(super) sector: u64,
    /// 0 where no data move.
    pub(super) length_bytes: u32,
}

/// Entries of a request: a flush, data, both or neither, in that order.
pub(super) type Entries = [Option<TraceEntry>; 2];

impl StageRequest {
    pub(super) fn entries(&self) -> Result<Entries, InputError> {
        let flush = self.preflush.then(|| self.entry(TraceAction::Flush));
        if self.length_bytes == 0 {
            return Ok([flush, None]);
        }
        let action = match self.data {
            Data::Read => TraceAction::Read,
            Data::Write => TraceAction::Write { fua: self.fua },
            Data::Discard => TraceAction::Discard,
        };
        let sector = self.sector;
        let offset_bytes = sector.checked_mul(SECTOR_BYTES.into());
        let offset_bytes = offset_bytes
            .ok_or_else(|| damaged(format!("sector {sector} is past byte {END_BYTES_MAX}")))?;
        let length_bytes = self.length_bytes;
        let data = TraceEntry { offset_bytes, length_bytes, ..self.entry(action) }.checked()?;
        Ok([flush, Some(data)])
    }

    fn entry(&self, action: TraceAction) -> TraceEntry {
        let target = TraceTarget::Device(self.device);
        TraceEntry { at_ns: Some(self.at_ns), action, target, offset_bytes: 0, length_bytes: 0 }
    }
}
