//! The disk that a plan or a conversion is of: its stack, its layer, its serial number.

use std::rc::Rc;

use device::Disk;
use format::lost_table;
use host::ImageFiles;
use report::Refusal;
use stack::assemble::{self, Assembled, Start, StartKind};
use stack::{Bare, Condition, Layer, LayerId, LayerKind, Mapping, Stack};
use units::text::shell_word;

use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::stack_beneath;
use crate::shared::target::{self, CheckTarget, What};

/// The stack of a target that is to be changed as `verb` says, and the kernel's name of the device
/// that was meant.
pub(crate) fn assembled(
    verb: &str,
    target: &CheckTarget,
    inspected: &InspectedMachine,
    on: Option<&Condition>,
) -> Result<(Assembled, Option<String>), Refusal> {
    match &target.what {
        What::Refused(refusal) => Err(match target::image_around(&target.name) {
            Some(image) => {
                let hint = format!("name the whole image: straddle {verb} {}", shell_word(image));
                Refusal::hinted(refusal.message.clone(), hint)
            }
            None => refusal.clone(),
        }),
        What::File(path) | What::Found(path) | What::Again { path, .. } => {
            let start = target::start_file(path)?;
            Ok((assemble::assemble(vec![start], &ImageFiles::Directory, on), None))
        }
        What::Devices { nodes, meant } => {
            let machine = inspected.machine().map_err(|reason| {
                Refusal::new(format!("cannot {verb} {}: {reason}", target.name), None)
            })?;
            let device = meant.map(|id| machine.node(id).name.clone());
            let assembled = inspected.assemble(machine, nodes, on);
            Ok((stack_beneath::of_loops(inspected, assembled), device))
        }
    }
}

/// Returns the layer that the kernel calls `device`, else the first of a file.
pub(crate) fn meant(stack: &Stack, device: Option<&str>) -> Option<LayerId> {
    let is_meant = |(_, layer): &(LayerId, &Layer)| match (device, &layer.kind) {
        (Some(device), LayerKind::Drive(drive)) => drive.name == device,
        (Some(device), _) => layer.device.as_deref() == Some(device),
        (None, _) => matches!(layer.mapping, Mapping::Leaf),
    };
    stack.iter().find(is_meant).map(|(id, _)| id)
}

/// Returns why the bytes of a disk could not be read; `None` where they could.
pub(crate) fn unread(stack: &Stack, disk: LayerId) -> Option<String> {
    let layer = stack.layer(disk);
    let is_read = stack.bytes(disk).is_some();
    let problem = layer.problems.first().map(|problem| problem.detail.clone());
    (!is_read).then(|| problem.unwrap_or_else(|| "its bytes could not be read".to_owned()))
}

/// Returns why a disk without a partition, or the guest's disk on it, is not empty: volumes on it
/// that no table lists; `None` where none was found.
pub(crate) fn lost_volumes(stack: &Stack, disk: LayerId) -> Option<String> {
    let all = [disk].into_iter().chain(stack.over(disk));
    all.into_iter().find_map(|id| match &stack.layer(id).bare {
        Some(Bare::Lost(volumes)) => Some(lost_table::reason(volumes)),
        _ => None,
    })
}

/// Returns why the content of a disk, or of the guest's disk on it, is not known; `None` if it is.
pub(crate) fn unknown_content(stack: &Stack, disk: LayerId) -> Option<String> {
    let all = [disk].into_iter().chain(stack.over(disk));
    all.into_iter().find_map(|id| match &stack.layer(id).bare {
        Some(Bare::Unknown(reason)) => Some(reason.clone()),
        _ => None,
    })
}

/// Returns the reason that leaves nothing to change where the partition table of `disk` is empty;
/// `None` where it lists a partition, or there is no table.
pub(crate) fn empty_table(stack: &Stack, disk: LayerId) -> Option<String> {
    let is_image = |id: &LayerId| matches!(stack.layer(*id).kind, LayerKind::ImageFormat(_));
    // A table in a volume on the disk is not the disk's.
    let own = [disk].into_iter().chain(stack.over(disk).into_iter().filter(is_image));
    let table = own.flat_map(|id| &stack.layer(id).tables).next()?;
    Some(format!("its {} partition table lists no partition", table.kind.word()))
}

/// The stack of a raw copy of the disk on layer `disk`, and that disk; `None` where its bytes
/// cannot be read.
pub(crate) fn raw_copy(
    stack: &Stack,
    disk: LayerId,
    on: Option<&Condition>,
) -> Option<(Stack, LayerId)> {
    let stack = of_bytes(Rc::clone(stack.bytes(disk)?), &stack.layer(disk).name, on);
    let disk = layout::disk_of(&stack, None)?;
    Some((stack, disk))
}

/// The stack of a raw image that holds `bytes`.
pub(crate) fn of_bytes(bytes: Rc<dyn Disk>, name: &str, on: Option<&Condition>) -> Stack {
    let identity = device::FileIdentity { device: 0, inode: 0 };
    let kind = StartKind::File { path: Vec::new(), identity };
    let start = Start { kind, name: name.to_owned(), bytes: Some(Ok(bytes)) };
    assemble::assemble(vec![start], &device::NoFiles, on).stack
}

/// The serial number of a drive, as the script reads it again.
pub(crate) fn serial(inspected: &InspectedMachine, stack: &Stack, disk: LayerId) -> Option<String> {
    let LayerKind::Drive(drive) = &stack.layer(disk).kind else { return None };
    let text =
        inspected.tree().read(&format!("/sys/class/block/{}/device/serial", drive.name)).ok()?;
    let text: String = text.chars().filter(|letter| !matches!(letter, ' ' | '\n')).collect();
    Some(text).filter(|text| !text.is_empty())
}
