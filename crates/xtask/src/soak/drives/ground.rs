//! Where a drive of the house is measured: a stretch of its addresses, behind a queue.

use drive::profile::DriveProfile;
use drive::{Host, Model, ModelQueue};
use measure::Run;

/// The length of the stretch.
const SCRATCH_BYTES: u64 = 64 << 20;
/// Where it may start: far enough apart that caches share nothing.
const START_BYTES: u64 = 1 << 30;
/// How many starts there are.
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
) -> Result<ModelQueue<Box<dyn Model>>, drive::hard_disk::PlanFault> {
    let host = Host {
        depth,
        buffer_bytes: BUFFER_BYTES,
        start_bytes: start_bytes(seed),
        turnaround_ns: TURNAROUND_NS,
        has_cache: has_cache(profile),
        has_fua: false,
    };
    Ok(ModelQueue::new(profile.model()?, host))
}

/// The stretch.
pub(super) fn run(seed: u64) -> Run {
    let address_bytes = start_bytes(seed);
    Run { offset_bytes: 0, length_bytes: SCRATCH_BYTES, leaf: 0, address_bytes }
}

pub(super) fn start_bytes(seed: u64) -> u64 {
    START_BYTES * (1 + seed % STARTS)
}

/// Whether it says that it has a cache that forgets: a controller's, a cloud's and those with
/// power-loss protection do not.
pub(super) fn has_cache(profile: &DriveProfile) -> bool {
    use drive::profile::Kind;
    match profile.kind {
        Kind::HardDisk | Kind::Array => true,
        Kind::Flash => profile.amount("volatile") == Some(1),
        Kind::Memory | Kind::Cloud | Kind::Controller => false,
    }
}
