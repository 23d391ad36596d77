//! A trace out of pieces of any length.

use units::DiskText;

use super::blkparse::Blkparse;
use super::blktrace::Blktrace;
use super::entry::TraceEntry;
use super::format::TraceFormat;
use super::iolog::Iolog;
use super::line::LineSplitter;
use super::notes::Notes;
use super::refusal::{nothing, of_file, on_line};
use super::request::{Entries, Stage};
use crate::InputError;

/// Reads a trace piece by piece, in memory that does not grow with it: one line or one record's
/// head, the names of at most [`FILES_MAX`](super::FILES_MAX) files and at most
/// [`DEVICES_MAX`](super::DEVICES_MAX) devices are held.
#[derive(Debug)]
pub struct TraceReader {
    parser: FormatParser,
    notes: Notes,
    /// The second entry of a request, given next.
    pending: Option<TraceEntry>,
    /// The error, once there was one.
    failed: Option<InputError>,
}

#[derive(Debug)]
enum FormatParser {
    Text(LineSplitter, Text),
    Records(Box<Blktrace>),
}

#[derive(Debug)]
enum Text {
    Iolog(Box<Iolog>),
    Blkparse(Blkparse),
}

impl TraceReader {
    /// A reader of a trace of `format`, which [`TraceFormat::of`] finds. Of the block layer's
    /// events those of `stage` become entries; an iolog has no stages.
    #[must_use]
    pub fn new(format: TraceFormat, stage: Stage) -> TraceReader {
        let text = |text: Text| FormatParser::Text(LineSplitter::new(), text);
        let parser = match format {
            TraceFormat::Iolog2 | TraceFormat::Iolog3 => {
                text(Text::Iolog(Box::new(Iolog::new(format))))
            }
            TraceFormat::Blkparse => text(Text::Blkparse(Blkparse::new(stage))),
            TraceFormat::Blktrace => FormatParser::Records(Box::new(Blktrace::new(stage))),
        };
        TraceReader { parser, notes: Notes::default(), pending: None, failed: None }
    }

    /// The next entry, with what was read taken off the front of `input`, the next piece of the
    /// trace. `None` when `input` is used up: call again with the piece behind it, or, where there
    /// is none, call [`finish`](TraceReader::finish).
    ///
    /// # Errors
    /// When the trace is damaged, or is not of the format it was said to be; the same error again
    /// for every further call. What was given before is sound.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<TraceEntry>, InputError> {
        self.guarded(|reader| reader.within(input))
    }

    /// The entries that are left where the trace ends: to be called until it gives `None`.
    ///
    /// # Errors
    /// When the trace is empty or ends within a record, or its last line, which may lack its end,
    /// is damaged.
    pub fn finish(&mut self) -> Result<Option<TraceEntry>, InputError> {
        self.guarded(TraceReader::at_end)
    }

    /// Returns what was met so far.
    #[must_use]
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// The files named so far, for [`Target::File`](super::TraceTarget::File); none where the trace
    /// is one of devices.
    #[must_use]
    pub fn files(&self) -> &[DiskText] {
        match &self.parser {
            FormatParser::Text(_, Text::Iolog(iolog)) => iolog.files.names(),
            _ => &[],
        }
    }

    /// The pending entry, or what `more` gives; after an error, the error.
    fn guarded(
        &mut self,
        more: impl FnOnce(&mut TraceReader) -> Result<Option<Entries>, InputError>,
    ) -> Result<Option<TraceEntry>, InputError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if let Some(entry) = self.pending.take() {
            return Ok(Some(entry));
        }
        let given = more(self).and_then(|entries| self.give(entries));
        if let Err(error) = &given {
            self.failed = Some(error.clone());
        }
        given
    }

    /// Counts `entries`, keeps the second and gives the first.
    fn give(&mut self, entries: Option<Entries>) -> Result<Option<TraceEntry>, InputError> {
        let Some(entries) = entries else { return Ok(None) };
        for entry in entries.iter().flatten() {
            self.notes.give(entry).map_err(of_file)?;
        }
        let [first, second] = entries;
        if first.is_some() {
            self.pending = second;
        }
        Ok(first.or(second))
    }

    /// The next request in `input`.
    fn within(&mut self, input: &mut &[u8]) -> Result<Option<Entries>, InputError> {
        let notes = &mut self.notes;
        match &mut self.parser {
            FormatParser::Records(records) => records.next(input, notes),
            FormatParser::Text(lines, text) => loop {
                let number = lines.number + 1;
                let line = lines.next(input).map_err(|problem| on_line(problem, number))?;
                let Some(line) = line else { return Ok(None) };
                let entries =
                    text.entries(line, notes).map_err(|problem| on_line(problem, number))?;
                if entries[0].is_some() || entries[1].is_some() {
                    return Ok(Some(entries));
                }
            },
        }
    }

    /// The request of a last line without an end.
    fn at_end(&mut self) -> Result<Option<Entries>, InputError> {
        let (lines, text) = match &mut self.parser {
            FormatParser::Records(records) => return records.end().map(|()| None),
            FormatParser::Text(lines, text) => (lines, text),
        };
        let number = lines.number + 1;
        let Some(line) = lines.last() else {
            return if number == 1 { Err(of_file(nothing())) } else { Ok(None) };
        };
        self.notes.cut = true;
        let entries = text.entries(line, &mut self.notes);
        entries.map(Some).map_err(|problem| on_line(problem, number))
    }
}

impl Text {
    fn entries(&mut self, line: &[u8], notes: &mut Notes) -> Result<Entries, InputError> {
        match self {
            Text::Iolog(iolog) => iolog.entry(line, notes).map(|entry| [entry, None]),
            Text::Blkparse(blkparse) => blkparse.entries(line, notes),
        }
    }
}
