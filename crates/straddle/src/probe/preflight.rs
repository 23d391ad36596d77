//! Checks of what may be written, and what cannot be, before anything is.

use std::path::Path;

use host::Pinned;
use host::scratch::{ScratchError, ScratchPlan};
use report::Refusal;

use super::session::Session;
use crate::shared::halt;
use crate::shared::printer::shown;
use crate::world::{ScratchSpace, World};

/// The scratch file's length, where the bytes allow it.
const SCRATCH_BYTES: u64 = 64 << 20;
/// The shortest in which there is room to compare anything.
const SCRATCH_BYTES_LEAST: u64 = 16 << 20;
/// Most bytes of a device that are read: enough that no cache holds it.
const READ_BYTES: u64 = 4 << 30;
/// Unit of which a scratch file's length is a multiple.
const PAGE_BYTES: u64 = 4096;
/// Advice where a file system is in the way.
const ELSEWHERE: &str = "name a directory on ext4 or XFS on the same drive";

/// Returns how long the scratch file will be.
///
/// # Errors
/// When the bytes that may be written leave no room for it.
pub(super) fn scratch_bytes(run: &Session<'_>) -> Result<u64, Refusal> {
    let third = run.probe.bytes_max.div_euclid(3);
    let bytes = third.min(SCRATCH_BYTES);
    let bytes = bytes - bytes % PAGE_BYTES;
    if bytes < SCRATCH_BYTES_LEAST {
        let message = "cannot probe with fewer than 48 MiB: there is no room to compare anything";
        return Err(Refusal::hinted(message, "allow more: --bytes-max 256M"));
    }
    Ok(bytes)
}

/// Returns how much of a device of `device_bytes` is used.
///
/// # Errors
/// When that is to be written to, and is too short.
pub(super) fn raw_bytes(run: &Session<'_>, node: &Path, device_bytes: u64) -> Result<u64, Refusal> {
    if !run.probe.raw.write_device {
        return Ok(device_bytes.min(READ_BYTES));
    }
    let length_bytes = device_bytes.min(scratch_bytes(run)?);
    if length_bytes < SCRATCH_BYTES_LEAST {
        let message = format!(
            "cannot probe {}: it has {device_bytes} bytes, and at least 16 MiB are needed",
            shown(node)
        );
        let hint = "name the drive that it is a part of; to list drives: lsblk -p";
        return Err(Refusal::hinted(message, hint));
    }
    Ok(length_bytes)
}

/// The scratch file that is wanted in `directory`, and the least step of direct I/O on it, where
/// nothing is made yet but an empty file without a name, which is gone at once.
///
/// # Errors
/// When none can be made there, or what it would tell is nothing.
pub(super) fn possible<W: World>(
    run: &Session<'_>,
    world: &W,
    directory: &Pinned,
    length_bytes: u64,
) -> Result<(ScratchPlan, u64), Refusal> {
    let name = shown(directory.given());
    let plan = plan(run, length_bytes);
    let filesystem = world.possible(directory, plan).map_err(|error| no_file(&error))?;
    if filesystem == "btrfs" {
        let message = format!(
            "cannot probe in {name}: btrfs turns direct I/O that is not on its sectors into \
             buffered I/O"
        );
        return Err(Refusal::hinted(message, ELSEWHERE));
    }
    let step = world.direct_unit(directory).map_err(|error| no_file(&error))?;
    match step.value() {
        Some(step) if *step > 0 => Ok((plan, *step)),
        _ => {
            let message = format!("cannot bypass the page cache in {name}: no direct I/O there");
            Err(Refusal::hinted(message, ELSEWHERE))
        }
    }
}

/// That there is no scratch file, with the bytes to write of which one that fits is a third.
pub(super) fn no_file(error: &ScratchError) -> Refusal {
    // Without compression it would be refused as well: btrfs alone compresses.
    if matches!(error, ScratchError::Compressed { .. }) {
        return Refusal::hinted(error.to_string(), ELSEWHERE);
    }
    let room_bytes = error.room_bytes().filter(|bytes| *bytes >= SCRATCH_BYTES_LEAST);
    let smaller = room_bytes.map(|bytes| format!("--bytes-max {}M", (bytes >> 20) * 3));
    halt::no_file_but(error, smaller.as_deref())
}

fn plan(run: &Session<'_>, length_bytes: u64) -> ScratchPlan {
    ScratchPlan {
        length_bytes,
        seed: run.seed,
        budget_bytes: run.probe.bytes_max,
        nocow_on_btrfs: true,
        may_move: false,
    }
}

/// Why writes cannot be placed in `scratch`, if so.
///
/// # Errors
/// With that reason.
pub(super) fn usable(scratch: &impl ScratchSpace, directory: &Path) -> Result<(), Refusal> {
    match scratch.unusable() {
        None => Ok(()),
        Some(reason) => {
            let message = format!("cannot probe in {}: {reason}", shown(directory));
            Err(Refusal::hinted(message, ELSEWHERE))
        }
    }
}
