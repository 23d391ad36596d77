//! Whether a sync that completed in a directory is real: what lies under it, what each layer
//! counted while syncs were made, how long they took, and what a process does to its own.
//!
//! | file | holds |
//! |---|---|
//! | `layers.rs` | from the directory down to drives, loop devices followed |
//! | `device.rs` | what a block device is, and whether it counts flushes |
//! | `windows.rs` | syncs of a small file without a name, and all counters around them |
//! | `document.rs` | the part of the document |
//!
//! What follows from all that is in `stack::honesty`.

mod device;
mod document;
mod layers;
mod windows;

use std::path::Path;

use report::Refusal;
use report::fsync::Honesty;
use stack::honesty::{Evidence, Here, Process, fates, judge, suppresses};
use units::Known;

use crate::scene::Scene;

pub(crate) use windows::WRITTEN_BYTES_MAX;

/// Looks whether syncs in `directory` are real, and, with `pid`, whether that process makes any.
/// Some hundred KiB are written to a file of its own in `directory`.
///
/// # Errors
/// When there is no such process, and when a sync failed. All else that cannot be seen is
/// part of the answer.
pub(crate) fn look(scene: &Scene, directory: &Path, pid: Option<u32>) -> Result<Honesty, Refusal> {
    let process = pid.map(process).transpose()?;
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
    let evidence = Evidence { layers, times, here: here(), process };
    Ok(document::of(&evidence, &judge(&evidence)))
}

/// This process, and so all that it starts.
fn here() -> Here {
    let found = host::suppressed();
    let owned = |calls: Vec<&str>| calls.into_iter().map(str::to_owned).collect();
    Here {
        suppressed: owned(found.silent),
        refused: owned(found.refused),
        is_filtered: host::process::is_filtered(),
        preloads: host::process::own_preloads(),
    }
}

fn process(pid: u32) -> Result<Process, Refusal> {
    let look = host::look_at_process(pid).map_err(|error| Refusal {
        message: error.to_string(),
        hint: error.hint().map(str::to_owned),
    })?;
    let suppressors = match look.files {
        Known::Yes(fact) => {
            let files = fact.value.into_iter().filter(|file| suppresses(file)).collect();
            Known::yes(files, fact.source)
        }
        Known::No(reason) => Known::No(reason),
    };
    let calls = match look.filters {
        Known::Yes(fact) => match fates(&fact.value, std::env::consts::ARCH) {
            Ok(calls) => Known::yes(calls, fact.source),
            // Without filters it does not matter what its calls are numbered.
            Err(_) if fact.value.is_empty() => Known::yes(Vec::new(), fact.source),
            Err(reason) => Known::No(reason),
        },
        Known::No(reason) => Known::No(reason),
    };
    Ok(Process { pid, name: look.name, preloads: look.preloads, suppressors, calls })
}
