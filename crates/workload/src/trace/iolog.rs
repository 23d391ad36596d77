//! fio's iolog: one line for each operation of a job.
//!
//! The first line names the version. The others are `NAME ACTION` for a file and `NAME ACTION
//! OFFSET LENGTH` for an operation; in version 3 with the microseconds since the job began before
//! them (fio writes `utime_since_now`). fio `iolog.c`: `log_io_u`, `log_file`, `read_iolog`.
//!
//! Lines are read from both ends, so that a name may hold blanks: fio writes such names as they
//! are, though it cannot read them back.

use super::entry::{TraceAction, TraceEntry, TraceTarget};
use super::files::FileNames;
use super::format::{TraceFormat, iolog_version, is_iolog_head, other_version};
use super::notes::{Notes, Skipped};
use super::refusal::{damaged, second_trace, shown};
use super::words::{self, LineWords, expected, expected_u32, missing};
use crate::InputError;

/// Parser of an iolog.
#[derive(Debug)]
pub(super) struct Iolog {
    format: TraceFormat,
    begun: bool,
    /// The latest `wait` of version 2.
    waited_ns: Option<u64>,
    pub(super) files: FileNames,
}

impl Iolog {
    pub(super) fn new(format: TraceFormat) -> Iolog {
        Iolog { format, begun: false, waited_ns: None, files: FileNames::default() }
    }

    /// Returns what `line` says was done, if that is an operation.
    pub(super) fn entry(
        &mut self,
        line: &[u8],
        notes: &mut Notes,
    ) -> Result<Option<TraceEntry>, InputError> {
        if !self.begun {
            self.begun = true;
            let is_ours = iolog_version(line) == Some(self.format);
            return if is_ours { Ok(None) } else { Err(other_version(line)) };
        }
        let mut words = LineWords::of(line);
        if words.rest().is_empty() {
            return Ok(None);
        }
        if is_iolog_head(line) {
            return Err(second_trace());
        }
        let at_ns = self.time(&mut words)?;
        let last = words.last().ok_or_else(|| missing(line, "action"))?;
        if matches!(last, b"add" | b"open" | b"close" | b"unlink") {
            self.manage(name(&words, line)?, last)?;
            notes.skip(Skipped::FileManagement);
            return Ok(None);
        }
        let length_bytes = expected_u32(last, "the length")?;
        let offset = words.last().ok_or_else(|| missing(line, "offset and length"))?;
        let offset = expected(offset, "the offset")?;
        let action = words.last().ok_or_else(|| missing(line, "action"))?;
        let name = name(&words, line)?;
        self.operation(&IologOperation { at_ns, name, action, offset, length_bytes }, notes)
    }

    /// The time of a line, taken off it in version 3.
    fn time(&self, words: &mut LineWords<'_>) -> Result<Option<u64>, InputError> {
        if self.format == TraceFormat::Iolog2 {
            return Ok(self.waited_ns);
        }
        let word = words.first().unwrap_or_default();
        let at_ns = words::number(word).and_then(|at_us| at_us.checked_mul(1000));
        at_ns.map(Some).ok_or_else(|| {
            words::unreadable(word, "the time", "microseconds that are below 2^64 nanoseconds")
        })
    }

    fn manage(&mut self, name: &[u8], action: &[u8]) -> Result<(), InputError> {
        if action == b"add" {
            return self.files.add(name);
        }
        self.files.number(name).map(|_| ())
    }

    fn operation(
        &mut self,
        operation: &IologOperation<'_>,
        notes: &mut Notes,
    ) -> Result<Option<TraceEntry>, InputError> {
        let IologOperation { at_ns, name, offset: offset_bytes, length_bytes, .. } = *operation;
        let action = match operation.action {
            b"read" => TraceAction::Read,
            b"write" => TraceAction::Write { fua: false },
            b"trim" => TraceAction::Discard,
            b"sync" => TraceAction::Fsync,
            b"datasync" => TraceAction::Fdatasync,
            b"sync_file_range" => {
                notes.skip(Skipped::SyncFileRange);
                return Ok(None);
            }
            b"wait" => return self.wait(operation.offset, notes).map(|()| None),
            found => {
                let problem = format!("`{}` is not an action of an iolog", shown(found));
                return Err(damaged(problem));
            }
        };
        let target = TraceTarget::File(self.files.number(name)?);
        if !action.moves_bytes() {
            let entry = TraceEntry { at_ns, action, target, offset_bytes: 0, length_bytes: 0 };
            return Ok(Some(entry));
        }
        if length_bytes == 0 {
            notes.skip(Skipped::NoData);
            return Ok(None);
        }
        TraceEntry { at_ns, action, target, offset_bytes, length_bytes }.checked().map(Some)
    }

    /// `wait`: what follows begins no earlier than so many milliseconds after the beginning. The
    /// HOWTO speaks of microseconds after the `wait` before; fio does the former
    /// (`read_iolog_get`).
    fn wait(&mut self, until_ms: u64, notes: &mut Notes) -> Result<(), InputError> {
        if self.format != TraceFormat::Iolog2 {
            notes.skip(Skipped::Wait);
            return Ok(());
        }
        let until_ns = until_ms.checked_mul(1_000_000).ok_or_else(|| {
            damaged(format!("a wait until {until_ms} ms is above 2^64 nanoseconds"))
        })?;
        self.waited_ns = self.waited_ns.max(Some(until_ns));
        Ok(())
    }
}

/// A line that says an operation.
struct IologOperation<'a> {
    at_ns: Option<u64>,
    name: &'a [u8],
    action: &'a [u8],
    /// In bytes; of a `wait` the time.
    offset: u64,
    length_bytes: u32,
}

/// The file's name: what all other words left of `line`.
fn name<'a>(words: &LineWords<'a>, line: &[u8]) -> Result<&'a [u8], InputError> {
    let name = words.rest();
    if name.is_empty() { Err(missing(line, "file name")) } else { Ok(name) }
}
