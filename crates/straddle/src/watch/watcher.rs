//! All counters of all devices, and the document that they make.

use std::time::Duration;

use host::block_events::BlockEvents;
use host::tracepoint::{Tracefs, TracepointError};
use measure::live::consequences;
use report::watch::{
    CountedWork, LayerTraffic, SyncCalls, WATCH_SCHEMA, Watch as Document, WatchedDevice,
};
use report::{Envelope, Run};
use units::number::{real, whole};

use super::drive_wear::DriveWear;
use super::layer_traffic::LayerCounters;
use super::listened_time::SecondBudget;
use super::off_counters::{self, OffCounters};
use super::sync_calls::SyncCounters;
use super::watched_devices::WatchedNode;
use super::watched_scope::WatchedScope;
use super::writer_sample::WriterSample;
use crate::shared::inspected_machine::InspectedMachine;

/// Most devices of which sizes other than the granule are counted, and of which writers are
/// sampled: each filter costs every operation of the machine some 20 ns. Of devices that lie on
/// others, which were named, as many, however many drives are beneath.
const DEVICES_IN_FULL: usize = 2;

/// The kernel's events, as far as this process can reach them.
pub(super) struct KernelEvents {
    tracefs: Result<Tracefs, TracepointError>,
    blocks: Result<BlockEvents, TracepointError>,
}

impl KernelEvents {
    /// Looks them up.
    pub(super) fn open() -> KernelEvents {
        let tracefs = Tracefs::open();
        let blocks = tracefs.as_ref().map_err(TracepointError::clone).and_then(BlockEvents::open);
        KernelEvents { tracefs, blocks }
    }
}

/// All counters of all devices.
pub(super) struct Watcher<'a> {
    run: Run,
    scope: &'a WatchedScope,
    /// True to count the granule without pauses, however busy a device is.
    is_exact: bool,
    devices: Vec<DeviceCounters<'a>>,
    syncs: Option<SyncCounters>,
    notes: Vec<String>,
}

/// The counters of one device.
struct DeviceCounters<'a> {
    device: WatchedNode,
    layers: Option<LayerCounters>,
    off: Result<OffCounters<'a>, String>,
    writers: Result<WriterSample<'a>, String>,
    wear: Option<DriveWear<'a>>,
    budget: SecondBudget,
}

