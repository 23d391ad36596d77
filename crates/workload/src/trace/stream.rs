//! A trace out of a function that reads.

use thiserror::Error;

use super::entry::TraceEntry;
use super::format::{HEAD_BYTES, TraceFormat};
use super::reader::TraceReader;
use super::request::Stage;
use crate::InputError;

/// Bytes that are asked for at once.
pub const CHUNK_BYTES: usize = 64 << 10;

/// Why a stream ends early.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StreamError<E> {
    /// The input could not be read.
    #[error("{0}")]
    Feed(E),
    /// The input is no sound trace.
    #[error("{0}")]
    Trace(InputError),
}

/// The entries of a trace that a function reads: `feed` fills the front of the buffer that it is
/// given, and says how much it filled; 0 is the trace's end. As an iterator it ends at the trace's
/// end, or behind an error.
#[derive(Debug)]
pub struct TraceStream<F> {
    feed: F,
    format: TraceFormat,
    reader: TraceReader,
    buffer: Box<[u8]>,
    /// Part of the buffer that is still to be read.
    unread: std::ops::Range<usize>,
    /// True if the feed has ended, or failed.
    ended: bool,
    done: bool,
}

impl<E, F: FnMut(&mut [u8]) -> Result<usize, E>> TraceStream<F> {
    /// A stream of what `feed` reads, whose beginning tells its format.
    ///
    /// # Errors
    /// When it cannot be read, or its beginning is that of no trace ([`TraceFormat::of`]).
    pub fn open(mut feed: F, stage: Stage) -> Result<TraceStream<F>, StreamError<E>> {
        let mut buffer = vec![0; CHUNK_BYTES].into_boxed_slice();
        let (mut filled, mut ended) = (0, false);
        while filled < HEAD_BYTES && !ended {
            let read = feed(&mut buffer[filled..]).map_err(StreamError::Feed)?;
            filled = (filled + read).min(CHUNK_BYTES);
            ended = read == 0;
        }
        let format = TraceFormat::of(&buffer[..filled]).map_err(StreamError::Trace)?;
        let reader = TraceReader::new(format, stage);
        Ok(TraceStream { feed, format, reader, buffer, unread: 0..filled, ended, done: false })
    }

    /// Returns what kind of trace it is.
    pub fn format(&self) -> TraceFormat {
        self.format
    }

    /// Its reader, with what was met so far.
    pub fn reader(&self) -> &TraceReader {
        &self.reader
    }

    /// The next entry; `None` at the end.
    fn entry(&mut self) -> Result<Option<TraceEntry>, StreamError<E>> {
        loop {
            let mut input = &self.buffer[self.unread.clone()];
            let entry = self.reader.next(&mut input).map_err(StreamError::Trace)?;
            self.unread.start = self.unread.end - input.len();
            if entry.is_some() {
                return Ok(entry);
            }
            if self.ended {
                return self.reader.finish().map_err(StreamError::Trace);
            }
            let read = (self.feed)(&mut self.buffer).map_err(StreamError::Feed)?;
            self.unread = 0..read.min(CHUNK_BYTES);
            self.ended = read == 0;
        }
    }
}

impl<E, F: FnMut(&mut [u8]) -> Result<usize, E>> Iterator for TraceStream<F> {
    type Item = Result<TraceEntry, StreamError<E>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let entry = self.entry();
        self.done = !matches!(entry, Ok(Some(_)));
        entry.transpose()
    }
}
