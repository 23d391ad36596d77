//! Counters of reads and writes that are off the granule of a device, and off some other sizes.
//!
//! The kernel counts where the granule is a power of two and starts at 0. Its filters cannot
//! subtract or divide: for any other granule each read and write is copied out and looked at, and
//! those that found no room are counted.
//!
//! Sizes other than the granule, and lengths of writes, are counted until a device is busy, and the
//! granule until it is very busy; all again from the next second on. So they cost little, and their
//! counts name the time that they are of.

use device::Counters as _;
use host::DiskStats;
use host::block_events::{
    BlockEvents, BlockFilter, BlockLevel, BlockShape, Direction, RecordFields, SECTOR_BYTES,
};
use host::tracepoint::{CountedScope, TracepointCounter, TracepointError, TracepointStream};
use report::watch::{LengthCount, OffCount};
use units::Unit;

use super::listened_time::ListenedTime;
use super::watched_devices::WatchedNode;

/// Sizes that are counted beside the granule, in bytes.
const SIZES: [u64; 3] = [4 << 10, 16 << 10, 64 << 10];
/// Lengths up to which writes are counted, in bytes.
const LENGTHS: [u64; 4] = [4 << 10, 16 << 10, 64 << 10, 256 << 10];
/// Room for the events of one processor, in bytes.
const RING_BYTES: usize = 1 << 20;

/// Counters of one device.
pub(super) struct OffCounters<'a> {
    fields: RecordFields<'a>,
    all: AllCounters,
    granule: Option<SizeCounters>,
    others: Vec<SizeCounters>,
    lengths: Vec<(u64, Vec<TracepointCounter>)>,
    /// The time for which the granule was counted.
    granule_listened: ListenedTime,
    /// The time for which sizes other than the granule, and lengths, were counted.
    listened: ListenedTime,
}

/// Counters of all that move data. The kernel's own counters take a flush without data for a write,
/// and cost nothing.
struct AllCounters {
    /// Writes and reads, a counter for each thread that was named; no reads where `reads` has them.
    counters: [Vec<TracepointCounter>; 2],
    /// The kernel's counters, and their reads at the start.
    reads: Option<(DiskStats, u64)>,
}

impl AllCounters {
    /// Writes and reads so far.
    fn now(&mut self) -> Result<[u64; 2], TracepointError> {
        let [writes, reads] = &self.counters;
        let (writes, mut all_reads) = (sum(writes)?, sum(reads)?);
        if let Some((stats, before)) = &mut self.reads {
            all_reads += reads_of(stats).saturating_sub(*before);
        }
        Ok([writes, all_reads])
    }
}

fn reads_of(stats: &mut DiskStats) -> u64 {
    stats.counts().map_or(0, |counts| counts.reads)
}

/// Counters of what is off multiples of a size.
struct SizeCounters {
    unit: Unit,
    way: Way,
}

enum Way {
    /// By the kernel: writes and reads, a counter for each thread that was named.
    Kernel([Vec<TracepointCounter>; 2]),
    /// By looking at each: writes and reads, and what was seen of them so far.
    Copies(Box<[TracepointStream; 2]>, [CopiedCount; 2]),
}

#[derive(Clone, Copy, Debug, Default)]
struct CopiedCount {
    all: u64,
    off: u64,
}

/// The ways in which data goes, in the order of all counts here.
const WAYS: [Direction; 2] = [Direction::Write, Direction::Read];