impl<'a> Watcher<'a> {
    /// Starts all that this process may count, by the `events` that it can reach; the document says
    /// what it may not, and why.
    pub(super) fn start(
        inspected: &'a InspectedMachine,
        devices: Vec<WatchedNode>,
        scope: &'a WatchedScope,
        events: &'a KernelEvents,
        is_exact: bool,
        run: Run,
    ) -> Watcher<'a> {
        host::raise_open_files_limit();
        let in_full = in_full(&devices);
        let mut notes: Vec<String> = in_part_note(&devices, &in_full).into_iter().collect();
        let syncs = match (scope, &events.tracefs) {
            (WatchedScope::Process { threads, .. }, Ok(tracefs)) => {
                Some(SyncCounters::start(tracefs, threads))
            }
            (WatchedScope::Process { .. }, Err(error)) => {
                notes.push(format!("calls that sync are not counted: {error}"));
                None
            }
            _ => None,
        };
        let events = events.blocks.as_ref();
        // Samples first: to know places, each reads headers, which are no work of others.
        let sample = |(device, in_full): (WatchedNode, bool)| {
            let writers = writers(inspected, &device, scope, events, in_full);
            (device, in_full, writers)
        };
        let sampled: Vec<_> = devices.into_iter().zip(in_full).map(sample).collect();
        let count = |(device, in_full, writers)| {
            DeviceCounters::start(inspected, device, scope, events, in_full, writers)
        };
        let started = sampled.into_iter().map(count).collect();
        Watcher { run, scope, is_exact, devices: started, syncs, notes }
    }

    /// Begins a second.
    pub(super) fn begin_second(&mut self) {
        for one in &mut self.devices {
            one.budget.begin_second();
            one.count_by(OffCounters::begin_second);
        }
        self.each_sample(WriterSample::begin_second);
    }

    /// Waits for `longest`, or until there is something to take, and takes it.
    pub(super) fn step(&mut self, longest: Duration) {
        let mut samples = self.devices.iter().filter_map(|one| one.writers.as_ref().ok());
        match samples.next() {
            Some(sample) => sample.wait(longest),
            None => std::thread::sleep(longest),
        }
        self.each_sample(WriterSample::drain);
        for one in &mut self.devices {
            if let Ok(off) = &mut one.off {
                off.drain();
            }
            let spent = one.budget.spent();
            if spent > SecondBudget::ALL_SIZES {
                one.count_by(OffCounters::rest);
                one.sample_by(WriterSample::rest);
            }
            if spent > SecondBudget::GRANULE && !self.is_exact {
                one.count_by(OffCounters::pause);
                one.sample_by(WriterSample::pause);
            }
        }
    }

    /// Ends a second, `watched_ns` after the start.
    pub(super) fn end_second(&mut self, watched_ns: u64) {
        // What was started in this second counts too.
        let only = self.scope.processes();
        self.each_sample(|sample| sample.end_second(only.as_ref()));
        for wear in self.devices.iter_mut().filter_map(|one| one.wear.as_mut()) {
            wear.read(watched_ns);
        }
    }

    /// Does `step` to each sample.
    fn each_sample(&mut self, step: impl Fn(&mut WriterSample<'a>) -> Result<(), TracepointError>) {
        for one in &mut self.devices {
            one.sample_by(&step);
        }
    }

    /// The document of all that was counted in `watched_ns`.
    pub(super) fn document(&mut self, watched_ns: u64) -> Document {
        let mut envelope = Envelope::new(WATCH_SCHEMA, self.run.clone());
        envelope.notes.clone_from(&self.notes);
        let scope = self.scope;
        let devices = self.devices.iter_mut().map(|one| one.document(scope, watched_ns)).collect();
        let syncs = self.syncs.as_ref().map(|syncs| {
            syncs.calls().unwrap_or_else(|error| SyncCalls {
                calls: Vec::new(),
                unknown: Some(error.to_string()),
            })
        });
        Document { envelope, watched_ns, scope: scope.told(), devices, syncs }
    }
}

/// Of each device, whether writers are sampled and sizes other than the granule counted.
fn in_full(devices: &[WatchedNode]) -> Vec<bool> {
    let stacked = devices.iter().filter(|device| device.is_stacked).count();
    let like = |device: &WatchedNode| if device.is_stacked { stacked } else { devices.len() };
    devices.iter().map(|device| like(device) <= DEVICES_IN_FULL).collect()
}

/// Says how to see the rest of the devices that are not watched in full.
fn in_part_note(devices: &[WatchedNode], in_full: &[bool]) -> Option<String> {
    let in_part = in_full.iter().position(|is_in_full| !is_in_full)?;
    Some(format!(
        "{} devices: writers, lengths, and sizes other than the granule are shown where one is \
         named: straddle watch /dev/{}",
        devices.len(),
        devices[in_part].name
    ))
}

fn writers<'a>(
    inspected: &'a InspectedMachine,
    device: &WatchedNode,
    scope: &WatchedScope,
    events: Result<&'a BlockEvents, &TracepointError>,
    in_full: bool,
) -> Result<WriterSample<'a>, String> {
    if !in_full {
        return Err("not sampled: too many devices are watched".to_owned());
    }
    let Some((granule, _)) = device.granule else {
        return Err("not sampled: the granule is not known".to_owned());
    };
    let events = events.map_err(ToString::to_string)?;
    let only = scope.processes();
    WriterSample::open(events, inspected, device, granule, only).map_err(|error| error.to_string())
}

