//! Events that are copied out one by one, with the number of those that found no room.

use std::ffi::CString;
use std::os::fd::AsFd as _;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::error::TracepointError;
use super::event_format::EventFormat;
use super::perf_event::{CountedScope, Purpose, open, set_filter, switch};
use super::processors;
use super::ring::Ring;

/// Events that pass a filter, from a ring of each processor.
#[derive(Debug)]
pub struct TracepointStream {
    format: EventFormat,
    filter: CString,
    ring_bytes: usize,
    rings: Vec<Ring>,
    /// Events that found no room in rings that were given back.
    lost_before: Option<u64>,
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
        let mut stream = TracepointStream {
            format: format.clone(),
            filter: CString::new(filter).expect("filters are made here, without NUL"),
            ring_bytes,
            rings: Vec::new(),
            lost_before: Some(0),
        };
        stream.map()?;
        Ok(stream)
    }

    fn map(&mut self) -> Result<(), TracepointError> {
        let TracepointStream { format, filter, ring_bytes, rings, .. } = self;
        let wake_bytes = u32::try_from(*ring_bytes / 2).unwrap_or(u32::MAX);
        let failed = |attempted| {
            let event = &format.name;
            move |errno| TracepointError::of_call(event, attempted, errno)
        };
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
                Err(errno) => return Err(TracepointError::of_open(&format.name, errno)),
                Ok(file) => file,
            };
            set_filter(file.as_fd(), filter).map_err(failed("setting the filter"))?;
            rings.push(Ring::map(file, *ring_bytes).map_err(failed("mmap of its ring"))?);
        }
        Ok(())
    }

    /// Starts or stops the copying; while it is stopped, an event costs a call that does nothing.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn listen(&mut self, is_on: bool) -> Result<(), TracepointError> {
        if is_on && self.rings.is_empty() {
            self.map()?;
        }
        for ring in &self.rings {
            switch(ring.file.as_fd(), is_on).map_err(|errno| {
                TracepointError::of_call(&self.format.name, "switching the stream", errno)
            })?;
        }
        Ok(())
    }

    /// Gives its rings back until [`listen`](TracepointStream::listen): once nobody has a file of
    /// the event, events cost nothing at all. What was not taken by
    /// [`drain`](TracepointStream::drain) is gone.
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub fn release(&mut self) -> Result<(), TracepointError> {
        self.lost_before = self.lost()?;
        self.rings.clear();
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
        let Some(mut sum) = self.lost_before else { return Ok(None) };
        for ring in &self.rings {
            let mut answer = [0; 16];
            let length = rustix::io::read(&ring.file, &mut answer)
                .map_err(|errno| TracepointError::of_call(&self.format.name, "read", errno))?;
            if length < answer.len() {
                return Ok(None);
            }
            let [.., a, b, c, d, e, f, g, h] = answer;
            sum = sum.saturating_add(u64::from_ne_bytes([a, b, c, d, e, f, g, h]));
        }
        Ok(Some(sum))
    }
}
