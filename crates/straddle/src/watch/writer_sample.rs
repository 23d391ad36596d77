//! A sample of the writes off the granule of a device: who handed each in, and to what.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use host::block_events::{BlockEvents, BlockShape};
use host::engine::now_ns;
use host::process::{ThreadOwner, open_for_writing, processes};
use host::tracepoint::TracepointError;
use measure::live::{OffWrite, OffWriteTally, OffWriter, Region, WriterIdentity};
use report::watch::OffSample;
use units::{Unit, text};

use super::watched_devices::WatchedNode;
use super::written_places::{WrittenPlace, WrittenPlaces};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::write_sample::{SampleBounds, SampledWrite, SampledWrites};

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
/// Least time between two looks at the open files of one process: less than a second, so that each
/// second's writes are looked up after they were made.
const LOOK_AGAIN_NS: u64 = 500_000_000;

/// The sample of one device.
pub(super) struct WriterSample<'a> {
    granule: Unit,
    writes: SampledWrites<'a>,
    places: WrittenPlaces<'a>,
    looked_ns: BTreeMap<u32, u64>,
    tally: OffWriteTally<WriterIdentity>,
    early_looks: u32,
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
        let bounds = SampleBounds {
            copies_a_second: if only.is_some() { COPIES_OF_SOME } else { COPIES_A_SECOND },
            ring_bytes: RING_BYTES,
            shape: match is_plain {
                true => BlockShape::Off(granule.length_bytes()),
                false => BlockShape::Any,
            },
            is_by_bios: only.is_some(),
        };
        let writes = SampledWrites::open(events, &device.sampled, bounds)?;
        let mut places = WrittenPlaces::of(inspected, device.sampled.number);
        places.learn_swap_files();
        let (looked_ns, tally) = (BTreeMap::new(), OffWriteTally::new(granule));
        let early_looks = 0;
        Ok(WriterSample { granule, writes, places, looked_ns, tally, early_looks, only })
    }

    /// Begins a second: listens again.
    pub(super) fn begin_second(&mut self) -> Result<(), TracepointError> {
        self.early_looks = 0;
        self.places.forget_files();
        self.writes.begin_second()
    }

    /// Listens no more until the next second.
    pub(super) fn rest(&mut self) -> Result<(), TracepointError> {
        let processes = self.writes.rest()?;
        self.look_at(processes);
        Ok(())
    }

    /// The same, and leaves nothing in the kernel until then.
    pub(super) fn pause(&mut self) -> Result<(), TracepointError> {
        let processes = self.writes.pause()?;
        self.look_at(processes);
        Ok(())
    }

    /// Waits for copies, at most for `longest`.
    pub(super) fn wait(&self, longest: Duration) {
        self.writes.wait(longest);
    }

    /// Takes what was copied out; stops listening once there is enough of this second.
    pub(super) fn drain(&mut self) -> Result<(), TracepointError> {
        let processes = self.writes.drain()?;
        self.look_at(processes);
        Ok(())
    }

    /// Looks at the files of those who handed a bio in for the first time: they may end soon.
    fn look_at(&mut self, processes: BTreeSet<u32>) {
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
        for write in self.writes.end_second()? {
            self.add(write);
        }
        Ok(())
    }

    fn add(&mut self, sampled: SampledWrite) {
        let SampledWrite { start_bytes, length_bytes, .. } = sampled;
        if self.granule.partial(start_bytes, length_bytes) == 0 {
            return;
        }
        if let Some(only) = &self.only {
            let is_one = sampled.owner.as_ref().is_some_and(|owner| only.contains(&owner.process));
            if !is_one {
                return;
            }
        }
        let place = self.place(start_bytes, sampled.owner.as_ref());
        self.tally.add(OffWrite { start_bytes, length_bytes }, identity(sampled, place));
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
        let (lost, taken_ns) = (self.writes.lost()?, self.writes.taken_ns());
        let sample = OffSample { writes: self.tally.sampled(), taken_ns, lost };
        Ok((self.tally.writers(), sample))
    }

    /// Granules that a sampled write covers in part, on average.
    pub(super) fn partial_granules_per_write(&self) -> f64 {
        self.tally.partial_granules_per_write()
    }
}

fn identity(write: SampledWrite, place: WrittenPlace) -> WriterIdentity {
    let WrittenPlace { layer, region, file, block_bytes } = place;
    let process = write.process_name();
    let is_kernel = write.owner.as_ref().is_some_and(|owner| owner.is_kernel);
    let user = write.owner.filter(|owner| !owner.is_kernel);
    WriterIdentity {
        process,
        process_id: user.as_ref().map(|owner| owner.process),
        is_kernel,
        control_group: user.and_then(|owner| owner.control_group),
        layer,
        region,
        file,
        file_system_block_bytes: block_bytes,
    }
}
