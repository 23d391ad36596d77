//! Arms that differ in their offsets alone, on one open file: the scratch file, or a device.

use std::os::fd::OwnedFd;

use device::{Action, Durability, Queue, SyncKind};
use host::DiskStats;
use host::engine::{Buffers, SyncQueue, UringQueue};
use measure::{Fault, Order, Role, Run, Slots, SlotsPlan, Subject};
use report::bench::{Experiment, Sync, Workload};
use units::prefix::Size;

use super::document::{self, About, Seen};
use super::paired_loop::{self, Bounds, Timed};
use super::plan::{self, Arm, Work};
use super::session::Session;
use crate::arguments::Durable;
use crate::shared::halt::Halt;
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::number::real;

/// Number of times that the length of a block is tried.
const REHEARSALS: u64 = 4;
/// The fewest pairs that say something.
const PAIRS_MIN: u64 = 12;
/// Number of pairs of blocks the bytes must allow.
const PAIRS_WANTED: u64 = 48;

/// Advice where a file system lets one misaligned operation of a file through at a time.
pub(crate) const BESIDE_LOCKS: &str = "measure at depth 1, or reads";

/// The arms of one comparison, and all that they share.
pub(crate) struct Setting<'a> {
    pub(crate) place: &'a MeasuredBytes,
    pub(crate) arms: &'a [Arm],
    pub(crate) work: Work,
    pub(crate) alpha: f64,
    pub(crate) bounds: Bounds,
    /// Says so if what is measured lies elsewhere now.
    pub(crate) moved: &'a dyn Fn() -> Option<String>,
}

/// Compares the arms on `file`.
pub(crate) fn compare(
    session: &mut Session<'_>,
    setting: &Setting<'_>,
    file: OwnedFd,
    counters: Option<DiskStats>,
) -> Result<Experiment, Halt> {
    let work = setting.work;
    let mut buffers = Buffers::new(work.depth, work.operation_bytes)?;
    buffers.fill(session.seed);
    if work.depth == 1 {
        let queue = SyncQueue::new(vec![file], buffers)?;
        on_queue(session, setting, queue, counters)
    } else {
        let queue = UringQueue::new(vec![file], buffers)?;
        on_queue(session, setting, queue, counters)
    }
}

fn on_queue<Q: Queue>(
    session: &mut Session<'_>,
    setting: &Setting<'_>,
    queue: Q,
    counters: Option<DiskStats>,
) -> Result<Experiment, Halt> {
    let Setting { place, arms, work, .. } = *setting;
    let slots = slots(session.seed, setting)?;
    let first_bytes = slots.first_offset_bytes();
    let mut subject = Subject::new(queue, counters, asked(work), slots, arms.len());
    let block_operations = calibrated(&mut subject, setting.bounds.bytes, arms.len())?;
    session.wrote(subject.written_bytes());
    let mut arms_in_turn = Turns { subject, work, block_operations, arms, moved: setting.moved };
    let title = work.title();
    let plan = session.experiment(arms, setting.alpha);
    let done = paired_loop::run(session, plan, &title, setting.bounds, &mut arms_in_turn)?;
    let subject = arms_in_turn.subject;
    let names: Vec<&str> = arms.iter().map(|arm| arm.name.as_str()).collect();
    for remark in subject.remarks(&names) {
        session.note(format!("{title}: {remark}"));
    }
    let shift_bytes = arms.iter().find(|arm| arm.role == Role::Shifted).map(|arm| arm.shift_bytes);
    let about = About {
        title,
        unit: if block_operations == 1 { "operation" } else { "block" },
        block_operations: u64::from(block_operations),
        workload: workload(work),
        arms: arms.to_vec(),
        seen: (0..arms.len()).map(|arm| seen(&subject, arm)).collect(),
        elapsed_ns: done.elapsed_ns,
        written_bytes: done.written_bytes,
        predicted: shift_bytes.and_then(|shift| {
            place.predicted(!work.read, first_bytes, u64::from(work.operation_bytes), shift)
        }),
        turn_ns: place.drive.as_ref().and_then(|drive| drive.turn_ns),
    };
    Ok(document::experiment(about, &done.experiment, done.conclusion))
}

fn slots(seed: u64, setting: &Setting<'_>) -> Result<Slots, Halt> {
    let Setting { place, arms, work, .. } = *setting;
    let runs: Vec<Run> = place
        .runs
        .iter()
        .map(|run| Run {
            offset_bytes: run.offset_bytes,
            length_bytes: run.length_bytes,
            leaf: run.leaf.0,
            address_bytes: run.address_bytes,
        })
        .collect();
    let shifts: Vec<u64> = arms.iter().map(|arm| arm.shift_bytes).collect();
    let plan = SlotsPlan {
        runs: &runs,
        unit: place.unit,
        operation_bytes: u64::from(work.operation_bytes),
        shifts_bytes: &shifts,
        order: if work.in_order { Order::Cursor } else { Order::Random },
        seed,
    };
    Slots::new(plan)
        .map_err(|error| Halt::hinted(error.to_string(), "make it longer: --scratch".to_owned()))
}

/// The workload in `measure`'s words.
pub(crate) fn asked(work: Work) -> measure::Work {
    let durability = match work.sync {
        Durable::Dsync => Durability::Data,
        Durable::Sync => Durability::All,
        _ => Durability::Cached,
    };
    let sync = match work.sync {
        Durable::Fdatasync if !work.read => Some(SyncKind::Data),
        Durable::Fsync if !work.read => Some(SyncKind::All),
        _ => None,
    };
    measure::Work {
        action: if work.read { Action::Read } else { Action::Write { durability, atomic: false } },
        sync,
        sync_every: if sync.is_some() { work.sync_every } else { 0 },
        operation_bytes: work.operation_bytes,
        depth: work.depth,
        block_operations: 1,
    }
}

