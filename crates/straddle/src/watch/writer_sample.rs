//! A sample of the writes off the granule of a device: who handed each in, and to what.
//!
//! All are copied out until there are enough of this second; then nobody listens until the next.
//! So a quiet device is seen whole, and a busy one costs no more than a bounded number of copies.
//! Nor does anybody listen once the device had many operations in this second, whatever they are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use host::block_events::{
    BlockEvents, BlockLevel, BlockRecord, Direction, RecordFields, SECTOR_BYTES,
};
use host::engine::now_ns;
use host::process::{ThreadOwner, open_for_writing, processes, thread_owner};
use host::tracepoint::{TracepointError, TracepointStream};
use measure::live::{
    OffWrite, OffWriteTally, OffWriter, Region, RequestWriters, SectorRange, WriterIdentity,
};
use report::watch::OffSample;
use units::{Unit, text};

use super::off_counters::filter;
use super::watched_devices::WatchedNode;
use super::written_places::{WrittenPlace, WrittenPlaces};
use crate::shared::inspected_machine::InspectedMachine;

/// Copies of a second after which nobody listens until the next.
const COPIES_A_SECOND: usize = 2000;
/// The same where only some processes count: what others write is copied too.
const COPIES_OF_SOME: usize = 20_000;
/// Room for the events of one processor, in bytes.
const RING_BYTES: usize = 128 << 10;
/// Most processes whose open files are looked at where the writer is a thread of the kernel.
const PROCESSES_MAX: usize = 512;
/// Most processes of a second whose open files are looked at as soon as they write: they may end
/// before the second does.
const EARLY_LOOKS: u32 = 32;
/// Most threads whose processes are remembered.
const OWNERS_MAX: usize = 65_536;
/// Least time between two looks at the open files of one process: less than a second, so that each
/// second's writes are looked up after they were made.
const LOOK_AGAIN_NS: u64 = 500_000_000;

/// Number and name of a thread, as they stand in the events.
type Thread = (u32, String);

/// The sample of one device.
pub(super) struct WriterSample<'a> {
    granule: Unit,
    bios: TracepointStream,
    bio_fields: RecordFields<'a>,
    /// `None` on a device that has no requests, and where only some processes count: their bios do.
    requests: Option<(TracepointStream, RecordFields<'a>)>,
    places: WrittenPlaces<'a>,
    writers: RequestWriters<Thread>,
    owners: BTreeMap<u32, Option<ThreadOwner>>,
    looked_ns: BTreeMap<u32, u64>,
    tally: OffWriteTally<WriterIdentity>,
    pending_bios: Vec<BlockRecord>,
    pending_requests: Vec<BlockRecord>,
    copies: usize,
    early_looks: u32,
    since_ns: Option<u64>,
    taken_ns: u64,
    /// Only what these processes hand in; all where it is `None`.
    only: Option<BTreeSet<u32>>,
}

