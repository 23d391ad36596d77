//! Events that are counted in the kernel: none is copied, none is lost.

use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::io::Errno;

use super::error::TracepointError;
use super::event_format::EventFormat;
use super::perf_event::{CountedScope, Purpose, open, set_filter, switch};
use super::processors;

/// Number of times that an event passed a filter, added up over the processors.
#[derive(Debug)]
pub struct TracepointCounter {
    format: EventFormat,
    filter: CString,
    files: Vec<OwnedFd>,
    /// True if it counts for everybody, so that it can begin again at any time.
    is_of_machine: bool,
    /// The count of files that were closed.
    before: u64,
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
        let mut counter = TracepointCounter {
            format: format.clone(),
            filter: CString::new(filter).expect("filters are made here, without NUL"),
            files: Vec::new(),
            is_of_machine: matches!(scope, CountedScope::Machine),
            before: 0,
        };
        counter.begin(scope)?;
        Ok(counter)
    }

    fn begin(&mut self, scope: CountedScope<'_>) -> Result<(), TracepointError> {
        let event = &self.format.name;
        for processor in processors_of(scope) {
            let file = match open(self.format.id, &scope, processor, Purpose::Count) {
                // It went offline meanwhile.
                Err(Errno::NODEV) => continue,
                Err(errno) => return Err(TracepointError::of_open(event, errno)),
                Ok(file) => file,
            };
            if !self.filter.is_empty() {
                set_filter(file.as_fd(), &self.filter).map_err(|errno| {
                    TracepointError::of_call(event, "setting the filter", errno)
                })?;
            }
            self.files.push(file);
        }
        self.switch(true)
    }

    /// Starts or stops the counting; while it is stopped, an event costs a call that does nothing.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn listen(&mut self, is_on: bool) -> Result<(), TracepointError> {
        if is_on && self.is_of_machine && self.files.is_empty() {
            return self.begin(CountedScope::Machine);
        }
        self.switch(is_on)
    }

    fn switch(&self, is_on: bool) -> Result<(), TracepointError> {
        for file in &self.files {
            switch(file.as_fd(), is_on).map_err(|errno| {
                TracepointError::of_call(&self.format.name, "switching the counter", errno)
            })?;
        }
        Ok(())
    }

    /// Stops the counting until [`listen`](TracepointCounter::listen), and closes the files of one
    /// that counts for everybody: once nobody has a file of the event, events cost nothing at all.
    ///
    /// # Errors
    /// When the kernel refuses, or does not answer.
    pub fn release(&mut self) -> Result<(), TracepointError> {
        self.switch(false)?;
        if self.is_of_machine {
            self.before = self.count()?;
            self.files.clear();
        }
        Ok(())
    }

    /// The count since it was opened, without the time for which it was stopped.
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub fn count(&self) -> Result<u64, TracepointError> {
        let mut sum = self.before;
        for file in &self.files {
            let mut answer = [0; 8];
            let read = rustix::io::read(file, &mut answer)
                .map_err(|errno| TracepointError::of_call(&self.format.name, "read", errno))?;
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
