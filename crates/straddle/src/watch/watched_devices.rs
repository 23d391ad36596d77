//! The devices to watch: those that the user's words name, or every drive.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use host::PathIdentity;
use report::Refusal;
use stack::drive::KernelDrive;
use stack::kernel::{Machine, NodeId, NodeKind, Number};
use stack::{Condition, Layer, LayerKind, UnitKind};
use units::{Source, Unit, text};

use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::path_mount::PathMount;
use crate::shared::printer::shown;
use crate::shared::target::{CheckTarget, What, expand};
use crate::shared::title;
use crate::shared::write_sample::SampledDevice;

/// A device that is watched.
#[derive(Clone, Debug)]
pub(super) struct WatchedNode {
    pub(super) node: NodeId,
    pub(super) sampled: SampledDevice,
    /// The kernel's name, harmless to print.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) granule: Option<(Unit, Source)>,
    /// The drive, where it is one.
    pub(super) drive: Option<Box<KernelDrive>>,
    /// True if it lies on other devices: it was named, and the drives beneath are watched too.
    pub(super) is_stacked: bool,
}

/// The devices that `paths` name; every drive where there are none.
pub(super) fn watched(
    paths: &[PathBuf],
    told: Option<&Condition>,
    inspected: &InspectedMachine,
) -> Result<Vec<WatchedNode>, Refusal> {
    let machine = inspected.machine().map_err(|reason| {
        Refusal::hinted(
            format!("cannot list the drives of this machine: {reason}"),
            "mount it: mount -t sysfs sysfs /sys",
        )
    })?;
    let mut nodes = Vec::new();
    if paths.is_empty() {
        for target in expand(paths, inspected) {
            nodes.extend(drives(machine, target)?);
        }
    }
    for path in paths {
        nodes.extend(named(path, machine, inspected)?);
    }
    let mut seen = BTreeSet::new();
    nodes.retain(|node| seen.insert(*node));
    let watched = nodes.into_iter().filter_map(|node| described(node, told, machine, inspected));
    Ok(watched.collect())
}

/// The drives among the devices of `target`.
fn drives(machine: &Machine, target: CheckTarget) -> Result<Vec<NodeId>, Refusal> {
    match target.what {
        What::Devices { nodes, .. } => {
            Ok(nodes.into_iter().filter(|&id| is_drive(machine, id)).collect())
        }
        What::Refused(refusal) => Err(refusal),
        _ => Ok(Vec::new()),
    }
}

fn is_drive(machine: &Machine, id: NodeId) -> bool {
    machine.node(id).below.is_empty()
}

/// The device that `path` names with the drives beneath, or the drives beneath a file or directory.
fn named(
    path: &Path,
    machine: &Machine,
    inspected: &InspectedMachine,
) -> Result<Vec<NodeId>, Refusal> {
    let name = shown(path);
    let bare = Path::new("/dev").join(path);
    let path = if path.exists() { path } else { &bare };
    let identity = host::identity(path).map_err(|error| {
        Refusal::hinted(
            format!("cannot watch {name}: {error}"),
            "check the path; to list block devices: lsblk -p",
        )
    })?;
    if let PathIdentity::Block { major, minor } = identity {
        let node = machine.numbered(Number { major, minor }).ok_or_else(|| {
            Refusal::hinted(
                format!("cannot watch {name}: /sys/block has no {major}:{minor}"),
                "to list block devices: lsblk -p",
            )
        })?;
        let is_partition = matches!(machine.node(node).kind, NodeKind::Partition { .. });
        let own = (!is_partition).then_some(node);
        return Ok(own.into_iter().chain(beneath(machine, node)).collect());
    }
    let refused = |reason: String| {
        Refusal::hinted(
            format!("cannot watch {name}: {reason}"),
            "name a file or directory on a disk, or a device; to list them: lsblk -p",
        )
    };
    let pinned = host::Pinned::at(path).map_err(|error| refused(error.to_string()))?;
    let mount = PathMount::of(inspected, &pinned).map_err(refused)?;
    let devices = mount.devices(inspected).map_err(refused)?;
    Ok(devices.into_iter().flat_map(|device| beneath(machine, device)).collect())
}

/// The drives beneath `node`.
fn beneath(machine: &Machine, node: NodeId) -> Vec<NodeId> {
    let (mut todo, mut found, mut seen) = (vec![node], Vec::new(), Vec::new());
    while let Some(next) = todo.pop() {
        if seen.contains(&next) {
            continue;
        }
        seen.push(next);
        match is_drive(machine, next) {
            true => found.push(next),
            false => todo.extend(&machine.node(next).below),
        }
    }
    found
}

fn described(
    id: NodeId,
    told: Option<&Condition>,
    machine: &Machine,
    inspected: &InspectedMachine,
) -> Option<WatchedNode> {
    let node = machine.node(id);
    let sampled = SampledDevice::of(inspected, machine, id)?;
    let name = text::escape(node.name.as_bytes());
    let assembled = inspected.assemble(machine, &machine.joined(id), told);
    let layer = layer_of(&assembled.stack, &name);
    let granule = layer.and_then(|(layer, is_leaf)| match is_leaf {
        true => layer.units.used(UnitKind::Granule),
        false => coarsest_granule(&assembled.stack, &name),
    });
    Some(WatchedNode {
        node: id,
        sampled,
        title: layer.map_or(String::new(), |(layer, _)| title::title(layer)),
        granule,
        drive: layer.and_then(|(layer, _)| match &layer.kind {
            LayerKind::Drive(drive) => Some(drive.clone()),
            _ => None,
        }),
        is_stacked: !is_drive(machine, id),
        name,
    })
}

/// The layer of the device `name`, and whether nothing lies beneath it.
fn layer_of<'a>(stack: &'a stack::Stack, name: &str) -> Option<(&'a Layer, bool)> {
    let found = stack.iter().find(|(_, layer)| layer.device.as_deref() == Some(name));
    let drive = || {
        stack.iter().find(|(_, layer)| match &layer.kind {
            LayerKind::Drive(drive) => text::escape(drive.name.as_bytes()) == name,
            _ => false,
        })
    };
    let (id, layer) = found.or_else(drive)?;
    Some((layer, stack.under(id).len() <= 1))
}

/// The coarsest granule of the drives beneath the device `name`, which a write to it must fit.
fn coarsest_granule(stack: &stack::Stack, name: &str) -> Option<(Unit, Source)> {
    let (id, _) = stack.iter().find(|(_, layer)| layer.device.as_deref() == Some(name))?;
    let granules = stack.leaves(id).filter_map(|(_, leaf)| leaf.units.used(UnitKind::Granule));
    let (unit, source) = granules.max_by_key(|(unit, _)| unit.length_bytes())?;
    // Where the first granule starts on the device above is another question.
    Some((Unit::new(unit.length_bytes())?, source))
}
