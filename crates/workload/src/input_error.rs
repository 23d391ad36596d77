//! Why an input is refused.

use std::fmt;

use thiserror::Error;

/// An input that cannot be used: why, with the place, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct InputError {
    message: String,
    hint: String,
}

impl InputError {
    /// The error that says `message`, a harmless line, about which `hint` says what to do.
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> InputError {
        InputError { message: message.into(), hint: hint.into() }
    }

    /// The error with its place before it.
    pub(crate) fn within(self, place: impl fmt::Display) -> InputError {
        InputError { message: format!("{place}{}", self.message), ..self }
    }

    /// Returns what to do about it, in one line.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }
}
