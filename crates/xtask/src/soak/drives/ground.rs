//! Where a built-in drive is measured: a stretch of its addresses, behind a queue.

use drive::profile::DriveProfile;
use drive::{Host, Model, ModelQueue};
use measure::Run;

/// The length of the stretch.
const SCRATCH_BYTES: u64 = 64 << 20;
/// Place where it may start: far enough apart that caches share nothing.
const START_BYTES: u64 = 1 << 30;
/// Number of starts there are.
const STARTS: u64 = 7;
/// The longest operation.
const BUFFER_BYTES: usize = 128 << 10;
/// What a host takes between two operations, in nanoseconds.
const TURNAROUND_NS: u64 = 4_000;

/// A drive's queue at that depth; its addresses are those of the drive, from the stretch on.
pub(super) fn queue(
    profile: &DriveProfile,
    depth: u16,
    seed: u64,
) -> Result<ModelQueue<Box<dyn Model>>, drive::PlanFault> {
    let model = profile.model()?;
    let host = Host {
        depth,
        buffer_bytes: BUFFER_BYTES,
        start_bytes: start_bytes(seed),
        turnaround_ns: TURNAROUND_NS,
        has_cache: model.has_write_cache(),
        has_fua: false,
    };
    Ok(ModelQueue::new(model, host))
}

/// The stretch.
pub(super) fn run(seed: u64) -> Run {
    let address_bytes = start_bytes(seed);
    Run { offset_bytes: 0, length_bytes: SCRATCH_BYTES, leaf: 0, address_bytes }
}

pub(super) fn start_bytes(seed: u64) -> u64 {
    START_BYTES * (1 + seed % STARTS)
}
