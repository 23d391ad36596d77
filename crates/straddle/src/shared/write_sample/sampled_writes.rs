//! Writes to a device that were copied out, each with the thread that handed it in.
//!
//! All are copied out until there are enough of this second; then nobody listens until the next.
//! So a quiet device is seen whole, and a busy one costs no more than a bounded number of copies.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use host::block_events::{
    BlockEvents, BlockLevel, BlockRecord, BlockShape, Direction, RecordFields, SECTOR_BYTES,
};
use host::engine::now_ns;
use host::process::{ThreadOwner, thread_owner};
use host::tracepoint::{TracepointError, TracepointStream};
use measure::live::{RequestWriters, SectorRange};
use units::text;

use super::sampled_device::SampledDevice;

/// Most threads whose processes are remembered.
const OWNERS_MAX: usize = 65_536;

/// Number and name of a thread, as they stand in the events.
type Thread = (u32, String);

/// Bounds of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleBounds {
    /// Copies of a second after which nobody listens until the next.
    pub(crate) copies_a_second: usize,
    /// Room for the events of one processor, in bytes.
    pub(crate) ring_bytes: usize,
    /// Shape of the writes.
    pub(crate) shape: BlockShape,
    /// True to see bios even of a device that has requests: a request may be sent by any thread.
    pub(crate) is_by_bios: bool,
}

/// One write.
#[derive(Clone, Debug)]
pub(crate) struct SampledWrite {
    /// Its first byte on the device.
    pub(crate) start_bytes: u64,
    /// Its length in bytes.
    pub(crate) length_bytes: u64,
    /// The process that handed it in; `None` where that is not known, or has ended.
    pub(crate) owner: Option<ThreadOwner>,
    /// Name of the thread as the event has it; `None` where nobody was seen to hand it in.
    thread_name: Option<String>,
}

impl SampledWrite {
    /// Returns the name of the process that handed it in, harmless to print; `None` where nobody
    /// was seen to.
    pub(crate) fn process_name(&self) -> Option<String> {
        match (&self.owner, &self.thread_name) {
            (Some(owner), _) if owner.is_kernel => Some(kernel_name(&owner.name)),
            (Some(owner), _) => Some(owner.name.clone()),
            // It ended before it could be looked at.
            (None, Some(name)) => Some(text::escape(name.as_bytes())),
            (None, None) => None,
        }
    }
}

/// The writes to one device.
pub(crate) struct SampledWrites<'a> {
    bounds: SampleBounds,
    bios: TracepointStream,
    bio_fields: RecordFields<'a>,
    /// `None` where bios are seen alone.
    requests: Option<(TracepointStream, RecordFields<'a>)>,
    writers: RequestWriters<Thread>,
    owners: BTreeMap<u32, Option<ThreadOwner>>,
    pending_bios: Vec<BlockRecord>,
    pending_requests: Vec<BlockRecord>,
    copies: usize,
    since_ns: Option<u64>,
    taken_ns: u64,
}

