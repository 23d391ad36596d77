//! Bytes that come in, read as many as there are at once.

use std::io::{self, ErrorKind, Read as _};
use std::time::{Duration, Instant};

use rustix::net::RecvFlags;

use super::NbdStream;

/// Longest look for more bytes without sleep: a client that waits for each reply asks again sooner
/// than a thread that sleeps is woken.
const AWAKE: Duration = Duration::from_micros(50);

/// Length of a buffer.
pub(super) const BUFFER_BYTES: usize = 256 << 10;

/// Bytes that came in and were not taken yet.
pub(super) struct Input<'a> {
    stream: &'a NbdStream,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(stream: &'a NbdStream) -> Input<'a> {
        Input { stream, buffer: vec![0; BUFFER_BYTES].into_boxed_slice(), start: 0, end: 0 }
    }

    /// Returns whether `count` bytes can be taken without waiting.
    pub(super) fn has(&self, count: usize) -> bool {
        self.end - self.start >= count
    }

    /// Takes `N` bytes.
    ///
    /// # Errors
    /// When the connection ends before.
    pub(super) fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        while !self.has(N) {
            self.more()?;
        }
        let taken = self.buffer[self.start..][..N].try_into();
        self.start += N;
        taken.map_err(|_| ErrorKind::UnexpectedEof.into())
    }

    /// Takes the next bytes, at least 1 and at most `most`, which is not 0.
    ///
    /// # Errors
    /// When the connection ends before.
    pub(super) fn piece(&mut self, most: u64) -> io::Result<&[u8]> {
        // Small pieces make many small writes; what is there is taken, and no more waited for.
        if !self.has(1) {
            self.more()?;
        }
        let length = usize::try_from(most).unwrap_or(usize::MAX).min(self.end - self.start);
        let piece = &self.buffer[self.start..][..length];
        self.start += length;
        Ok(piece)
    }

    /// Takes the next bytes: whole multiples of `unit`, which is at most [`BUFFER_BYTES`], and at
    /// most `most`, which is a multiple of it above 0.
    ///
    /// # Errors
    /// When the connection ends before.
    pub(super) fn units(&mut self, unit: u64, most: u64) -> io::Result<&[u8]> {
        while !self.has(usize::try_from(unit).unwrap_or(BUFFER_BYTES)) {
            self.more()?;
        }
        let there = (self.end - self.start) as u64;
        self.piece(most.min(there - there % unit))
    }

    /// Takes `length` bytes and forgets them.
    ///
    /// # Errors
    /// When the connection ends before.
    pub(super) fn skip(&mut self, mut length: u64) -> io::Result<()> {
        while length > 0 {
            length -= self.piece(length)?.len() as u64;
        }
        Ok(())
    }

    /// Looks for more bytes for [`AWAKE`], and then sleeps until some come.
    ///
    /// # Errors
    /// When the connection ends.
    pub(super) fn more_awake(&mut self) -> io::Result<()> {
        self.make_room();
        let since = Instant::now();
        while since.elapsed() < AWAKE {
            let more = &mut self.buffer[self.end..];
            match rustix::net::recv(self.stream, more, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok((count, _)) => {
                    self.end += count;
                    return Ok(());
                }
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.more()
    }

    /// Waits for more bytes.
    fn more(&mut self) -> io::Result<()> {
        self.make_room();
        loop {
            match self.stream.read_into(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.end += count;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
    }
}

impl NbdStream {
    fn read_into(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut stream = self;
        stream.read(buffer)
    }
}
