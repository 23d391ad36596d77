//! Events that are copied out one by one, with the number of those that found no room.

use std::ffi::CString;
use std::os::fd::AsFd as _;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::counter::CountedScope;
use super::error::TracepointError;
use super::event_format::EventFormat;
use super::perf_event::{Purpose, open, set_filter, switch};
use super::processors;
use super::ring::Ring;

/// Events that pass a filter, from a ring of each processor.
#[derive(Debug)]
pub struct TracepointStream {
    event: String,
    rings: Vec<Ring>,
}

impl TracepointStream {
    /// Makes ready for the events of `format` on the whole machine that pass `filter`, with a ring
    /// of `ring_bytes` for each processor: a power of two of at least a page. None is copied before
    /// [`listen`](TracepointStream::listen).
    ///
    /// # Errors
    /// When this process may not copy events, the filter names a field that the event lacks, or
    /// there is no memory that may be locked.
    pub fn open(
        format: &EventFormat,
        filter: &str,
        ring_bytes: usize,
    ) -> Result<TracepointStream, TracepointError> {
        let event = format.name.clone();
        let filter = CString::new(filter).expect("filters are made here, without NUL");
        let wake_bytes = u32::try_from(ring_bytes / 2).unwrap_or(u32::MAX);
        let mut rings = Vec::new();
        for processor in processors::online() {
            let opened = |tells_lost| {
                let purpose = Purpose::Copy { wake_bytes, tells_lost };
                open(format.id, &CountedScope::Machine, Some(processor), purpose)
            };
            let told = match opened(true) {
                Err(Errno::INVAL) => opened(false),
                told => told,
            };
            let file = match told {
                Err(Errno::NODEV) => continue,
                Err(errno) => return Err(TracepointError::of_open(&event, errno)),
                Ok(file) => file,
            };
            set_filter(file.as_fd(), &filter)
                .map_err(|errno| TracepointError::of_call(&event, "setting the filter", errno))?;
            let ring = Ring::map(file, ring_bytes)
                .map_err(|errno| TracepointError::of_call(&event, "mmap of its ring", errno))?;
            rings.push(ring);
        }
        Ok(TracepointStream { event, rings })
    }

    /// Starts or stops the copying; while it is stopped, events cost nothing.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn listen(&self, is_on: bool) -> Result<(), TracepointError> {
        for ring in &self.rings {
            switch(ring.file.as_fd(), is_on).map_err(|errno| {
                TracepointError::of_call(&self.event, "switching the stream", errno)
            })?;
        }
        Ok(())
    }

    /// Waits until half a ring is full or `longest` is over, whichever comes first.
    pub fn wait(&self, longest: Duration) {
        let mut files: Vec<PollFd<'_>> =
            self.rings.iter().map(|ring| PollFd::new(&ring.file, PollFlags::IN)).collect();
        let timeout = Timespec {
            tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: longest.subsec_nanos().into(),
        };
        // A signal ends the wait early, which the caller's clock sees.
        let _ = poll(&mut files, Some(&timeout));
    }

    /// Hands each event that is there to `take`: its time by the monotonic clock in nanoseconds,
    /// and its raw record. Those of one processor come in order.
    pub fn drain(&mut self, mut take: impl FnMut(u64, &[u8])) {
        for ring in &mut self.rings {
            ring.drain(&mut take);
        }
    }

    /// The number of events since the start that passed the filter and found no room; `None` where
    /// the kernel does not count them (before Linux 6.0).
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub fn lost(&self) -> Result<Option<u64>, TracepointError> {
        let mut sum = 0_u64;
        for ring in &self.rings {
            let mut answer = [0; 16];
            let length = rustix::io::read(&ring.file, &mut answer)
                .map_err(|errno| TracepointError::of_call(&self.event, "read", errno))?;
            if length < answer.len() {
                return Ok(None);
            }
            let [.., a, b, c, d, e, f, g, h] = answer;
            sum = sum.saturating_add(u64::from_ne_bytes([a, b, c, d, e, f, g, h]));
        }
        Ok(Some(sum))
    }
}
