//! Space that must stay free before a scratch file is made, on its file system and on every store
//! below.

use units::DiskText;

use super::below::StoreBelow;
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
    let keep_bytes = keep_bytes(filesystem.total_bytes);
    let length_bytes = plan.length_bytes;
    match free_bytes.checked_sub(length_bytes) {
        Some(left) if left >= keep_bytes => Ok(()),
        // Some file systems do not say how long they are.
        _ if filesystem.total_bytes == 0 => Ok(()),
        _ => Err(ScratchError::Space { directory, length_bytes, free_bytes, keep_bytes }),
    }
}

/// Returns whether every store below has room for what a file of `length_bytes` may take there.
/// A store whose room is unknown refuses nothing.
pub(super) fn check_below(
    stores: Vec<StoreBelow>,
    length_bytes: u64,
    directory: &DiskText,
) -> Result<(), ScratchError> {
    for store in stores {
        let needs_bytes = store.needs_bytes();
        let Some(room) = store.room().filter(|_| needs_bytes > 0) else { continue };
        let keep_bytes = keep_bytes(room.total_bytes);
        if room.free_bytes < needs_bytes.saturating_add(keep_bytes) {
            return Err(ScratchError::Below {
                directory: directory.clone(),
                length_bytes,
                needs_bytes,
                free_bytes: room.free_bytes,
                keep_bytes,
                store: Box::new(store),
            });
        }
    }
    Ok(())
}

fn keep_bytes(total_bytes: u64) -> u64 {
    total_bytes.div_euclid(KEEP_SHARE).min(KEEP_BYTES)
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