impl<'a> SampledWrites<'a> {
    /// Makes ready for `device`; nobody listens before the first second begins.
    pub(crate) fn open(
        events: &'a BlockEvents,
        device: &SampledDevice,
        bounds: SampleBounds,
    ) -> Result<SampledWrites<'a>, TracepointError> {
        let stream = |level| {
            let filter = device.filter(level, Direction::Write, bounds.shape);
            events.stream(&filter, bounds.ring_bytes)
        };
        let requests = match device.has_requests && !bounds.is_by_bios {
            true => Some((stream(BlockLevel::Requests)?, events.fields(BlockLevel::Requests))),
            false => None,
        };
        Ok(SampledWrites {
            bounds,
            bios: stream(BlockLevel::Bios)?,
            bio_fields: events.fields(BlockLevel::Bios),
            requests,
            writers: RequestWriters::default(),
            owners: BTreeMap::new(),
            pending_bios: Vec::new(),
            pending_requests: Vec::new(),
            copies: 0,
            since_ns: None,
            taken_ns: 0,
        })
    }

    /// Begins a second: listens again. The number of a thread may be another's by now.
    pub(crate) fn begin_second(&mut self) -> Result<(), TracepointError> {
        self.copies = 0;
        self.owners.clear();
        self.listen(true)
    }

    fn listen(&mut self, is_on: bool) -> Result<(), TracepointError> {
        if self.since_ns.is_some() == is_on {
            return Ok(());
        }
        // Bios first on, and last off: a request's pieces are handed in before it is sent.
        if is_on {
            self.bios.listen(true)?;
        }
        if let Some((requests, _)) = &mut self.requests {
            requests.listen(is_on)?;
        }
        if !is_on {
            self.bios.listen(false)?;
        }
        let now_ns = now_ns();
        match self.since_ns.take() {
            None => self.since_ns = Some(now_ns),
            Some(since_ns) => self.taken_ns += now_ns - since_ns,
        }
        Ok(())
    }

    /// Waits for copies, at most for `longest`.
    pub(crate) fn wait(&self, longest: Duration) {
        match &self.requests {
            Some((requests, _)) => requests.wait(longest),
            None => self.bios.wait(longest),
        }
    }

    /// Listens no more until the next second; returns the processes that wrote for the first time.
    pub(crate) fn rest(&mut self) -> Result<BTreeSet<u32>, TracepointError> {
        if self.since_ns.is_none() {
            return Ok(BTreeSet::new());
        }
        self.listen(false)?;
        self.drain()
    }

    /// The same, and leaves nothing in the kernel until the next second.
    pub(crate) fn pause(&mut self) -> Result<BTreeSet<u32>, TracepointError> {
        let processes = self.rest()?;
        self.bios.release()?;
        if let Some((requests, _)) = &mut self.requests {
            requests.release()?;
        }
        Ok(processes)
    }

    /// Takes what was copied out, and stops listening once there is enough of this second. Returns
    /// the processes that wrote for the first time, without threads of the kernel.
    pub(crate) fn drain(&mut self) -> Result<BTreeSet<u32>, TracepointError> {
        let (bios, fields) = (&mut self.pending_bios, self.bio_fields);
        self.bios.drain(|time_ns, raw| bios.extend(fields.record(time_ns, raw)));
        if let Some((stream, fields)) = &mut self.requests {
            let (requests, fields) = (&mut self.pending_requests, *fields);
            stream.drain(|time_ns, raw| requests.extend(fields.record(time_ns, raw)));
        }
        let mut processes = self.new_processes();
        let copies = self.pending_bios.len() + self.pending_requests.len();
        if self.since_ns.is_some() && self.copies + copies >= self.bounds.copies_a_second {
            // What came between the last look and the end of listening.
            processes.extend(self.rest()?);
        }
        Ok(processes)
    }

    /// Looks at those who handed a bio in for the first time: they may end soon.
    fn new_processes(&mut self) -> BTreeSet<u32> {
        let mut processes = BTreeSet::new();
        for bio in &self.pending_bios {
            if self.owners.len() < OWNERS_MAX && !self.owners.contains_key(&bio.thread) {
                let owner = thread_owner(bio.thread);
                processes.extend(owner.iter().filter(|one| !one.is_kernel).map(|one| one.process));
                self.owners.insert(bio.thread, owner);
            }
        }
        processes
    }

    /// Ends a second: returns the writes that were copied out in it, in the order of time.
    pub(crate) fn end_second(&mut self) -> Result<Vec<SampledWrite>, TracepointError> {
        self.drain()?;
        let bios = std::mem::take(&mut self.pending_bios);
        let requests = std::mem::take(&mut self.pending_requests);
        self.copies += bios.len() + requests.len();
        let mut writes = Vec::new();
        if self.requests.is_none() {
            for bio in bios {
                let thread = (bio.thread, bio.command.clone());
                writes.push(self.write(&bio, Some(thread)));
            }
            return Ok(writes);
        }
        let mut order: Vec<(BlockRecord, bool)> =
            bios.into_iter().map(|bio| (bio, false)).collect();
        order.extend(requests.into_iter().map(|request| (request, true)));
        order.sort_by_key(|(record, is_request)| (record.time_ns, *is_request));
        for (record, is_request) in order {
            let range = SectorRange {
                start: record.sector,
                end: record.sector.saturating_add(record.sectors),
            };
            if is_request {
                let writer = self.writers.writer(range).cloned();
                writes.push(self.write(&record, writer));
            } else {
                self.writers.hand_in(range, &(record.thread, record.command));
            }
        }
        Ok(writes)
    }

    fn write(&mut self, record: &BlockRecord, thread: Option<Thread>) -> SampledWrite {
        let owner = thread.as_ref().and_then(|(number, _)| {
            self.owners.entry(*number).or_insert_with(|| thread_owner(*number)).clone()
        });
        SampledWrite {
            start_bytes: record.sector.saturating_mul(SECTOR_BYTES),
            length_bytes: record.sectors.saturating_mul(SECTOR_BYTES),
            owner,
            thread_name: thread.map(|(_, name)| name),
        }
    }

    /// Returns how many events found no room so far; `None` where the kernel does not count them.
    pub(crate) fn lost(&self) -> Result<Option<u64>, TracepointError> {
        match &self.requests {
            None => self.bios.lost(),
            Some((requests, _)) => requests.lost(),
        }
    }

    /// Returns the time in which somebody listened so far, in nanoseconds.
    pub(crate) fn taken_ns(&self) -> u64 {
        self.taken_ns + self.since_ns.map_or(0, |since_ns| now_ns() - since_ns)
    }
}

/// The name of a thread of the kernel without what changes all the time: `kworker/u8:2+flush-7:0`
/// is one of many that do the same.
fn kernel_name(name: &str) -> String {
    match name.split_once('/') {
        Some(("kworker", _)) => "kworker".to_owned(),
        _ => name.to_owned(),
    }
}