impl<'a> WriterSample<'a> {
    /// Makes ready for `device`, whose granule is known; `only` names the processes that count.
    pub(super) fn open(
        events: &'a BlockEvents,
        inspected: &'a InspectedMachine,
        device: &WatchedNode,
        granule: Unit,
        only: Option<BTreeSet<u32>>,
    ) -> Result<WriterSample<'a>, TracepointError> {
        let is_plain = granule.origin_bytes() == 0 && granule.length_bytes().is_power_of_two();
        let off_bytes = is_plain.then_some(granule.length_bytes());
        let stream =
            |level| events.stream(&filter(device, level, Direction::Write, off_bytes), RING_BYTES);
        let requests = match device.has_requests && only.is_none() {
            true => Some((stream(BlockLevel::Requests)?, events.fields(BlockLevel::Requests))),
            false => None,
        };
        let mut places = WrittenPlaces::of(inspected, device.number);
        places.learn_swap_files();
        Ok(WriterSample {
            granule,
            bios: stream(BlockLevel::Bios)?,
            bio_fields: events.fields(BlockLevel::Bios),
            requests,
            places,
            writers: RequestWriters::default(),
            owners: BTreeMap::new(),
            looked_ns: BTreeMap::new(),
            tally: OffWriteTally::new(granule),
            pending_bios: Vec::new(),
            pending_requests: Vec::new(),
            copies: 0,
            early_looks: 0,
            since_ns: None,
            taken_ns: 0,
            only,
        })
    }

    /// Begins a second: listens again. The number of a thread may be another's by now.
    pub(super) fn begin_second(&mut self) -> Result<(), TracepointError> {
        (self.copies, self.early_looks) = (0, 0);
        self.owners.clear();
        self.places.forget_files();
        self.listen(true)
    }

    /// Listens no more until the next second.
    pub(super) fn rest(&mut self) -> Result<(), TracepointError> {
        if self.since_ns.is_some() {
            self.listen(false)?;
            self.drain()?;
        }
        Ok(())
    }

    fn listen(&mut self, is_on: bool) -> Result<(), TracepointError> {
        if self.since_ns.is_some() == is_on {
            return Ok(());
        }
        // Bios first on, and last off: a request's pieces are handed in before it is sent.
        if is_on {
            self.bios.listen(true)?;
        }
        if let Some((requests, _)) = &self.requests {
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
    pub(super) fn wait(&self, longest: Duration) {
        match &self.requests {
            Some((requests, _)) => requests.wait(longest),
            None => self.bios.wait(longest),
        }
    }

    /// Takes what was copied out; stops listening once there is enough of this second.
    pub(super) fn drain(&mut self) -> Result<(), TracepointError> {
        let (bios, fields) = (&mut self.pending_bios, self.bio_fields);
        self.bios.drain(|time_ns, raw| bios.extend(fields.record(time_ns, raw)));
        if let Some((stream, fields)) = &mut self.requests {
            let (requests, fields) = (&mut self.pending_requests, *fields);
            stream.drain(|time_ns, raw| requests.extend(fields.record(time_ns, raw)));
        }
        self.look_at_new_writers();
        let copies = self.pending_bios.len() + self.pending_requests.len();
        let most = if self.only.is_some() { COPIES_OF_SOME } else { COPIES_A_SECOND };
        if self.since_ns.is_some() && self.copies + copies >= most {
            self.listen(false)?;
            // What came between the last look and the end of listening.
            return self.drain();
        }
        Ok(())
    }

    /// Looks at those who handed a bio in for the first time, and at their files: they may end
    /// soon.
    fn look_at_new_writers(&mut self) {
        let mut processes = BTreeSet::new();
        for bio in &self.pending_bios {
            if self.owners.len() < OWNERS_MAX && !self.owners.contains_key(&bio.thread) {
                let owner = thread_owner(bio.thread);
                processes.extend(owner.iter().filter(|one| !one.is_kernel).map(|one| one.process));
                self.owners.insert(bio.thread, owner);
            }
        }
        for process in processes {
            if self.early_looks < EARLY_LOOKS {
                self.early_looks += 1;
                self.learn(process);
            }
        }
    }

    /// Ends a second: adds up what was copied out in it. `only` names the processes that count
    /// now, beside those that did before.
    pub(super) fn end_second(
        &mut self,
        only: Option<&BTreeSet<u32>>,
    ) -> Result<(), TracepointError> {
        if let (Some(known), Some(only)) = (&mut self.only, only) {
            known.extend(only);
        }
        self.drain()?;
        let bios = std::mem::take(&mut self.pending_bios);
        let requests = std::mem::take(&mut self.pending_requests);
        self.copies += bios.len() + requests.len();
        if self.requests.is_none() {
            for bio in bios {
                let thread = (bio.thread, bio.command.clone());
                self.add(&bio, Some(thread));
            }
            return Ok(());
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
                self.add(&record, writer);
            } else {
                self.writers.hand_in(range, &(record.thread, record.command));
            }
        }
        Ok(())
    }

    fn add(&mut self, record: &BlockRecord, thread: Option<Thread>) {
        let write = OffWrite {
            start_bytes: record.sector.saturating_mul(SECTOR_BYTES),
            length_bytes: record.sectors.saturating_mul(SECTOR_BYTES),
        };
        if self.granule.partial(write.start_bytes, write.length_bytes) == 0 {
            return;
        }
        let owner = thread.as_ref().and_then(|(number, _)| self.owner(*number));
        if let Some(only) = &self.only {
            let is_one = owner.as_ref().is_some_and(|owner| only.contains(&owner.process));
            if !is_one {
                return;
            }
        }
        let place = self.place(write.start_bytes, owner.as_ref());
        let identity = identity(thread, owner, place);
        self.tally.add(write, identity);
    }

    fn owner(&mut self, thread: u32) -> Option<ThreadOwner> {
        self.owners.entry(thread).or_insert_with(|| thread_owner(thread)).clone()
    }

    /// The place at `address`: of files those that the writer has open, or where it writes for
    /// others those that anybody has.
    fn place(&mut self, address: u64, owner: Option<&ThreadOwner>) -> WrittenPlace {
        let place = self.places.at(address);
        if !matches!(place.region, Region::FileSystem) {
            return place;
        }
        match owner {
            Some(owner) if !owner.is_kernel => {
                if self.may_look(owner.process) {
                    self.learn(owner.process);
                }
            }
            _ => self.learn_all(),
        }
        self.places.at(address)
    }

    fn learn_all(&mut self) {
        if self.may_look(0) {
            self.places.learn_loop_files();
            for process in processes().into_iter().take(PROCESSES_MAX) {
                if self.may_look(process) {
                    self.learn(process);
                }
            }
        }
    }

    fn learn(&mut self, process: u32) {
        if process == std::process::id() {
            return;
        }
        for file in open_for_writing(process).unwrap_or_default() {
            if let Some(link) = &file.link {
                self.places.learn(link, &text::escape(&file.path));
            }
        }
    }

    /// Returns whether the open files of `process`, or of all for 0, were not looked at just now.
    fn may_look(&mut self, process: u32) -> bool {
        let now_ns = now_ns();
        let looked_ns = self.looked_ns.entry(process).or_insert(0);
        let may = *looked_ns == 0 || now_ns - *looked_ns >= LOOK_AGAIN_NS;
        if may {
            *looked_ns = now_ns;
        }
        may
    }

    /// The writers so far, and the sample that they are of.
    pub(super) fn writers(
        &self,
    ) -> Result<(Vec<OffWriter<WriterIdentity>>, OffSample), TracepointError> {
        let lost = match &self.requests {
            None => self.bios.lost()?,
            Some((requests, _)) => requests.lost()?,
        };
        let listening = self.since_ns.map_or(0, |since_ns| now_ns() - since_ns);
        let taken_ns = self.taken_ns + listening;
        let sample = OffSample { writes: self.tally.sampled(), taken_ns, lost };
        Ok((self.tally.writers(), sample))
    }

    /// Granules that a sampled write covers in part, on average.
    pub(super) fn partial_granules_per_write(&self) -> f64 {
        self.tally.partial_granules_per_write()
    }
}

fn identity(
    thread: Option<Thread>,
    owner: Option<ThreadOwner>,
    place: WrittenPlace,
) -> WriterIdentity {
    let WrittenPlace { layer, region, file } = place;
    let known = WriterIdentity {
        process: None,
        process_id: None,
        is_kernel: false,
        control_group: None,
        layer,
        region,
        file,
    };
    match (owner, thread) {
        (Some(owner), _) => WriterIdentity {
            process: Some(if owner.is_kernel { kernel_name(&owner.name) } else { owner.name }),
            process_id: Some(owner.process).filter(|_| !owner.is_kernel),
            is_kernel: owner.is_kernel,
            control_group: owner.control_group.filter(|_| !owner.is_kernel),
            ..known
        },
        // It ended before it could be looked at.
        (None, Some((_, name))) => {
            WriterIdentity { process: Some(text::escape(name.as_bytes())), ..known }
        }
        (None, None) => known,
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
