//! One measuring loop, run by a process of its own: ours over a queue, or a bare one.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use device::{Action, Durability, Queue};
use host::DiskStats;
use host::engine::{
    Access, Buffers, NullQueue, SyncQueue, ThreadUsage, UringQueue, now_ns, open_measured,
};
use measure::{MappedRun, SlotOrder, Slots, SlotsPlan, Subject, Work};
use units::Unit;
use units::random::Random;

/// The length of every operation.
pub(super) const OPERATION_BYTES: u32 = 4096;
/// The depth of what is kept in flight.
pub(super) const DEPTH: u16 = 128;
/// The arms of a pair: aligned, shifted, and aligned again.
const ARMS: usize = 3;
/// The operations of a block at a depth, which is drained at its end.
const BLOCK_OPERATIONS: u32 = 1 << 13;
/// Number of pairs, or readings of the clock, between two looks at how late it is.
const CHUNK: u64 = 1024;
/// Number of bare operations: as many as those of the pairs.
const BARE_CHUNK: u64 = CHUNK * ARMS as u64;
/// Length of the file that is written and read.
pub(super) const LENGTH_BYTES: u64 = 16 << 20;
const WRITE: Action = Action::Write { durability: Durability::Cached, atomic: false };

/// Some operations of a loop, and how many they were.
trait Slice: FnMut() -> anyhow::Result<u64> {}

impl<Loop: FnMut() -> anyhow::Result<u64>> Slice for Loop {}

/// The operations of a loop, and its times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LoopResult {
    pub(super) operations: u64,
    pub(super) wall_ns: u64,
    /// The thread's time in the program.
    pub(super) user_ns: u64,
    /// The thread's time in the program and in the kernel.
    pub(super) busy_ns: u64,
}

/// Runs the loop called `name` on the file or device at `path`; what each of its parts did, which
/// is one but for `side-by-side`.
///
/// # Errors
/// When there is no such loop, or something fails.
pub(super) fn run(name: &str, path: &Path, time: Duration) -> anyhow::Result<Vec<LoopResult>> {
    let done = match name {
        "sync" => repeated(time, sync(path)?),
        "side-by-side" => return alternated(time, sync(path)?, bare(path)?),
        "uring" => {
            let file = open_measured(path, Access::Read, true)?;
            let queue = UringQueue::new(vec![file], buffers(DEPTH)?)?;
            repeated(time, subject(queue, Action::Read, DEPTH, SlotOrder::Random)?)
        }
        "null" => repeated(time, null(1, SlotOrder::Random)?),
        "null-cursor" => repeated(time, null(1, SlotOrder::Cursor)?),
        "null-deep" => repeated(time, null(DEPTH, SlotOrder::Random)?),
        "clock" => repeated(time, clock),
        _ => bail!("no such loop: {name}"),
    };
    Ok(vec![done?])
}

/// Our loop over one pwrite after the other.
fn sync(path: &Path) -> anyhow::Result<impl Slice> {
    let file = open_measured(path, Access::Write, false)?;
    subject(SyncQueue::new(vec![file], buffers(1)?)?, WRITE, 1, SlotOrder::Cursor)
}

/// Our loop over nothing.
fn null(depth: u16, order: SlotOrder) -> anyhow::Result<impl Slice> {
    subject(NullQueue::new(buffers(depth)?)?, WRITE, depth, order)
}

fn buffers(depth: u16) -> anyhow::Result<Buffers> {
    let mut buffers = Buffers::new(depth, OPERATION_BYTES)?;
    buffers.fill(1);
    Ok(buffers)
}

