//! Evidence of whether a sync that completed in a directory is real: what lies under it, what each
//! layer counted while syncs were made, how long they took, and what a process does to its own.
//!
//! | file | holds |
//! |---|---|
//! | `layers.rs` | from the directory down to drives, loop devices followed |
//! | `external_device.rs` | devices that a file system has beside its own: that of its log |
//! | `device.rs` | what a block device is, and whether it counts flushes |
//! | `sync_windows.rs` | syncs of a small file without a name, and all counters around them |
//! | `process.rs` | what this process and another do to their own syncs |
//! | `document.rs` | the part of the document |
//! | `process_words.rs` | of that, what is said of a process |
//!
//! The conclusions from all that are in `durability`.

mod device;
mod document;
mod external_device;
mod layers;
mod process;
mod process_words;
mod sync_windows;

use durability::{Evidence, Process, Untried, judge};
use host::{Interrupt, Pinned};
use report::Refusal;
use report::fsync::Honesty;
use units::{Known, text};

use crate::shared::file_system_failure;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::path_mount::PathMount;
use crate::world::World;

pub(crate) use process::asked;
use sync_windows::LookClock;
pub(crate) use sync_windows::{LENGTH_BYTES_MAX, LOOK_NS, LookTime, WRITTEN_BYTES_MAX};

/// Looks whether syncs in `directory` are real, and, with `process`, whether that makes any. At
/// most [`WRITTEN_BYTES_MAX`] are written to a file of its own in `directory`, in this `time`, or
/// until the user wants no more.
///
/// # Errors
/// When a sync failed. All else that cannot be seen is part of the answer.
pub(crate) fn look<W: World>(
    world: &W,
    inspected: &InspectedMachine,
    (directory, process): (&Pinned, Option<Process>),
    time: LookTime,
    interrupt: &Interrupt,
) -> Result<Honesty, Refusal> {
    let mut found = layers::under(inspected, directory);
    let clock = world.clock();
    let time = LookClock::new(&*clock, time, interrupt);
    let create = || world.trial(directory);
    let (times, ended) = sync_windows::tried(inspected.tree(), create, &mut found, &time);
    if let Some(error) = ended.as_ref().filter(|error| error.is_sync) {
        return Err(Refusal::hinted(
            format!("cannot go on: a sync failed, and is not tried again: {error}"),
            "what was written may be lost; see the kernel's log: dmesg -T",
        ));
    }
    let untried = match ended {
        Some(error) => Some(Untried {
            reason: error.to_string(),
            has_no_room: error.has_no_room,
            advice: file_system_failure::advice(inspected, directory.given(), false),
        }),
        None => (times.syncs() == 0).then(|| Untried {
            reason: "the time ran out before the first one".to_owned(),
            has_no_room: false,
            advice: Some("allow more time: --seconds 60".to_owned()),
        }),
    };
    let layers = found.into_iter().map(|found| found.layer).collect();
    let process = process.map(|process| {
        let writes = match PathMount::of(inspected, directory) {
            Ok(here) => process::writes(&process, &here.mount.device),
            Err(reason) => Known::no(reason),
        };
        Process { writes, ..process }
    });
    let directory = text::escape(directory.given().as_os_str().as_encoded_bytes());
    let here = process::here();
    let evidence = Evidence { directory, layers, times, untried, here, process };
    Ok(document::of(&evidence, &judge(&evidence)))
}
