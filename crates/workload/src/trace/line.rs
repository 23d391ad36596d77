//! Lines out of pieces of any length.

use super::refusal::damaged;
use crate::InputError;

/// The longest line, in bytes: fio reads no longer one (`iolog.c`, `read_iolog`).
pub const LINE_BYTES_MAX: usize = 4096;

/// Splitter of text into lines: at most one of them is held, and only where a piece ended within
/// it.
#[derive(Debug)]
pub(super) struct LineSplitter {
    /// The line so far.
    held: Vec<u8>,
    /// True if what is held was handed out, and is to be forgotten.
    given: bool,
    /// The line that was handed out last, from 1.
    pub(super) number: u64,
}

impl LineSplitter {
    /// Before the first line, with room for what is held.
    pub(super) fn new() -> LineSplitter {
        LineSplitter { held: Vec::with_capacity(LINE_BYTES_MAX), given: false, number: 0 }
    }

    /// The next line, without its end, taken off `input`; `None` when more is needed, and `input`
    /// is used up.
    ///
    /// # Errors
    /// When the line is longer than [`LINE_BYTES_MAX`].
    pub(super) fn next<'line, 'input: 'line>(
        &'line mut self,
        input: &mut &'input [u8],
    ) -> Result<Option<&'line [u8]>, InputError> {
        if self.given {
            self.held.clear();
            self.given = false;
        }
        let end = input.iter().position(|&byte| byte == b'\n');
        let (line, rest) = input.split_at(end.unwrap_or(input.len()));
        *input = rest.get(1..).unwrap_or_default();
        if line.len() > LINE_BYTES_MAX - self.held.len() {
            self.number += 1;
            return Err(damaged(format!("the line is longer than {LINE_BYTES_MAX} bytes")));
        }
        if end.is_none() {
            self.held.extend_from_slice(line);
            return Ok(None);
        }
        self.number += 1;
        if self.held.is_empty() {
            return Ok(Some(line));
        }
        self.held.extend_from_slice(line);
        self.given = true;
        Ok(Some(&self.held))
    }

    /// The last line, where the file does not end with the end of one.
    pub(super) fn last(&mut self) -> Option<&[u8]> {
        if self.given || self.held.is_empty() {
            return None;
        }
        self.given = true;
        self.number += 1;
        Some(&self.held)
    }
}
