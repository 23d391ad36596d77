//! Errors of the kernel, as text.

use std::io;

use rustix::io::Errno;

/// Text of `error`, as strerror(3) has it, with its number.
pub(crate) fn text_of(error: Errno) -> String {
    io::Error::from(error).to_string()
}
