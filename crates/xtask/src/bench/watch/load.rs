//! Loads: random direct writes of 4 KiB of zeros, one after the other and many in flight.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use device::{Action, Completion, Durability, Operation, Queue as _};
use host::engine::{Buffers, UringQueue};
use rustix::fs::{Mode, OFlags};
use testkit::running_program::cpu_time;
use units::random::Random;

/// Length of the disks that are written.
pub(super) const DISK_BYTES: u64 = 64 << 20;
/// Length of a write, which starts at a multiple of it.
const WRITE_BYTES: u32 = 4096;
/// Writes in flight in the second load.
const DEPTH: u16 = 32;
/// Writes between two looks at the clock.
const CHUNK: u64 = 512;
const WRITE: Action = Action::Write { durability: Durability::Cached, atomic: false };

/// Figures of both loads in one arm of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LoadFigures {
    /// Time on the processor of the thread that writes one by one, in nanoseconds a write.
    pub(super) cpu_ns: f64,
    /// Writes in a second with many in flight.
    pub(super) iops: f64,
    /// Writes of both loads.
    pub(super) writes: u64,
}

/// Runs both loads on the device at `path`, each for `time`.
///
/// # Errors
/// When the device cannot be opened or a write fails.
pub(super) fn run(path: &Path, time: Duration, random: &mut Random) -> anyhow::Result<LoadFigures> {
    let (single, cpu_ns) = one_by_one(path, time, random)?;
    let (deep, wall) = in_flight(path, time, random)?;
    Ok(LoadFigures { cpu_ns, iops: deep as f64 / wall.as_secs_f64(), writes: single + deep })
}

/// Writes every place of the device at `path` once.
///
/// # Errors
/// When it cannot be opened or a write fails.
pub(super) fn fill(path: &Path) -> anyhow::Result<()> {
    let file = opened(path)?;
    let mut buffers = Buffers::new(1, WRITE_BYTES)?;
    let bytes: &[u8] = buffers.slot(0);
    for place in 0..DISK_BYTES / u64::from(WRITE_BYTES) {
        let moved = rustix::io::pwrite(&file, bytes, place * u64::from(WRITE_BYTES))?;
        ensure!(moved == bytes.len(), "a short write");
    }
    Ok(())
}

/// The number of writes, and the time on the processor that each took.
fn one_by_one(path: &Path, time: Duration, random: &mut Random) -> anyhow::Result<(u64, f64)> {
    let file = opened(path)?;
    let mut buffers = Buffers::new(1, WRITE_BYTES)?;
    let bytes: &[u8] = buffers.slot(0);
    let (mut writes, begun, used) = (0, Instant::now(), cpu_time());
    while begun.elapsed() < time {
        for _ in 0..CHUNK {
            let moved = rustix::io::pwrite(&file, bytes, place(random))?;
            ensure!(moved == bytes.len(), "a short write");
        }
        writes += CHUNK;
    }
    let used = cpu_time() - used;
    Ok((writes, used.as_secs_f64() * 1e9 / writes.max(1) as f64))
}

/// The number of writes, and the time that they took together.
fn in_flight(path: &Path, time: Duration, random: &mut Random) -> anyhow::Result<(u64, Duration)> {
    let file = opened(path)?;
    let mut queue = UringQueue::new(vec![file], Buffers::new(DEPTH, WRITE_BYTES)?)?;
    let none = Completion { slot: 0, submitted_ns: 0, completed_ns: 0, result: Ok(0) };
    let mut ended = [none; DEPTH as usize];
    let mut free: Vec<u16> = (0..DEPTH).collect();
    let (mut writes, begun, mut is_over) = (0, Instant::now(), false);
    let mut until_look = CHUNK;
    loop {
        for slot in free.drain(..).filter(|_| !is_over) {
            let (offset_bytes, length_bytes) = (place(random), WRITE_BYTES);
            queue.push(Operation { action: WRITE, file: 0, slot, offset_bytes, length_bytes });
            writes += 1;
            until_look = until_look.saturating_sub(1);
        }
        queue.submit()?;
        let count = queue.reap(&mut ended, 1)?;
        for completion in &ended[..count] {
            ensure!(completion.result == Ok(WRITE_BYTES), "a failed write: {completion:?}");
            free.push(completion.slot);
        }
        if is_over && count == 0 {
            return Ok((writes, begun.elapsed()));
        }
        if until_look == 0 {
            (is_over, until_look) = (begun.elapsed() >= time, CHUNK);
        }
    }
}

/// The device for direct writes, with a claim on it: nobody else may mount it meanwhile.
fn opened(path: &Path) -> anyhow::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty());
    file.with_context(|| format!("cannot open {}", path.display()))
}

fn place(random: &mut Random) -> u64 {
    random.below(DISK_BYTES / u64::from(WRITE_BYTES)) * u64::from(WRITE_BYTES)
}
