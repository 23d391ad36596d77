//! Files and devices that loop devices show.
//!
//! Source: Linux `drivers/block/loop.c` (`loop/backing_file`, `LOOP_GET_STATUS64`).

use std::path::Path;

use super::device::ClaimedDevice;
use super::machine::{ClaimWorld, LoopBacking};
use super::refusal::ClaimRefusal;

/// Returns the file or device that a loop device shows; `None` where it shows nothing, or is no
/// loop device.
///
/// # Errors
/// [`ClaimRefusal::Unknown`] when that cannot be told.
pub(super) fn shown(
    machine: &impl ClaimWorld,
    device: &ClaimedDevice,
) -> Result<Option<LoopBacking>, ClaimRefusal> {
    let index = index(device);
    let path = machine.tree().read(&format!("{}/loop/backing_file", device.directory)).ok();
    let Some((index, path)) = index.zip(path) else { return Ok(None) };
    // The path says less: it may be that of another mount namespace.
    machine.behind(index).or_else(|error| match machine.identity(Path::new(&path)) {
        // Where in the file it begins is not known: it may show all of it.
        Some(what) => Ok(Some(LoopBacking { what, from_bytes: 0, limit_bytes: None })),
        None => Err(ClaimRefusal::Unknown {
            device: device.node(),
            reason: format!("what is behind it cannot be told: {error}"),
        }),
    })
}

/// Returns whether it is a loop device.
pub(super) fn is_loop(device: &ClaimedDevice) -> bool {
    index(device).is_some()
}

fn index(device: &ClaimedDevice) -> Option<u32> {
    device.name.strip_prefix("loop").and_then(|index| index.parse().ok())
}
