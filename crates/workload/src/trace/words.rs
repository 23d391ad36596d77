//! The words of a line, taken from both ends, and the numbers among them.

use super::refusal::{damaged, shown};
use crate::InputError;

/// Rest of a line, without blanks at its ends.
#[derive(Clone, Copy)]
pub(super) struct LineWords<'a> {
    rest: &'a [u8],
}

impl<'a> LineWords<'a> {
    pub(super) fn of(line: &'a [u8]) -> LineWords<'a> {
        LineWords { rest: line.trim_ascii() }
    }

    /// Returns what no word was taken of.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes the first word.
    pub(super) fn first(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest;
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        self.rest = behind.trim_ascii_start();
        (!word.is_empty()).then_some(word)
    }

    /// Takes the last word.
    pub(super) fn last(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest;
        let start = rest.iter().rposition(u8::is_ascii_whitespace).map_or(0, |blank| blank + 1);
        let (before, word) = rest.split_at(start);
        self.rest = before.trim_ascii_end();
        (!word.is_empty()).then_some(word)
    }
}

/// The number that `word` is, in decimal digits alone; `None` where it is none, or above
/// `u64::MAX`.
pub(super) fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

/// The number that `word` is, which `what` names in the error.
pub(super) fn expected(word: &[u8], what: &str) -> Result<u64, InputError> {
    number(word).ok_or_else(|| unreadable(word, what, "a number below 2^64"))
}

/// The number below 2^32 that `word` is.
pub(super) fn expected_u32(word: &[u8], what: &str) -> Result<u32, InputError> {
    number(word)
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| unreadable(word, what, "a number below 2^32"))
}

/// The error that `word`, which `what` names, is not `expects`.
pub(super) fn unreadable(word: &[u8], what: &str, expects: &str) -> InputError {
    damaged(format!("{what} is `{}`, not {expects}", shown(word)))
}

/// The error that `line` ends before what is `missing`.
pub(super) fn missing(line: &[u8], missing: &str) -> InputError {
    damaged(format!("`{}` has no {missing}", shown(line.trim_ascii())))
}
