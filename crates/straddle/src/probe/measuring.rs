//! The questions of `measure::probe`, asked of a real queue.

use std::time::Duration;

use host::engine::{Access, Buffers, SyncQueue, UringQueue, now_ns};
use measure::probe::{
    Answer, Ask, Budget, Granule, Purse, Stripe, Turn, Turns, granule, stripe, turn,
};
use measure::{Fault, Run as Stretch};
use report::probe::{Probe as Document, RunRefusal};

use super::bed::Bed;
use super::{Run, refused};
use crate::bench::quiet::{BUSY_PERCENT, SHARE_PERCENT, busy_percent};

/// The probability that any of all answers is wrong, at most.
const ALPHA: f64 = 0.02;
/// How many reads are in flight.
const DEPTH: u16 = 16;
/// The most operations.
const OPERATIONS: u64 = 20_000_000;
/// How much of the time the writes may take, in percent; the rest is the reads'.
const WRITES_PERCENT: u64 = 65;
/// How long a rest goes on before it is looked whether the user wants to end, in nanoseconds.
const REST_NS: u64 = 50_000_000;

/// What was found; `None` where it was not asked.
pub(super) struct Found {
    pub(super) granule: Option<Granule>,
    pub(super) turn: Option<Answer<Turn>>,
    pub(super) turns: Option<Answer<Turns>>,
    pub(super) stripe: Stripe,
}

/// Asks all questions that can be asked there.
pub(super) fn run(run: &Run<'_>, bed: &Bed, document: &mut Document) -> Result<Found, RunRefusal> {
    let is_busy = busy_percent(&bed.place).is_some_and(|percent| percent >= BUSY_PERCENT);
    if is_busy {
        document.notes.push(format!(
            "the drive is busy with others' work: depth 1 and {SHARE_PERCENT} % of its time are \
             used, and what needs a depth is not tried"
        ));
    }
    let share = if is_busy { u64::from(SHARE_PERCENT) } else { 100 };
    let interrupt = &run.interrupt;
    let mut pause = |took_ns: u64| {
        let mut idle_ns = took_ns.saturating_mul(100 - share).div_euclid(share);
        while idle_ns > 0 && !interrupt.is_raised() {
            let slice_ns = idle_ns.min(REST_NS);
            std::thread::sleep(Duration::from_nanos(slice_ns));
            idle_ns -= slice_ns;
        }
        !interrupt.is_raised()
    };
    let stretches: Vec<Stretch> = bed
        .place
        .runs
        .iter()
        .map(|run| Stretch {
            offset_bytes: run.offset_bytes,
            length_bytes: run.length_bytes,
            leaf: run.leaf.0,
            address_bytes: run.address_bytes,
        })
        .collect();
    let ask =
        Ask { runs: &stretches, sector_bytes: bed.sector_bytes, alpha: ALPHA, seed: run.seed };
    let mut purse = purse(run, bed, WRITES_PERCENT);
    let begun_ns = now_ns();
    let mut found = Found { granule: None, turn: None, turns: None, stripe: Stripe::not_tried("") };
    if bed.writes {
        writes(run, bed, &ask, &mut purse, &mut pause, &mut found)?;
    }
    let took_ns = now_ns().saturating_sub(begun_ns);
    let mut rest = Purse::new(Budget { nanoseconds: left_ns(run, took_ns), ..BUDGET }, now_ns());
    found.stripe = match is_busy {
        true => {
            Stripe::not_tried("the drive is busy, and depth 1 is all that is done to a busy one")
        }
        false => reads(run, bed, &ask, &found, &mut rest, &mut pause)?,
    };
    document.spent.written_bytes = bed.prepared_bytes.saturating_add(purse.written_bytes());
    document.spent.operations = purse.operations().saturating_add(rest.operations());
    match bed.moved() {
        Some(reason) => Err(refused(reason, Some("try again on a quieter file system"))),
        None => Ok(found),
    }
}

const BUDGET: Budget = Budget { written_bytes: 0, operations: OPERATIONS, nanoseconds: 0 };

fn total_ns(run: &Run<'_>) -> u64 {
    u64::from(run.probe.seconds).saturating_mul(1_000_000_000)
}

fn left_ns(run: &Run<'_>, took_ns: u64) -> u64 {
    total_ns(run).saturating_sub(took_ns)
}

fn purse(run: &Run<'_>, bed: &Bed, percent: u64) -> Purse {
    let written_bytes = run.probe.bytes_max.saturating_sub(bed.prepared_bytes);
    let nanoseconds = total_ns(run).div_euclid(100).saturating_mul(percent);
    Purse::new(Budget { written_bytes, operations: OPERATIONS, nanoseconds }, now_ns())
}

/// What durable writes say.
fn writes(
    run: &Run<'_>,
    bed: &Bed,
    ask: &Ask<'_>,
    purse: &mut Purse,
    pause: &mut dyn FnMut(u64) -> bool,
    found: &mut Found,
) -> Result<(), RunRefusal> {
    let engine = |error: host::engine::EngineError| refused(error.to_string(), error.hint());
    let mut buffers = Buffers::new(1, granule::BUFFER_BYTES).map_err(engine)?;
    buffers.fill(run.seed);
    let file = bed.open(Access::Write)?;
    let mut queue = SyncQueue::new(vec![file], buffers).map_err(engine)?;
    let turn = turn::find(&mut queue, ask, purse, pause).map_err(|fault| faulty(&fault))?;
    let granule = granule::find(&mut queue, ask, purse, pause).map_err(|fault| faulty(&fault))?;
    found.turns = Some(turn::policy(ask, &turn, &granule));
    (found.turn, found.granule) = (Some(turn), Some(granule));
    Ok(())
}

/// What reads at a depth say.
fn reads(
    run: &Run<'_>,
    bed: &Bed,
    ask: &Ask<'_>,
    found: &Found,
    purse: &mut Purse,
    pause: &mut dyn FnMut(u64) -> bool,
) -> Result<Stripe, RunRefusal> {
    let granule = found.granule.as_ref().and_then(|found| found.alignment.value());
    let unit_bytes =
        granule.map_or(stripe::HALF_BYTES, |found| found.bytes.max(stripe::HALF_BYTES));
    let buffer_bytes = u32::try_from(unit_bytes.saturating_mul(2)).unwrap_or(u32::MAX);
    let engine = |error: host::engine::EngineError| refused(error.to_string(), error.hint());
    let mut buffers = Buffers::new(DEPTH, buffer_bytes).map_err(engine)?;
    buffers.fill(run.seed);
    let file = bed.open(Access::Read)?;
    // Where there is no io_uring, the rest was still found.
    let mut queue = match UringQueue::new(vec![file], buffers) {
        Ok(queue) => queue,
        Err(error) => return Ok(Stripe::not_tried(&format!("there is no depth: {error}"))),
    };
    stripe::find(&mut queue, ask, Some(unit_bytes), purse, pause).map_err(|fault| faulty(&fault))
}

fn faulty(fault: &Fault) -> RunRefusal {
    let hint = "straddle explain knows what the kernel logs";
    refused(format!("the measurement failed: {fault}"), Some(hint))
}
