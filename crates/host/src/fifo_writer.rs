//! A FIFO that another program reads, opened for writing without waiting for that program.
//!
//! A blocking open(2) waits for a reader and a blocking write(2) for room, and the standard library
//! starts both again after a signal. Source: fifo(7), pipe(7), signal(7).

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

/// A FIFO that is open for writing.
#[derive(Debug)]
pub struct FifoWriter(File);

impl FifoWriter {
    /// Opens the FIFO at `path`; `None` where nobody reads it.
    ///
    /// # Errors
    /// When it cannot be opened, or is no FIFO.
    pub fn open(path: &Path) -> io::Result<Option<FifoWriter>> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = match rustix::fs::open(path, flags, Mode::empty()) {
            Err(Errno::NXIO) => return Ok(None),
            opened => opened?,
        };
        if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::Fifo {
            return Err(io::Error::other("not a FIFO"));
        }
        Ok(Some(FifoWriter(File::from(file))))
    }

    /// Writes all of `bytes`, and waits for room where the reader is slow.
    ///
    /// # Errors
    /// When the reader is gone (`BrokenPipe`), or a signal comes while this waits (`Interrupted`).
    pub fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.0.write(bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], None)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
