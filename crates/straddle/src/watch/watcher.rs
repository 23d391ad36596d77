//! All counters of all devices, and the document that they make.

use std::time::Duration;

use host::block_events::BlockEvents;
use host::tracepoint::{Tracefs, TracepointError};
use measure::live::consequences;
use report::watch::{
    CountedWork, LayerTraffic, OffCount, SyncCalls, WATCH_SCHEMA, Watch as Document, WatchedDevice,
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

/// All counters of all devices.
pub(super) struct Watcher<'a> {
    run: Run,
    scope: &'a WatchedScope,
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
    /// Starts all that this process may count; the document says what it may not, and why.
    pub(super) fn start(
        inspected: &'a InspectedMachine,
        devices: Vec<WatchedNode>,
        scope: &'a WatchedScope,
        run: Run,
    ) -> Watcher<'a> {
        let tracefs = Tracefs::open();
        let events = tracefs.as_ref().map_err(TracepointError::clone).and_then(BlockEvents::open);
        // It lives as long as the process, which watches until its end.
        let events: Result<&'static BlockEvents, TracepointError> =
            events.map(|events| &*Box::leak(Box::new(events)));
        host::raise_open_files_limit();
        let stacked = devices.iter().filter(|device| device.is_stacked).count();
        let is_in_full = |device: &WatchedNode| {
            let like = if device.is_stacked { stacked } else { devices.len() };
            like <= DEVICES_IN_FULL
        };
        let in_full: Vec<bool> = devices.iter().map(is_in_full).collect();
        let mut notes = Vec::new();
        if let Some(in_part) = in_full.iter().position(|is_in_full| !is_in_full) {
            notes.push(format!(
                "{} devices: writers, and sizes other than the granule, are shown where one is \
                 named: straddle watch /dev/{}",
                devices.len(),
                devices[in_part].name
            ));
        }
        let syncs = match (scope, &tracefs) {
            (WatchedScope::Process { threads, .. }, Ok(tracefs)) => {
                Some(SyncCounters::start(tracefs, threads))
            }
            (WatchedScope::Process { .. }, Err(error)) => {
                notes.push(format!("calls that sync are not counted: {error}"));
                None
            }
            _ => None,
        };
        // Samples first: to know places, each reads headers, which are no work of others.
        let sampled: Vec<_> = devices
            .into_iter()
            .zip(in_full)
            .map(|(device, in_full)| {
                let events = events.as_ref().copied();
                let writers = writers(inspected, &device, scope, events, in_full);
                (device, in_full, writers)
            })
            .collect();
        let started = sampled
            .into_iter()
            .map(|(device, in_full, writers)| {
                let layers = inspected
                    .machine()
                    .ok()
                    .map(|machine| LayerCounters::start(inspected, machine, device.node));
                let off = events.as_ref().map_err(ToString::to_string).and_then(|events| {
                    let with_sizes = in_full && matches!(scope, WatchedScope::Machine);
                    OffCounters::start(events, &device, &scope.counted(), with_sizes)
                        .map_err(|error| error.to_string())
                });
                let wear = device.drive.as_ref().and_then(|drive| {
                    DriveWear::start(inspected, drive, device.number, events.as_ref().ok().copied())
                });
                let budget = SecondBudget::of(device.number);
                DeviceCounters { device, layers, off, writers, wear, budget }
            })
            .collect();
        Watcher { run, scope, devices: started, syncs, notes }
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
            if one.budget.is_spent() {
                one.count_by(OffCounters::rest);
                one.sample_by(WriterSample::rest);
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
        let devices = self.devices.iter_mut().map(|one| one.document(scope)).collect();
        let syncs = self.syncs.as_ref().map(|syncs| {
            syncs.calls().unwrap_or_else(|error| SyncCalls {
                calls: Vec::new(),
                unknown: Some(error.to_string()),
            })
        });
        Document { envelope, watched_ns, scope: scope.told(), devices, syncs }
    }
}

fn writers<'a>(
    inspected: &'a InspectedMachine,
    device: &WatchedNode,
    scope: &WatchedScope,
    events: Result<&'static BlockEvents, &TracepointError>,
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

    fn document(&mut self, scope: &WatchedScope) -> WatchedDevice {
        let traffic: Vec<LayerTraffic> =
            self.layers.as_mut().map_or(Vec::new(), LayerCounters::traffic);
        let all = traffic.first().map_or([0, 0], |own| [own.writes, own.reads]);
        let counts = self.off.as_mut().map_err(|reason| reason.clone());
        let counts = counts.and_then(|off| off.counts(all).map_err(|error| error.to_string()));
        let (off, off_unknown): (Vec<OffCount>, _) = match counts {
            Ok(counts) => (counts, None),
            Err(reason) => (Vec::new(), Some(reason)),
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
        let off_writes = off.iter().find(|count| count.is_granule).map(|count| count.writes);
        let extra_reads = sample.and(off_writes).map(|writes| whole(real(writes) * per_write));
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
