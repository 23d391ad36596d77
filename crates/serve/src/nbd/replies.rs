//! Answers that go out, as many as there are in one call.

use std::io::{self, Write as _};

use super::input::BUFFER_BYTES;
use super::wire::SIMPLE_REPLY;
use super::{NbdExport, NbdStream};
use crate::ServeFault;

/// Answer to a request, ready to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) cookie: u64,
    /// An error of the protocol, which are those of Linux; 0 for none.
    pub(super) error: u32,
    /// First byte and length of the data, where it was a read.
    pub(super) read: Option<(u64, u64)>,
}

/// The way out of a connection.
pub(super) struct Replies<'a> {
    stream: &'a NbdStream,
    export: &'a NbdExport,
    out: Vec<u8>,
}

impl Reply {
    /// The number for `fault` of a request; reads and trims have no word for a full drive.
    pub(super) fn error(fault: ServeFault, writes: bool) -> u32 {
        match fault {
            ServeFault::Bounds if !writes => 22,
            fault => fault.errno().unsigned_abs(),
        }
    }
}

impl<'a> Replies<'a> {
    pub(super) fn new(stream: &'a NbdStream, export: &'a NbdExport) -> Replies<'a> {
        Replies { stream, export, out: Vec::with_capacity(BUFFER_BYTES + 64) }
    }

    /// Adds a reply; sends some where there are too many.
    ///
    /// # Errors
    /// When the connection ends, or a read fails after its head was sent.
    pub(super) fn add(&mut self, reply: Reply) -> io::Result<()> {
        let head = self.out.len();
        self.out.extend(SIMPLE_REPLY.to_be_bytes());
        self.out.extend(reply.error.to_be_bytes());
        self.out.extend(reply.cookie.to_be_bytes());
        let Some((mut offset, mut left)) = reply.read.filter(|_| reply.error == 0) else {
            return self.send_above(BUFFER_BYTES);
        };
        let mut is_first = true;
        while left > 0 {
            if self.out.len() >= BUFFER_BYTES {
                self.send_above(0)?;
                is_first = false;
            }
            let at = self.out.len();
            let room = BUFFER_BYTES.saturating_sub(at).max(4096) as u64;
            let length = usize::try_from(left.min(room)).unwrap_or(0);
            self.out.resize(at + length, 0);
            if let Err(fault) = self.export.drive.store().read(offset, &mut self.out[at..]) {
                if !is_first {
                    return Err(io::Error::other(fault));
                }
                self.out.truncate(head);
                return self.add(Reply { error: Reply::error(fault, false), ..reply });
            }
            offset += length as u64;
            left -= length as u64;
        }
        self.send_above(BUFFER_BYTES)
    }

    /// Sends all, where there are more than `bytes`.
    pub(super) fn send_above(&mut self, bytes: usize) -> io::Result<()> {
        if self.out.len() > bytes {
            let mut stream = self.stream;
            stream.write_all(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }
}
