//! The stack beneath a file, a device, or the loop devices of another stack.

use std::path::Path;

use host::FileFacts;
use report::Refusal;
use stack::assemble::Assembled;
use stack::judge::{self, Verdict};
use stack::layer::HostPlace;
use stack::{Layer, LayerId, LayerKind, Mapping, Stack};
use units::prefix::Exact;

use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::tracer::{Traced, Tracer};

/// The most layers that one line names.
const NAMES_MAX: usize = 8;

/// `assembled` with what lies beneath its loop devices: the files behind them, and all that those
/// lie on; or unknown, with the reason. A loop device over a file in memory stays where it is, and
/// every loop device where it is the disk that the user specified.
pub(crate) fn of_loops(inspected: &InspectedMachine, assembled: Assembled) -> Assembled {
    if inspected.ends_at_loops {
        return assembled;
    }
    let is_loop = |layer: &Layer| match &layer.kind {
        LayerKind::Drive(drive) => drive.backing_file.is_some(),
        _ => false,
    };
    let loops = assembled.stack.iter().filter(|(_, layer)| is_loop(layer));
    let loops: Vec<LayerId> = loops.map(|(id, _)| id).collect();
    if loops.is_empty() {
        return assembled;
    }
    let mut tracer = Tracer::new(inspected, false);
    tracer.fills_holes = true;
    let unknown = |id: LayerId| {
        let reason = "the capture does not say where its file is".to_owned();
        (id, Mapping::Unknown { on: Vec::new(), reason })
    };
    let behind = match inspected.is_captured {
        true => loops.into_iter().map(unknown).collect(),
        false => tracer.loops_on_disks(&assembled.stack),
    };
    if behind.is_empty() {
        return assembled;
    }
    let raised_by = tracer.stack.graft(&assembled.stack, &behind);
    let roots = assembled.roots.iter().map(|root| LayerId(root.0 + raised_by)).collect();
    Assembled { stack: tracer.stack, roots, incomplete: assembled.incomplete }
}

/// Place where files lie on this machine; devices are looked at once, however many files are on
/// them.
pub(crate) struct FileHosts<'a>(Tracer<'a>);

impl FileHosts<'_> {
    pub(crate) fn new(inspected: &InspectedMachine) -> FileHosts<'_> {
        let mut tracer = Tracer::new(inspected, false);
        tracer.fills_holes = true;
        FileHosts(tracer)
    }

    /// Returns where the file at `path` lies, holes counted as what they will be.
    pub(crate) fn of(&mut self, path: &Path) -> HostPlace {
        let found = match self.0.file(path) {
            Ok(traced) => host(&self.0, &traced),
            Err(refusal) => HostPlace { on: Err(refusal.message), off: None },
        };
        self.0.keep_devices();
        found
    }
}

fn host(tracer: &Tracer<'_>, traced: &Traced) -> HostPlace {
    let stack = &tracer.stack;
    let under = stack.under(traced.id).into_iter().rev().filter(|&id| id != traced.id);
    let names: Vec<&str> = under.map(|id| stack.layer(id).name.as_str()).take(NAMES_MAX).collect();
    let judgment = judge::judge(stack, traced.id);
    let off = judgment.granule.as_ref().map(|miss| {
        let (unit, owner) = (Exact(miss.unit.length_bytes()), &stack.layer(miss.owner).name);
        let share = report::percent(miss.share * 100.0);
        match miss.offset_bytes {
            Some(bytes) => {
                format!("{share} of it is {} off the granule of {owner}, {unit}", Exact(bytes))
            }
            None => format!("{share} of it is off the granule of {owner}, {unit}"),
        }
    });
    let on = match judgment.verdict {
        Verdict::Unknown => Err(judgment.reason),
        _ => Ok(names.join(" on ")),
    };
    HostPlace { on, off }
}

/// The stack under the file at `path`, the file's layer in it, and what statx says of the file.
/// `name` stands for the file in what is printed.
///
/// # Errors
/// When the file cannot be traced; the refusal says why and what to do.
pub(crate) fn of_file(
    inspected: &InspectedMachine,
    path: &Path,
) -> Result<(Stack, LayerId, FileFacts), Refusal> {
    let mut tracer = Tracer::new(inspected, true);
    let traced = tracer.file(path)?;
    Ok((tracer.stack, traced.id, traced.facts))
}

/// The stack under the block device with this number, loop devices followed, and its layer in it.
///
/// # Errors
/// When the kernel's tree does not have it.
pub(crate) fn of_device(
    inspected: &InspectedMachine,
    number: (u32, u32),
) -> Result<(Stack, LayerId), Refusal> {
    let mut tracer = Tracer::new(inspected, false);
    let id = tracer.device(number)?;
    Ok((tracer.stack, id))
}
