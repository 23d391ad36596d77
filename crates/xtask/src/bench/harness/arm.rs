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
use measure::{Order, Run, Slots, SlotsPlan, Subject, Work};
use units::Unit;

/// The length of every operation.
pub(super) const OPERATION_BYTES: u32 = 4096;
/// The depth of what is kept in flight.
pub(super) const DEPTH: u16 = 128;
/// The arms of a pair: aligned, shifted, and aligned again.
const ARMS: usize = 3;
/// The operations of a block at a depth, which is drained at its end.
const BLOCK_OPERATIONS: u32 = 1 << 13;
/// How many pairs, or bare operations, are made between two looks at how late it is.
const CHUNK: u64 = 1024;
/// What is written, and where reads go.
const LENGTH_BYTES: u64 = super::LENGTH_BYTES;
const WRITE: Action = Action::Write { durability: Durability::Cached, atomic: false };

/// What a loop did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Done {
    pub(super) operations: u64,
    pub(super) wall_ns: u64,
    /// The thread's time in the program.
    pub(super) user_ns: u64,
    /// The thread's time in the program and in the kernel.
    pub(super) busy_ns: u64,
}

/// Runs the loop called `name` on the file or device at `path`.
///
/// # Errors
/// When there is no such loop, or something fails.
pub(super) fn run(name: &str, path: &Path, time: Duration) -> anyhow::Result<Done> {
    match name {
        "sync" => {
            let file = open_measured(path, Access::Write, false)?;
            let queue = SyncQueue::new(vec![file], buffers(1)?)?;
            subject(queue, WRITE, 1, Order::Cursor, time)
        }
        "bare" => bare(path, time),
        "uring" => {
            let file = open_measured(path, Access::Read, true)?;
            let queue = UringQueue::new(vec![file], buffers(DEPTH)?)?;
            subject(queue, Action::Read, DEPTH, Order::Random, time)
        }
        "null" => subject(NullQueue::new(buffers(1)?)?, WRITE, 1, Order::Random, time),
        "null-cursor" => subject(NullQueue::new(buffers(1)?)?, WRITE, 1, Order::Cursor, time),
        "null-deep" => subject(NullQueue::new(buffers(DEPTH)?)?, WRITE, DEPTH, Order::Random, time),
        "clock" => clock(time),
        _ => bail!("there is no loop called {name}"),
    }
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
    order: Order,
    time: Duration,
) -> anyhow::Result<Done> {
    let shifts_bytes = [0; ARMS];
    let runs = [Run { offset_bytes: 0, length_bytes: LENGTH_BYTES, leaf: 0, address_bytes: 0 }];
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
    repeated(time, || {
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
fn bare(path: &Path, time: Duration) -> anyhow::Result<Done> {
    let file = open_measured(path, Access::Write, false)?;
    let mut buffers = buffers(1)?;
    let bytes: &[u8] = buffers.slot(0);
    let mut offset_bytes = 0;
    repeated(time, || {
        for _ in 0..CHUNK {
            let begun_ns = now_ns();
            let moved = rustix::io::pwrite(&file, bytes, offset_bytes)?;
            black_box(now_ns() - begun_ns);
            anyhow::ensure!(moved == bytes.len(), "a short write");
            offset_bytes += u64::from(OPERATION_BYTES);
            if offset_bytes == LENGTH_BYTES {
                offset_bytes = 0;
            }
        }
        Ok(CHUNK)
    })
}

/// Two readings of the clock.
fn clock(time: Duration) -> anyhow::Result<Done> {
    repeated(time, || {
        for _ in 0..CHUNK {
            black_box(now_ns());
            black_box(now_ns());
        }
        Ok(CHUNK)
    })
}

/// Calls `some`, which says how many operations it did, until `time` is over.
fn repeated(time: Duration, mut some: impl FnMut() -> anyhow::Result<u64>) -> anyhow::Result<Done> {
    let end_ns = u64::try_from(time.as_nanos())?;
    // What is only done once is not what an operation costs.
    some()?;
    let (used, begun_ns) = (ThreadUsage::now(), now_ns());
    let mut operations = 0;
    loop {
        operations += some()?;
        let wall_ns = now_ns() - begun_ns;
        if wall_ns >= end_ns {
            let ThreadUsage { user_ns, system_ns } = ThreadUsage::now().since(used);
            return Ok(Done { operations, wall_ns, user_ns, busy_ns: user_ns + system_ns });
        }
    }
}
