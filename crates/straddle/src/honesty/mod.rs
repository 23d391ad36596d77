//! Whether a sync that completed in a directory is real: what lies under it, what each layer
//! counted while syncs were made, how long they took, and what a process does to its own.
//!
//! | file | holds |
//! |---|---|
//! | `layers.rs` | from the directory down to drives, loop devices followed |
//! | `device.rs` | what a block device is, and whether it counts flushes |
//! | `windows.rs` | syncs of a small file without a name, and all counters around them |
//! | `process.rs` | what this process and another do to their own syncs |
//! | `document.rs` | the part of the document |
//!
//! What follows from all that is in `stack::honesty`.

mod device;
mod document;
mod layers;
mod process;
mod windows;

use std::path::Path;

use report::Refusal;
use report::fsync::Honesty;
use stack::honesty::{Evidence, judge};

use crate::scene::Scene;

pub(crate) use windows::WRITTEN_BYTES_MAX;

/// Looks whether syncs in `directory` are real, and, with `pid`, whether that process makes any.
/// Some hundred KiB are written to a file of its own in `directory`.
///
/// # Errors
/// When there is no such process, and when a sync failed. All else that cannot be seen is
/// part of the answer.
pub(crate) fn look(scene: &Scene, directory: &Path, pid: Option<u32>) -> Result<Honesty, Refusal> {
    let process = pid.map(process::asked).transpose()?;
    let mut found = layers::under(scene, directory);
    let times = windows::tried(scene.tree(), directory, &mut found);
    let times = match times {
        Err(error) if error.is_sync => {
            return Err(Refusal {
                message: format!("stopped, and not tried again: {error}"),
                hint: Some(
                    "look into the kernel's log (dmesg): what was written may be lost".into(),
                ),
            });
        }
        tried => tried.map_err(|error| error.to_string()),
    };
    let layers = found.into_iter().map(|found| found.layer).collect();
    let evidence = Evidence { layers, times, here: process::here(), process };
    Ok(document::of(&evidence, &judge(&evidence)))
}
