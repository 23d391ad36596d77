//! The drive's own word while it is watched: bytes that hosts wrote and that went to the media, and
//! writes off its own unit, as rates between two readings of its pages; and the unit that fits its
//! count, found without a write.

use host::block_events::{BlockEvents, BlockFilter, BlockLevel, BlockShape, Direction};
use host::tracepoint::{CountedScope, TracepointCounter};
use measure::passive::{
    CounterRefresh, CountingRule, ObservedInterval, OffCounts, UNITS_BYTES, passive_unit,
};
use report::Fact;
use stack::drive::KernelDrive;
use stack::drive::wear::{REFRESH_NS, WearBounds, WearInterval, WearReading};
use units::{Known, Source};

use crate::shared::drive_facts::fact;
use crate::shared::inspected_machine::InspectedMachine;

/// Time between two readings, in nanoseconds: the drive brings its pages up to date at intervals of
/// up to ten minutes.
const READ_EVERY_NS: u64 = 60_000_000_000;
/// Most readings that are kept: a day of them.
const READINGS_MAX: usize = 24 * 60;

/// The drive's word when the watch began, and since.
pub(super) struct DriveWear<'a> {
    inspected: &'a InspectedMachine,
    drive: Box<KernelDrive>,
    first: WearReading,
    latest: WearReading,
    /// Writes by their starts off each of [`UNITS_BYTES`]; none where the drive counts none.
    starts: Vec<TracepointCounter>,
    counted: [u64; UNITS_BYTES.len()],
    intervals: Vec<ObservedInterval>,
    read_ns: u64,
}

impl<'a> DriveWear<'a> {
    /// Reads the pages of `drive`, whose device has this number; `None` where it has none.
    pub(super) fn start(
        inspected: &'a InspectedMachine,
        drive: &KernelDrive,
        number: (u32, u32),
        events: Option<&BlockEvents>,
    ) -> Option<DriveWear<'a>> {
        let first = WearReading::read(inspected.tree(), &drive.name, &drive.said)?;
        let starts = events.filter(|_| unaligned(&first).is_some());
        let starts = starts.map_or(Vec::new(), |events| counters(events, number));
        Some(DriveWear {
            inspected,
            drive: Box::new(drive.clone()),
            latest: first.clone(),
            first,
            starts,
            counted: [0; UNITS_BYTES.len()],
            intervals: Vec::new(),
            read_ns: 0,
        })
    }

    /// Reads the pages again where it is time, `watched_ns` after the start.
    pub(super) fn read(&mut self, watched_ns: u64) {
        if watched_ns < self.read_ns.saturating_add(READ_EVERY_NS) {
            return;
        }
        let reading = WearReading::read(self.inspected.tree(), &self.drive.name, &self.drive.said);
        let Some(reading) = reading else { return };
        self.read_ns = watched_ns;
        if let Some(unaligned_writes) = unaligned(&reading).filter(|_| !self.starts.is_empty())
            && self.intervals.len() < READINGS_MAX
        {
            let off = self.since();
            self.intervals.push(ObservedInterval { off, unaligned_writes });
        }
        self.latest = reading;
    }

    /// The writes by their starts since the last look.
    fn since(&mut self) -> OffCounts {
        let mut off = OffCounts::default();
        for ((starts, before), counter) in
            off.starts.iter_mut().zip(&mut self.counted).zip(&self.starts)
        {
            let now = counter.count().unwrap_or(*before);
            *starts = now.saturating_sub(*before);
            *before = now;
        }
        off
    }

    /// The rates so far, and the unit that fits.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let rates = WearInterval::between(&self.first, &self.latest, self.read_ns, REFRESH_NS);
        let bytes = |bounds: &WearBounds| format!("{:.0}", f64::midpoint(bounds.low, bounds.high));
        let mut facts = vec![
            fact("host-bytes-per-second", &rates.host_bytes_per_second, bytes),
            fact("media-bytes-per-second", &rates.media_bytes_per_second, bytes),
            fact("write-amplification", &rates.write_amplification, WearBounds::to_string),
            fact("years-left", &rates.years_left, WearBounds::to_string),
            fact("unaligned-writes", &rates.unaligned_writes, u64::to_string),
        ];
        if let Some(before) = unaligned(&self.first).filter(|_| !self.starts.is_empty()) {
            let refresh = CounterRefresh::InBackground;
            let unit = passive_unit(before, &self.intervals, refresh, CountingRule::Starts);
            let unit = unit.map(|unit| unit.bytes).map_err(|reason| reason.to_string());
            let unit = Known::of(unit, Source::Measured);
            facts.push(fact("indirection-unit-bytes", &unit, u64::to_string));
        }
        facts
    }
}

/// The drive's count of writes off its own unit, where it has one.
fn unaligned(reading: &WearReading) -> Option<u64> {
    reading.media.value()?.unaligned_writes.value().copied()
}

/// Counters of write starts off each of [`UNITS_BYTES`]; none where one cannot be had.
fn counters(events: &BlockEvents, number: (u32, u32)) -> Vec<TracepointCounter> {
    let count = |bytes: u64| {
        let filter = BlockFilter {
            devices: vec![number],
            level: BlockLevel::Requests,
            direction: Direction::Write,
            shape: BlockShape::StartOff(bytes),
        };
        events.count(&filter, CountedScope::Machine)
    };
    UNITS_BYTES.into_iter().map(count).collect::<Result<_, _>>().unwrap_or_default()
}
