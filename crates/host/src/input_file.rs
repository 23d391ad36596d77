//! Files that a user names to be read: opened without waiting, refused where they are no regular
//! files, and read no further than a bound.
//!
//! A FIFO without a writer would be waited for, a device has no end, and opening one may do
//! something. Source: open(2), fifo(7).

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use thiserror::Error;
use units::prefix::Size;

/// Why there is nothing to read.
#[derive(Debug, Error)]
pub enum InputError {
    /// It cannot be opened or read; the kernel's words.
    #[error("{0}")]
    Io(io::Error),
    /// It is a directory.
    #[error("is a directory, not a file")]
    Directory,
    /// It is a FIFO, a device or a socket.
    #[error("not a regular file")]
    NotAFile,
    /// It goes on after the bound.
    #[error("longer than {}", Size(*.bytes_max))]
    TooLong {
        /// The bound.
        bytes_max: u64,
    },
}

impl From<io::Error> for InputError {
    fn from(error: io::Error) -> InputError {
        InputError::Io(error)
    }
}

/// The regular file at `path`, open for reading.
///
/// # Errors
/// When it cannot be opened, or is no regular file, which is then not opened.
pub fn open_input(path: &Path) -> Result<File, InputError> {
    // Asked before, since opening a device may do something; and again, since it may change.
    regular(rustix::fs::stat(path).map_err(io::Error::from)?.st_mode)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from)?;
    regular(rustix::fs::fstat(&file).map_err(io::Error::from)?.st_mode)?;
    Ok(File::from(file))
}

fn regular(mode: u32) -> Result<(), InputError> {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(InputError::Directory),
        _ => Err(InputError::NotAFile),
    }
}

/// All that the regular file at `path` holds, `bytes_max` at most.
///
/// # Errors
/// Same as [`open_input`], when it cannot be read, and when it is longer.
pub fn read_input(path: &Path, bytes_max: u64) -> Result<Vec<u8>, InputError> {
    bounded(open_input(path)?, bytes_max)
}

/// All that `from` gives, `bytes_max` at most.
///
/// # Errors
/// When it cannot be read, and when it gives more.
pub fn bounded(from: impl Read, bytes_max: u64) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    from.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()).is_ok_and(|length| length <= bytes_max) {
        true => Ok(bytes),
        false => Err(InputError::TooLong { bytes_max }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting_and_a_long_one_is_not_read_whole() {
        let scratch = testkit::Scratch::new();
        let (fifo, file) = (scratch.path().join("fifo"), scratch.file("file", b"12345678"));
        testkit::tool::run("mkfifo", &[testkit::scratch::text(&fifo)]);
        let said = |path: &Path| read_input(path, 8).unwrap_err().to_string();
        assert_eq!(said(&fifo), "not a regular file");
        assert_eq!(said(Path::new("/dev/zero")), "not a regular file");
        assert_eq!(said(scratch.path()), "is a directory, not a file");
        assert!(said(Path::new("/nonexistent")).contains("No such file"));
        assert_eq!(read_input(&file, 8).unwrap(), b"12345678");
        assert_eq!(read_input(&file, 7).unwrap_err().to_string(), "longer than 7 B");
        assert!(matches!(bounded(io::repeat(0), 100), Err(InputError::TooLong { bytes_max: 100 })));
    }
}
