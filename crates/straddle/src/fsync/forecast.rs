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
    let has_drive = !target.layers.is_empty() || target.filesystem.is_empty();
    let on = if has_drive { "on this drive" } else { "there" };
    let impact = vec![format!(
        "other programs' syncs {on} are slower meanwhile; {} of free space are in use",
        Size(scratch_bytes)
    )];
    let wear = match has_drive {
        true => report::bench::wear(written_bytes, target.capacity_bytes),
        false => format!(
            "writes at most {}; no drive is visible under {}",
            Size(written_bytes),
            target.filesystem
        ),
    };
    Forecast { scratch_bytes, written_bytes_max: written_bytes, seconds_max: seconds, wear, impact }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_is_on_no_drive_none_is_spoken() {
        let memory = FsyncTarget { filesystem: "tmpfs".to_owned(), ..FsyncTarget::default() };
        let uses = Uses { scratch_bytes: 1 << 20, written_bytes: 2 << 20, seconds: 3 };
        let Forecast { wear, impact, .. } = of(&memory, uses);
        assert_eq!(wear, "writes at most 2 MiB; no drive is visible under tmpfs");
        assert!(impact.iter().all(|sentence| !sentence.contains("drive")), "{impact:?}");
    }
}
