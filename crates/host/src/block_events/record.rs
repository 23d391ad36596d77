//! One read or write that was copied out.

use super::filter::device_number;
use crate::tracepoint::EventFormat;

/// Fields that every record must have.
const NEEDED: [&str; 6] = ["common_pid", "dev", "sector", "nr_sector", "rwbs", "comm"];

/// The first needed field that records of `format` lack.
pub(super) fn missing_field(format: &EventFormat) -> Option<&'static str> {
    NEEDED.into_iter().find(|field| !format.has(field))
}

/// One read or write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRecord {
    /// Time by the monotonic clock, in nanoseconds.
    pub time_ns: u64,
    /// Number of the device, major and minor: of a bio that came through a partition, that.
    pub device: (u32, u32),
    /// First sector of 512 bytes, on the whole disk.
    pub sector: u64,
    /// Number of sectors of 512 bytes.
    pub sectors: u64,
    /// The thread that handed it in: of a request, the one that happened to send it.
    pub thread: u32,
    /// Name of that thread; bytes that are no text are replaced.
    pub command: String,
}

/// Reads records of one kind of event.
#[derive(Clone, Copy, Debug)]
pub struct RecordFields<'a> {
    format: &'a EventFormat,
}

impl<'a> RecordFields<'a> {
    pub(super) fn of(format: &'a EventFormat) -> RecordFields<'a> {
        RecordFields { format }
    }

    /// Reads the raw record of an event at `time_ns`; `None` where it is cut short.
    #[must_use]
    pub fn record(&self, time_ns: u64, raw: &[u8]) -> Option<BlockRecord> {
        let number = |field| self.format.number(raw, field);
        let narrow = |field| number(field).and_then(|number| u32::try_from(number).ok());
        Some(BlockRecord {
            time_ns,
            device: device_number(narrow("dev")?),
            sector: number("sector")?,
            sectors: number("nr_sector")?,
            thread: narrow("common_pid")?,
            command: String::from_utf8_lossy(self.format.text(raw, "comm")?).into_owned(),
        })
    }
}