impl<'a> OffCounters<'a> {
    /// Starts to count for `device` in all `scopes`; sizes other than the granule, and lengths,
    /// only where `with_sizes`.
    pub(super) fn start(
        events: &'a BlockEvents,
        device: &WatchedNode,
        scopes: &[CountedScope<'_>],
        with_sizes: bool,
    ) -> Result<OffCounters<'a>, TracepointError> {
        let granule = device.granule.map(|(unit, _)| unit);
        let level = level(device, scopes);
        let filter = |direction, shape| device.sampled.filter(level, direction, shape);
        let count = |direction, shape| -> Result<Vec<TracepointCounter>, TracepointError> {
            let filter = filter(direction, shape);
            // A thread may end between being listed and being counted.
            let is_gone = |error: &TracepointError| {
                scopes.len() > 1 && !matches!(error, TracepointError::NotAllowed { .. })
            };
            let opened = scopes.iter().map(|scope| events.count(&filter, *scope));
            opened.filter(|one| !one.as_ref().is_err_and(is_gone)).collect()
        };
        let both = |shape| -> Result<[Vec<TracepointCounter>; 2], TracepointError> {
            Ok([count(WAYS[0], shape)?, count(WAYS[1], shape)?])
        };
        let size = |unit: Unit| -> Result<SizeCounters, TracepointError> {
            let is_plain = unit.origin_bytes() == 0 && unit.length_bytes().is_power_of_two();
            let way = match is_plain {
                true => Way::Kernel(both(BlockShape::Off(unit.length_bytes()))?),
                false => Way::Copies(
                    Box::new([
                        stream(events, &filter(WAYS[0], BlockShape::Any))?,
                        stream(events, &filter(WAYS[1], BlockShape::Any))?,
                    ]),
                    [CopiedCount::default(); 2],
                ),
            };
            Ok(SizeCounters { unit, way })
        };
        let others = SIZES.iter().filter_map(|&bytes| Unit::new(bytes)).filter(|_| with_sizes);
        let others = others.filter(|other| Some(*other) != granule);
        let others = others.map(size).collect::<Result<_, _>>()?;
        let granule = granule.map(size).transpose()?;
        let length = |&bytes: &u64| Ok((bytes, count(Direction::Write, BlockShape::UpTo(bytes))?));
        let lengths =
            LENGTHS.iter().filter(|_| with_sizes).map(length).collect::<Result<_, _>>()?;
        let is_free = is_all(scopes) && device.sampled.is_counted_once;
        let stats = is_free.then(|| DiskStats::open(device.sampled.number).ok()).flatten();
        let reads = stats.map(|mut stats| {
            let before = reads_of(&mut stats);
            (stats, before)
        });
        let counted = match reads {
            Some(_) => Vec::new(),
            None => count(Direction::Read, BlockShape::Any)?,
        };
        let all =
            AllCounters { counters: [count(Direction::Write, BlockShape::Any)?, counted], reads };
        let (granule_listened, listened) = (ListenedTime::begun(), ListenedTime::begun());
        let fields = events.fields(level);
        Ok(OffCounters { fields, all, granule, others, lengths, granule_listened, listened })
    }

    /// Begins a second: counts all sizes again.
    pub(super) fn begin_second(&mut self) -> Result<(), TracepointError> {
        self.listen_granule(true)?;
        self.listen(true)
    }

    /// Counts the granule alone until the next second.
    pub(super) fn rest(&mut self) -> Result<(), TracepointError> {
        self.listen(false)
    }

    /// Counts nothing until the next second, and leaves nothing in the kernel until then.
    pub(super) fn pause(&mut self) -> Result<(), TracepointError> {
        if !self.granule_listened.is_on() {
            return Ok(());
        }
        self.listen(false)?;
        self.listen_granule(false)?;
        self.drain();
        if let Some(SizeCounters { way: Way::Copies(streams, _), .. }) = &mut self.granule {
            streams.iter_mut().try_for_each(TracepointStream::release)?;
        }
        self.counters().try_for_each(TracepointCounter::release)
    }

    /// All that the kernel counts.
    fn counters(&mut self) -> impl Iterator<Item = &mut TracepointCounter> {
        let sizes = self.others.iter_mut().chain(&mut self.granule);
        let sizes = sizes.filter_map(|size| match &mut size.way {
            Way::Kernel(ways) => Some(ways.iter_mut().flatten()),
            Way::Copies(..) => None,
        });
        let lengths = self.lengths.iter_mut().flat_map(|(_, counters)| counters);
        sizes.flatten().chain(lengths).chain(self.all.counters.iter_mut().flatten())
    }

    fn listen_granule(&mut self, is_on: bool) -> Result<(), TracepointError> {
        if self.granule_listened.is_on() == is_on {
            return Ok(());
        }
        let counters = match &mut self.granule {
            Some(SizeCounters { way: Way::Kernel(ways), .. }) => &mut ways[..],
            Some(SizeCounters { way: Way::Copies(streams, _), .. }) => {
                streams.iter_mut().try_for_each(|stream| stream.listen(is_on))?;
                &mut []
            }
            None => &mut [],
        };
        let all = self.all.counters.iter_mut();
        counters.iter_mut().chain(all).flatten().try_for_each(|counter| counter.listen(is_on))?;
        self.granule_listened.switch(is_on, self.all.now()?);
        Ok(())
    }