/// The workload for the document.
fn workload(work: Work) -> Workload {
    let sync = match work.sync {
        _ if work.read => Sync::None,
        Durable::None => Sync::None,
        Durable::Fdatasync => Sync::Fdatasync,
        Durable::Fsync => Sync::Fsync,
        Durable::Dsync => Sync::Dsync,
        Durable::Sync => Sync::Sync,
    };
    Workload {
        action: if work.read { report::bench::Action::Read } else { report::bench::Action::Write },
        operation_bytes: Some(u64::from(work.operation_bytes)),
        sync,
        sync_every: if sync == Sync::None { 0 } else { work.sync_every.into() },
        depth: u64::from(work.depth),
        order: Some(if work.in_order {
            report::bench::Order::Cursor
        } else {
            report::bench::Order::Random
        }),
        direct: true,
        command: Vec::new(),
    }
}

/// Finds how many operations take about as long as a block is to take; at least four for each slot.
/// If that would leave too few pairs for `bytes` and `arms`, it is as many as allow enough.
pub(crate) fn calibrated<Q: Queue>(
    subject: &mut Subject<Q, DiskStats>,
    bytes: u64,
    arms: usize,
) -> Result<u32, Halt> {
    let depth = subject.work().depth;
    if depth == 1 {
        return Ok(subject.work().operations());
    }
    let least = u32::from(depth) * 4;
    affords(subject.work(), least, bytes, arms)?;
    let mut operations = least;
    // A few rounds, since the first ones meet cold caches.
    for _ in 0..REHEARSALS {
        subject.set_block_operations(operations);
        let took_ns = subject.rehearse()?.max(1);
        let wanted = u64::from(operations).saturating_mul(plan::BLOCK_NS).div_euclid(took_ns);
        let wanted = wanted.min(affordable(subject.work(), bytes, arms));
        operations = u32::try_from(wanted).unwrap_or(u32::MAX).clamp(least, 65_536);
    }
    subject.set_block_operations(operations);
    Ok(operations)
}

/// Refuses blocks that are too long for `bytes`, which must do to find out their length and for the
/// fewest pairs that say something.
fn affords(work: &measure::Work, least: u32, bytes: u64, arms: usize) -> Result<(), Halt> {
    if work.action == Action::Read {
        return Ok(());
    }
    let block_bytes = u64::from(least).saturating_mul(u64::from(work.operation_bytes));
    let arms = u64::try_from(arms).unwrap_or(u64::MAX);
    let blocks = REHEARSALS.saturating_add(PAIRS_MIN.saturating_mul(arms));
    let needed = block_bytes.saturating_mul(blocks);
    if needed <= bytes {
        return Ok(());
    }
    let (size, needed, left) = (Size(block_bytes), Size(needed), Size(bytes));
    Err(Halt::hinted(
        format!(
            "blocks of {size} at depth {} need {needed}, and {left} may be written",
            work.depth
        ),
        "allow more with --bytes-max, or take a smaller --depth or --size".to_owned(),
    ))
}

/// The most operations of a block with which enough pairs stay within `bytes`.
fn affordable(work: &measure::Work, bytes: u64, arms: usize) -> u64 {
    if work.action == Action::Read {
        return u64::MAX;
    }
    let arms = u64::try_from(arms).unwrap_or(u64::MAX);
    let pair_bytes = arms.saturating_mul(u64::from(work.operation_bytes)).max(1);
    bytes.div_euclid(PAIRS_WANTED).div_euclid(pair_bytes)
}

pub(crate) fn seen<Q: Queue>(subject: &Subject<Q, DiskStats>, arm: usize) -> Seen {
    let seen = subject.seen(arm);
    let seconds = real(seen.busy_ns) / 1e9;
    let rate = (seconds > 0.0).then(|| real(seen.operations) / seconds);
    Seen {
        latencies: Some(seen.latencies.clone()),
        counts: seen.counts,
        seen: seen.observations,
        exact: seen.exact,
        operations_per_second: rate,
    }
}

/// Returns what went wrong in an arm, with its name.
pub(crate) fn of_arm(arm: &Arm, fault: Fault) -> Halt {
    match Halt::from(fault) {
        Halt::Void(reason) => Halt::Void(format!("{}: {reason}", arm.name)),
        halt => halt,
    }
}

/// The arms as the contest times them.
struct Turns<'a, Q: Queue> {
    subject: Subject<Q, DiskStats>,
    work: Work,
    block_operations: u32,
    arms: &'a [Arm],
    moved: &'a dyn Fn() -> Option<String>,
}

impl<Q: Queue> Timed for Turns<'_, Q> {
    fn time(&mut self, arm: usize) -> Result<u64, Halt> {
        self.subject.observe(arm).map_err(|fault| of_arm(&self.arms[arm], fault))
    }

    fn pair_bytes(&self) -> u64 {
        if self.work.read {
            return 0;
        }
        let arms = u64::try_from(self.arms.len()).unwrap_or(u64::MAX);
        let block = u64::from(self.block_operations);
        arms.saturating_mul(block).saturating_mul(u64::from(self.work.operation_bytes))
    }

    fn start_pair(&mut self) {
        self.subject.start_pair();
    }

    fn fault(&mut self) -> Option<String> {
        let names: Vec<&str> = self.arms.iter().map(|arm| arm.name.as_str()).collect();
        let serialized = || {
            let why = self.subject.serialized(&names)?;
            Some(format!("{why}; {BESIDE_LOCKS}"))
        };
        (self.moved)().or_else(|| self.subject.accounting()).or_else(serialized)
    }
}