impl<'a> DeviceCounters<'a> {
    fn start(
        inspected: &'a InspectedMachine,
        device: WatchedNode,
        scope: &WatchedScope,
        events: Result<&'a BlockEvents, &TracepointError>,
        in_full: bool,
        writers: Result<WriterSample<'a>, String>,
    ) -> DeviceCounters<'a> {
        let machine = inspected.machine().ok();
        let layers = machine.map(|machine| LayerCounters::start(inspected, machine, device.node));
        let with_sizes = in_full && matches!(scope, WatchedScope::Machine);
        let off = events
            .map_err(TracepointError::clone)
            .and_then(|events| OffCounters::start(events, &device, &scope.counted(), with_sizes))
            .map_err(|error| error.to_string());
        let drive = device.drive.as_ref();
        let wear = drive.and_then(|drive| {
            DriveWear::start(inspected, drive, device.sampled.number, events.ok())
        });
        let budget = SecondBudget::of(device.sampled.number);
        DeviceCounters { device, layers, off, writers, wear, budget }
    }

    /// Does `step` to the counters; those that fail are given up, with the reason.
    fn count_by(&mut self, step: impl Fn(&mut OffCounters<'a>) -> Result<(), TracepointError>) {
        if let Ok(off) = &mut self.off
            && let Err(error) = step(off)
        {
            self.off = Err(error.to_string());
        }
    }

    /// Does `step` to the sample; one that fails is given up, with the reason.
    fn sample_by(&mut self, step: impl Fn(&mut WriterSample<'a>) -> Result<(), TracepointError>) {
        if let Ok(sample) = &mut self.writers
            && let Err(error) = step(sample)
        {
            self.writers = Err(error.to_string());
        }
    }

    fn document(&mut self, scope: &WatchedScope, watched_ns: u64) -> WatchedDevice {
        let traffic: Vec<LayerTraffic> =
            self.layers.as_mut().map_or(Vec::new(), LayerCounters::traffic);
        let counts = self.off.as_mut().map_err(|reason| reason.clone());
        let counts = counts.and_then(|off| off.counts().map_err(|error| error.to_string()));
        let ((off, write_lengths), off_unknown) = match counts {
            Ok(counts) => (counts, None),
            Err(reason) => (Default::default(), Some(reason)),
        };
        let sampled = self.writers.as_ref().map_err(|reason| reason.clone());
        let sampled = sampled.and_then(|sample| {
            let (writers, taken) = sample.writers().map_err(|error| error.to_string())?;
            Ok((writers, taken, sample.partial_granules_per_write()))
        });
        let (writers, sample, per_write, writers_unknown) = match sampled {
            Ok((writers, taken, per_write)) => (writers, Some(taken), per_write, None),
            Err(reason) => (Vec::new(), None, 0.0, Some(reason)),
        };
        let granule_bytes = self.device.granule.map(|(unit, _)| unit.length_bytes());
        let granule = sample.and(off.iter().find(|count| count.is_granule));
        let extra_reads = granule.map(|count| {
            let counted_ns = count.taken_ns.unwrap_or(watched_ns).max(1);
            whole(real(count.writes) * per_write * real(watched_ns) / real(counted_ns))
        });
        let sampled = sample.map_or(0, |sample| sample.writes);
        let consequences = consequences(&writers, granule_bytes.unwrap_or(0), sampled);
        let counted = off_counters::level(&self.device, &scope.counted());
        WatchedDevice {
            name: self.device.name.clone(),
            title: self.device.title.clone(),
            granule_bytes,
            granule_origin_bytes: self.device.granule.map_or(0, |(unit, _)| unit.origin_bytes()),
            granule_source: self.device.granule.map(|(_, source)| source),
            counted: match counted {
                host::block_events::BlockLevel::Requests => CountedWork::Requests,
                host::block_events::BlockLevel::Bios => CountedWork::Bios,
            },
            traffic,
            off,
            write_lengths,
            off_unknown,
            writers,
            writers_unknown,
            sample,
            extra_reads,
            consequences,
            wear: self.wear.as_ref().map_or(Vec::new(), DriveWear::facts),
        }
    }
}
