//! Errors of the kernel, as text.

use std::io;

use rustix::io::Errno;

/// Text of `error`, as strerror(3) has it, with its number.
pub(crate) fn text_of(error: Errno) -> String {
    io::Error::from(error).to_string()
}

/// The same without its number, which says nothing that the words do not.
pub(crate) fn words_of(error: Errno) -> String {
    text_of(error).split(" (os error ").next().unwrap_or_default().to_owned()
}
