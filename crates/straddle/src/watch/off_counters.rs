//! Counters of reads and writes that are off the granule of a device, and off some other sizes.
//!
//! Where the granule is a power of two that starts at 0 the kernel counts. Its filters cannot
//! subtract or divide: for any other granule each read and write is copied out and looked at, and
//! what found no room is counted.

use host::block_events::{BlockEvents, BlockFilter, BlockLevel, Direction, RecordFields};
use host::tracepoint::{CountedScope, TracepointCounter, TracepointError, TracepointStream};
use report::watch::OffCount;
use units::Unit;

use super::watched_devices::WatchedNode;

/// Sizes that are counted beside the granule, in bytes.
const SIZES: [u64; 3] = [4 << 10, 16 << 10, 64 << 10];
/// Room for the events of one processor, in bytes.
const RING_BYTES: usize = 1 << 20;
/// The kernel's sector, in bytes.
const SECTOR_BYTES: u64 = 512;

/// Counters of one device.
pub(super) struct OffCounters<'a> {
    fields: RecordFields<'a>,
    /// All writes and all reads.
    all: [Vec<TracepointCounter>; 2],
    sizes: Vec<SizeCounters>,
}

/// Counters of what is off multiples of a size.
struct SizeCounters {
    unit: Unit,
    is_granule: bool,
    way: Way,
}

enum Way {
    /// By the kernel: writes and reads, a counter for each thread that was named.
    Kernel([Vec<TracepointCounter>; 2]),
    /// By looking at each: writes and reads, and what was seen of them so far.
    Copies([TracepointStream; 2], [CopiedCount; 2]),
}

#[derive(Clone, Copy, Debug, Default)]
struct CopiedCount {
    all: u64,
    off: u64,
}

/// The ways in which data goes, in the order of all counts here.
const WAYS: [Direction; 2] = [Direction::Write, Direction::Read];

impl<'a> OffCounters<'a> {
    /// Starts to count for `device` in all `scopes`; sizes other than the granule only where
    /// `with_sizes`.
    pub(super) fn start(
        events: &'a BlockEvents,
        device: &WatchedNode,
        scopes: &[CountedScope<'_>],
        with_sizes: bool,
    ) -> Result<OffCounters<'a>, TracepointError> {
        let granule = device.granule.map(|(unit, _)| unit);
        let level = level(device, scopes);
        let filter = |direction, off_bytes| device.sampled.filter(level, direction, off_bytes);
        let count = |direction, off_bytes| -> Result<Vec<TracepointCounter>, TracepointError> {
            let filter = filter(direction, off_bytes);
            // A thread may end between being listed and being counted.
            let is_gone = |error: &TracepointError| {
                scopes.len() > 1 && !matches!(error, TracepointError::NotAllowed { .. })
            };
            let opened = scopes.iter().map(|scope| events.count(&filter, *scope));
            opened.filter(|one| !one.as_ref().is_err_and(is_gone)).collect()
        };
        let both = |off_bytes| -> Result<[Vec<TracepointCounter>; 2], TracepointError> {
            Ok([count(WAYS[0], off_bytes)?, count(WAYS[1], off_bytes)?])
        };
        let mut sizes = Vec::new();
        let others = SIZES.iter().filter_map(|&bytes| Unit::new(bytes)).filter(|_| with_sizes);
        let others = others.filter(|other| Some(*other) != granule);
        let mut units: Vec<(Unit, bool)> = granule.map(|unit| (unit, true)).into_iter().collect();
        units.extend(others.map(|unit| (unit, false)));
        units.sort_by_key(|(unit, _)| unit.length_bytes());
        for (unit, is_granule) in units {
            let is_plain = unit.origin_bytes() == 0 && unit.length_bytes().is_power_of_two();
            let way = match is_plain {
                true => Way::Kernel(both(Some(unit.length_bytes()))?),
                false => Way::Copies(
                    [
                        stream(events, &filter(WAYS[0], None))?,
                        stream(events, &filter(WAYS[1], None))?,
                    ],
                    [CopiedCount::default(); 2],
                ),
            };
            sizes.push(SizeCounters { unit, is_granule, way });
        }
        // Of the whole machine the kernel counts all without help, at no cost.
        let is_all = matches!(scopes, [CountedScope::Machine]);
        let all = if is_all { [Vec::new(), Vec::new()] } else { both(None)? };
        Ok(OffCounters { fields: events.fields(level), all, sizes })
    }

    /// Takes what was copied out meanwhile, so that there is room for more.
    pub(super) fn drain(&mut self) {
        let fields = self.fields;
        for size in &mut self.sizes {
            let Way::Copies(streams, counts) = &mut size.way else { continue };
            for (stream, count) in streams.iter_mut().zip(counts) {
                stream.drain(|time_ns, raw| {
                    let Some(record) = fields.record(time_ns, raw) else { return };
                    let (start, length) = (record.sector, record.sectors);
                    let partial = size.unit.partial(start * SECTOR_BYTES, length * SECTOR_BYTES);
                    count.all += 1;
                    count.off += u64::from(partial > 0);
                });
            }
        }
    }

    /// The counts since the start. `all` is the number of writes and of reads of the whole machine.
    pub(super) fn counts(&mut self, all: [u64; 2]) -> Result<Vec<OffCount>, TracepointError> {
        self.drain();
        let [writes, reads] = &self.all;
        let all = match writes.is_empty() && reads.is_empty() {
            true => all,
            false => [sum(writes)?, sum(reads)?],
        };
        let count = |size: &SizeCounters| -> Result<OffCount, TracepointError> {
            let (off, all, lost) = match &size.way {
                Way::Kernel([writes, reads]) => ([sum(writes)?, sum(reads)?], all, Some(0)),
                Way::Copies(streams, counts) => {
                    let lost = [streams[0].lost()?, streams[1].lost()?];
                    let lost = lost[0].zip(lost[1]).map(|(writes, reads)| writes + reads);
                    (counts.map(|count| count.off), counts.map(|count| count.all), lost)
                }
            };
            Ok(OffCount {
                unit_bytes: size.unit.length_bytes(),
                is_granule: size.is_granule,
                writes: off[0],
                reads: off[1],
                all_writes: all[0].max(off[0]),
                all_reads: all[1].max(off[1]),
                lost,
            })
        };
        self.sizes.iter().map(count).collect()
    }
}

/// Place where operations of `device` are counted. Requests are sent by whoever happens to, so what
/// is of a thread or a group is counted where it is handed in.
pub(super) fn level(device: &WatchedNode, scopes: &[CountedScope<'_>]) -> BlockLevel {
    let is_all = matches!(scopes, [CountedScope::Machine]);
    if device.sampled.has_requests && is_all { BlockLevel::Requests } else { BlockLevel::Bios }
}

fn stream(events: &BlockEvents, filter: &BlockFilter) -> Result<TracepointStream, TracepointError> {
    let stream = events.stream(filter, RING_BYTES)?;
    stream.listen(true)?;
    Ok(stream)
}

fn sum(counters: &[TracepointCounter]) -> Result<u64, TracepointError> {
    counters.iter().try_fold(0_u64, |sum, counter| Ok(sum.saturating_add(counter.count()?)))
}
