//! Consequences of a run for the drive and for others, said before anything is written.

use report::fsync::{Forecast, FsyncTarget};
use units::prefix::Size;

/// The most that a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Uses {
    /// Of free space, in bytes.
    pub(super) scratch_bytes: u64,
    /// Written, in bytes.
    pub(super) written_bytes: u64,
    pub(super) seconds: u64,
}

/// Returns what it means for `target` to be used so.
pub(super) fn of(target: &FsyncTarget, uses: Uses) -> Forecast {
    let Uses { scratch_bytes, written_bytes, seconds } = uses;
    let mut impact = vec![format!(
        "other programs' syncs on this drive are slower meanwhile; {} of free space are in use",
        Size(scratch_bytes)
    )];
    if target.layers.is_empty() && !target.filesystem.is_empty() {
        impact.push(format!(
            "no drive is visible under {}: the run measures the path to it",
            target.filesystem
        ));
    }
    Forecast {
        scratch_bytes,
        written_bytes_max: written_bytes,
        seconds_max: seconds,
        wear: report::bench::wear(written_bytes, target.capacity_bytes),
        impact,
    }
}
