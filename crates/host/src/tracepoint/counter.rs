//! Events that are counted in the kernel: none is copied, none is lost.

use std::ffi::CString;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use super::error::TracepointError;
use super::event_format::EventFormat;
use super::perf_event::{Purpose, open, set_filter, switch};
use super::processors;

/// Those whose events are counted.
#[derive(Clone, Copy, Debug)]
pub enum CountedScope<'a> {
    /// Everything on this machine.
    Machine,
    /// Work of threads of the control group (cgroup v2) with this directory.
    Group(BorrowedFd<'a>),
    /// Work of one thread, and of those that it starts later.
    Thread(u32),
}

/// Number of times that an event passed a filter, added up over the processors.
#[derive(Debug)]
pub struct TracepointCounter {
    event: String,
    files: Vec<OwnedFd>,
}

impl TracepointCounter {
    /// Counts, from now on, the events of `format` in `scope` that pass `filter`.
    ///
    /// # Errors
    /// When this process may not count, the filter names a field that the event lacks, or there are
    /// no more files: it takes one for each processor, or one for a thread.
    pub fn open(
        format: &EventFormat,
        filter: &str,
        scope: CountedScope<'_>,
    ) -> Result<TracepointCounter, TracepointError> {
        let event = format.name.clone();
        let filter = CString::new(filter).expect("filters are made here, without NUL");
        let mut files = Vec::new();
        for processor in processors_of(scope) {
            let file = match open(format.id, &scope, processor, Purpose::Count) {
                // It went offline meanwhile.
                Err(Errno::NODEV) => continue,
                Err(errno) => return Err(TracepointError::of_open(&event, errno)),
                Ok(file) => file,
            };
            let failed = |attempted| {
                let event = event.clone();
                move |errno| TracepointError::of_call(&event, attempted, errno)
            };
            if !filter.is_empty() {
                set_filter(file.as_fd(), &filter).map_err(failed("setting the filter"))?;
            }
            switch(file.as_fd(), true).map_err(failed("starting the counter"))?;
            files.push(file);
        }
        Ok(TracepointCounter { event, files })
    }

    /// Starts or stops the counting; while it is stopped, events cost nothing and do not count.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn listen(&self, is_on: bool) -> Result<(), TracepointError> {
        for file in &self.files {
            switch(file.as_fd(), is_on).map_err(|errno| {
                TracepointError::of_call(&self.event, "switching the counter", errno)
            })?;
        }
        Ok(())
    }

    /// The count since it was opened, without the time for which it was stopped.
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub fn count(&self) -> Result<u64, TracepointError> {
        let mut sum = 0_u64;
        for file in &self.files {
            let mut answer = [0; 8];
            let read = rustix::io::read(file, &mut answer)
                .map_err(|errno| TracepointError::of_call(&self.event, "read", errno))?;
            if read == answer.len() {
                sum = sum.saturating_add(u64::from_ne_bytes(answer));
            }
        }
        Ok(sum)
    }
}

/// The processors on which a counter is needed; one that is any of them for a thread.
fn processors_of(scope: CountedScope<'_>) -> Vec<Option<u32>> {
    match scope {
        CountedScope::Thread(_) => vec![None],
        _ => processors::online().into_iter().map(Some).collect(),
    }
}
