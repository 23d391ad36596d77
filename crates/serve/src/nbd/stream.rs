//! Sockets of both kinds.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

/// A socket that clients connect to.
#[derive(Debug)]
pub enum NbdListener {
    /// On this machine, by a path.
    Unix(UnixListener),
    /// By an address.
    Tcp(TcpListener),
}

/// A connection.
#[derive(Debug)]
pub enum NbdStream {
    /// On this machine.
    Unix(UnixStream),
    /// From an address.
    Tcp(TcpStream),
}

impl NbdListener {
    pub(super) fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            NbdListener::Unix(listener) => listener.set_nonblocking(true),
            NbdListener::Tcp(listener) => listener.set_nonblocking(true),
        }
    }

    /// The next connection, which waits for its bytes.
    pub(super) fn accept(&self) -> io::Result<NbdStream> {
        match self {
            NbdListener::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                Ok(NbdStream::Unix(stream))
            }
            NbdListener::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                // Answers are whole: nothing is gained by waiting for more of them.
                stream.set_nodelay(true)?;
                Ok(NbdStream::Tcp(stream))
            }
        }
    }
}

impl AsFd for NbdListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            NbdListener::Unix(listener) => listener.as_fd(),
            NbdListener::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl AsFd for NbdStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            NbdStream::Unix(stream) => stream.as_fd(),
            NbdStream::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl NbdStream {
    /// The same connection once more.
    pub(super) fn twin(&self) -> io::Result<NbdStream> {
        Ok(match self {
            NbdStream::Unix(stream) => NbdStream::Unix(stream.try_clone()?),
            NbdStream::Tcp(stream) => NbdStream::Tcp(stream.try_clone()?),
        })
    }

    /// Ends it in both directions, for all who have it.
    pub(super) fn close(&self) {
        // It may have ended by itself.
        let _ = match self {
            NbdStream::Unix(stream) => stream.shutdown(Shutdown::Both),
            NbdStream::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    /// Limits the time that a read or a write may wait; `None` for ever.
    pub(super) fn limit_waits(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            NbdStream::Unix(stream) => {
                stream.set_read_timeout(limit)?;
                stream.set_write_timeout(limit)
            }
            NbdStream::Tcp(stream) => {
                stream.set_read_timeout(limit)?;
                stream.set_write_timeout(limit)
            }
        }
    }
}

impl Read for &NbdStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            NbdStream::Unix(stream) => (&*stream).read(buffer),
            NbdStream::Tcp(stream) => (&*stream).read(buffer),
        }
    }
}

impl Write for &NbdStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            NbdStream::Unix(stream) => (&*stream).write(bytes),
            NbdStream::Tcp(stream) => (&*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
