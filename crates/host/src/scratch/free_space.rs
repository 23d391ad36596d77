//! Space that must stay free before a scratch file is made.

use units::DiskText;

use super::error::ScratchError;
use super::unfit_filesystems::Filesystem;
use super::wanted_length::ScratchPlan;

/// Enough of a file system stays free when this does, or a twentieth of it.
const KEEP_BYTES: u64 = 64 << 20;
const KEEP_SHARE: u64 = 20;

/// Returns whether there is room for a file as in `plan`, and it can be written.
pub(super) fn check_room(
    filesystem: &Filesystem,
    plan: ScratchPlan,
    directory: &DiskText,
) -> Result<(), ScratchError> {
    let directory = directory.clone();
    if filesystem.read_only {
        return Err(ScratchError::ReadOnly { directory });
    }
    let free_bytes = filesystem.free_bytes;
    let keep_bytes = filesystem.total_bytes.div_euclid(KEEP_SHARE).min(KEEP_BYTES);
    let length_bytes = plan.length_bytes;
    match free_bytes.checked_sub(length_bytes) {
        Some(left) if left >= keep_bytes => Ok(()),
        // Some file systems do not say how long they are.
        _ if filesystem.total_bytes == 0 => Ok(()),
        _ => Err(ScratchError::Space { directory, length_bytes, free_bytes, keep_bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twentieth_or_64_mib_stay_free() {
        let room = |total_bytes, free_bytes| {
            let filesystem = Filesystem { total_bytes, free_bytes, ..Filesystem::default() };
            check_room(&filesystem, ScratchPlan::EXAMPLE, &DiskText::from_bytes(b"/data")).is_ok()
        };
        assert!(room(100 << 30, 128 << 20));
        assert!(!room(100 << 30, (128 << 20) - 1));
        assert!(room(100 << 20, 69 << 20));
        assert!(!room(100 << 20, (69 << 20) - 1));
        assert!(!room(100 << 20, 1 << 20));
    }
}