    fn listen(&mut self, is_on: bool) -> Result<(), TracepointError> {
        if self.listened.is_on() == is_on || self.others.is_empty() {
            return Ok(());
        }
        let others = self.others.iter_mut().filter_map(|size| match &mut size.way {
            Way::Kernel(ways) => Some(ways.iter_mut().flatten()),
            Way::Copies(..) => None,
        });
        let lengths = self.lengths.iter_mut().flat_map(|(_, counters)| counters);
        others.flatten().chain(lengths).try_for_each(|counter| counter.listen(is_on))?;
        self.listened.switch(is_on, self.all.now()?);
        Ok(())
    }

    /// Takes what was copied out meanwhile, so that there is room for more.
    pub(super) fn drain(&mut self) {
        let fields = self.fields;
        let Some(SizeCounters { unit, way: Way::Copies(streams, counts) }) = &mut self.granule
        else {
            return;
        };
        for (stream, count) in streams.iter_mut().zip(counts) {
            stream.drain(|time_ns, raw| {
                let Some(record) = fields.record(time_ns, raw) else { return };
                let (start, length) = (record.sector, record.sectors);
                count.all += 1;
                let partial = unit.partial(start * SECTOR_BYTES, length * SECTOR_BYTES);
                count.off += u64::from(partial > 0);
            });
        }
    }

    /// The counts since the start: of what is off sizes, and of writes by their lengths.
    pub(super) fn counts(&mut self) -> Result<(Vec<OffCount>, Vec<LengthCount>), TracepointError> {
        self.drain();
        let now = self.all.now()?;
        let (all, granule_ns) = self.granule_listened.now(now);
        let (all_listened, taken_ns) = self.listened.now(now);
        let length = |(up_to_bytes, counters): &(u64, Vec<TracepointCounter>)| {
            let writes = sum(counters)?;
            let all_writes = all_listened[0].max(writes);
            Ok(LengthCount { up_to_bytes: *up_to_bytes, writes, all_writes, taken_ns })
        };
        let lengths = self.lengths.iter().map(length).collect::<Result<_, _>>()?;
        let others = self.others.iter();
        let mut counts = others
            .map(|size| Ok(OffCount { taken_ns, ..size.count(all_listened)? }))
            .collect::<Result<Vec<_>, TracepointError>>()?;
        if let Some(granule) = &self.granule {
            let count = granule.count(all)?;
            counts.push(OffCount { is_granule: true, taken_ns: granule_ns, ..count });
        }
        counts.sort_by_key(|count| count.unit_bytes);
        Ok((counts, lengths))
    }
}

impl SizeCounters {
    /// The count of `all` operations that is off this size.
    fn count(&self, all: [u64; 2]) -> Result<OffCount, TracepointError> {
        let (off, all, lost) = match &self.way {
            Way::Kernel([writes, reads]) => ([sum(writes)?, sum(reads)?], all, Some(0)),
            Way::Copies(streams, counts) => {
                let lost = [streams[0].lost()?, streams[1].lost()?];
                let lost = lost[0].zip(lost[1]).map(|(writes, reads)| writes + reads);
                (counts.map(|count| count.off), counts.map(|count| count.all), lost)
            }
        };
        Ok(OffCount {
            unit_bytes: self.unit.length_bytes(),
            is_granule: false,
            writes: off[0],
            reads: off[1],
            all_writes: all[0].max(off[0]),
            all_reads: all[1].max(off[1]),
            taken_ns: None,
            lost,
        })
    }
}

/// Place where operations of `device` are counted. Requests are sent by whoever happens to, so what
/// is of a thread or a group is counted where it is handed in.
pub(super) fn level(device: &WatchedNode, scopes: &[CountedScope<'_>]) -> BlockLevel {
    match device.sampled.has_requests && is_all(scopes) {
        true => BlockLevel::Requests,
        false => BlockLevel::Bios,
    }
}

fn is_all(scopes: &[CountedScope<'_>]) -> bool {
    matches!(scopes, [CountedScope::Machine])
}

fn stream(events: &BlockEvents, filter: &BlockFilter) -> Result<TracepointStream, TracepointError> {
    let mut stream = events.stream(filter, RING_BYTES)?;
    stream.listen(true)?;
    Ok(stream)
}

fn sum(counters: &[TracepointCounter]) -> Result<u64, TracepointError> {
    counters.iter().try_fold(0_u64, |sum, counter| Ok(sum.saturating_add(counter.count()?)))
}