/// The loop that measures in the product.
fn subject(
    queue: impl Queue,
    action: Action,
    depth: u16,
    order: SlotOrder,
) -> anyhow::Result<impl Slice> {
    let shifts_bytes = [0; ARMS];
    let runs =
        [MappedRun { offset_bytes: 0, length_bytes: LENGTH_BYTES, leaf: 0, address_bytes: 0 }];
    let unit = Unit::new(OPERATION_BYTES.into()).context("a unit of whole operations")?;
    let slots = Slots::new(SlotsPlan {
        runs: &runs,
        unit,
        operation_bytes: OPERATION_BYTES.into(),
        shifts_bytes: &shifts_bytes,
        order,
        seed: 1,
    })?;
    let work = Work {
        action,
        sync: None,
        sync_every: 0,
        operation_bytes: OPERATION_BYTES,
        depth,
        block_operations: BLOCK_OPERATIONS,
    };
    let mut subject = Subject::new(queue, None::<DiskStats>, work, slots, ARMS);
    // An observation is one operation at depth 1, and a block at another.
    let (pairs, each) = if depth == 1 { (CHUNK, 1) } else { (1, u64::from(BLOCK_OPERATIONS)) };
    Ok(move || {
        let mut operations = 0;
        for _ in 0..pairs {
            subject.start_pair();
            for arm in 0..ARMS {
                subject.observe(arm)?;
                operations += each;
            }
        }
        Ok(operations)
    })
}

/// One pwrite between two readings of the clock, and nothing that is kept.
fn bare(path: &Path) -> anyhow::Result<impl Slice> {
    let file = open_measured(path, Access::Write, false)?;
    let mut buffers = buffers(1)?;
    let mut offset_bytes = 0;
    Ok(move || {
        let bytes: &[u8] = buffers.slot(0);
        for _ in 0..BARE_CHUNK {
            let begun_ns = now_ns();
            let moved = rustix::io::pwrite(&file, bytes, offset_bytes)?;
            black_box(now_ns() - begun_ns);
            anyhow::ensure!(moved == bytes.len(), "a short write");
            offset_bytes += u64::from(OPERATION_BYTES);
            if offset_bytes == LENGTH_BYTES {
                offset_bytes = 0;
            }
        }
        Ok(BARE_CHUNK)
    })
}

/// Two readings of the clock.
fn clock() -> anyhow::Result<u64> {
    for _ in 0..CHUNK {
        black_box(now_ns());
        black_box(now_ns());
    }
    Ok(CHUNK)
}

/// Calls `some` until `time` is over.
fn repeated(time: Duration, mut some: impl Slice) -> anyhow::Result<LoopResult> {
    let end_ns = u64::try_from(time.as_nanos())?;
    // What is only done once is not what an operation costs.
    some()?;
    let mut done = LoopResult::default();
    while done.wall_ns < end_ns {
        done.add(&mut some)?;
    }
    Ok(done)
}

/// Calls both until `time` is over for both together, some operations of one and as many of the
/// other, in an order that is drawn each time: both have the same processor, memory and neighbors.
fn alternated(
    time: Duration,
    mut one: impl Slice,
    mut other: impl Slice,
) -> anyhow::Result<Vec<LoopResult>> {
    let end_ns = u64::try_from(time.as_nanos())?;
    one()?;
    other()?;
    let mut random = Random::new(1);
    let (mut first, mut second) = (LoopResult::default(), LoopResult::default());
    while first.wall_ns + second.wall_ns < end_ns {
        if random.below(2) == 0 {
            first.add(&mut one)?;
            second.add(&mut other)?;
        } else {
            second.add(&mut other)?;
            first.add(&mut one)?;
        }
    }
    Ok(vec![first, second])
}

impl LoopResult {
    /// Adds what `some` operations took.
    fn add(&mut self, some: &mut impl Slice) -> anyhow::Result<()> {
        let (used, begun_ns) = (ThreadUsage::now(), now_ns());
        self.operations += some()?;
        self.wall_ns += now_ns() - begun_ns;
        let ThreadUsage { user_ns, system_ns } = ThreadUsage::now().since(used);
        self.user_ns += user_ns;
        self.busy_ns += user_ns + system_ns;
        Ok(())
    }
}
