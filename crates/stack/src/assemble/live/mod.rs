//! The running machine: what the bytes show and what the kernel has, put together.
//!
//! Bytes come first: disks are read as images are. A layer that the bytes gave and that the kernel
//! has a device of is looked into through that device: only there stands what was written to it
//! and waits, and what the kernel decrypts or rebuilds. Then each block device that the kernel
//! stacks on others is looked for among the layers. One that is found there gets the kernel's name;
//! one that is not, as where bytes cannot be read or are encrypted, becomes a layer as the kernel
//! describes it. A captured machine has no bytes, so there all is as the kernel says.

mod captured_gaps;
mod kernel_only_layer;
mod matching_layer;
mod reread_through_device;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use device::{Disk, Files, KernelTree};
use format::{Problem, ProblemKind};
use units::text::escape;

use super::{Assembled, Assembler, LookedAt, Start, StartKind, TablesInForce};

use crate::id::LayerId;
use crate::kernel::{BlockDevice, DeviceLimits, Machine, NodeId, NodeKind};
use crate::layer::{Layer, LayerKind, LayerType};
use crate::mapping::Mapping;
use crate::on_option::Condition;

/// Gives what is on the machine's block devices.
pub trait Devices {
    /// The disk that the kernel calls `name`: one that lies on no other.
    fn disk(&self, name: &str) -> Start;

    /// The bytes of any block device.
    ///
    /// # Errors
    /// When it cannot be opened for reading; the text says why. `None` where nobody tries, as with
    /// a captured machine.
    fn open(&self, name: &str) -> Option<Result<Rc<dyn Disk>, String>>;
}

/// The subject: a machine, and the way to ask it.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Its block devices.
    pub machine: &'a Machine,
    /// The kernel's files.
    pub tree: &'a dyn KernelTree,
    /// Their bytes.
    pub devices: &'a dyn Devices,
    /// Files that images on them name.
    pub files: &'a dyn Files,
}

/// The stack of `nodes`, which hold all that they lie on, judged as if on the disk that `told`
/// tells. The roots are the layers of those nodes that lie on no other.
#[must_use]
pub fn assemble_machine(
    world: &World<'_>,
    nodes: &[NodeId],
    told: Option<&Condition>,
) -> Assembled {
    let order = world.machine.from_below(nodes);
    let roots = order.iter().filter(|&&id| world.machine.node(id).below.is_empty()).count();
    let mut live = Live {
        world,
        assembler: Assembler::new(roots, world.files, told),
        places: BTreeMap::new(),
        devices: BTreeMap::new(),
        served: BTreeSet::new(),
    };
    let mut roots = Vec::new();
    for &id in order.iter().filter(|&&id| world.machine.node(id).below.is_empty()) {
        let root = live.root(id);
        live.put(id, root);
        roots.push(root);
    }
    live.settle();
    for &id in order.iter().filter(|&&id| !world.machine.node(id).below.is_empty()) {
        live.stacked(id);
    }
    live.mounts();
    live.note_unseen(&roots);
    live.assembler.finish(roots)
}

pub(super) struct Live<'a> {
    pub(super) world: &'a World<'a>,
    pub(super) assembler: Assembler<'a>,
    /// The layer of each node.
    pub(super) places: BTreeMap<NodeId, LayerId>,
    /// The node of each layer that is one.
    devices: BTreeMap<LayerId, NodeId>,
    /// The nodes whose own bytes were looked into.
    served: BTreeSet<NodeId>,
}

impl Live<'_> {
    pub(super) fn node(&self, id: NodeId) -> &BlockDevice {
        self.world.machine.node(id)
    }

    fn root(&mut self, id: NodeId) -> LayerId {
        let node = self.node(id);
        if let Some(kind) = stacked(&node.kind) {
            let node = node.clone();
            let reason = "the kernel's files do not say what it lies on";
            let layer =
                self.assembler.stack.add(kernel_only_layer::unknown(&node, kind, reason, &[]));
            self.claim(&node, layer);
            self.look_into(&node, layer, true);
            return layer;
        }
        let (name, start) = (node.name.clone(), self.world.devices.disk(&node.name));
        // What lies on the paths to a disk lies on the device that joins them.
        let is_path = node.above.iter().any(|&above| is_multipath(self.node(above)));
        let layer = match start.kind {
            StartKind::Drive(drive) if is_path => {
                let bytes = start.bytes.clone();
                let layer = self.assembler.start_drive(*drive, start.name, None);
                if let Some(Ok(disk)) = bytes {
                    self.assembler.stack.give_bytes(layer, disk);
                }
                layer
            }
            kind => self.assembler.start(Start { kind, ..start }),
        };
        self.note_lacking(id, layer);
        let limits = DeviceLimits::read(self.world.tree, &format!("/sys/block/{name}"));
        let root = self.assembler.stack.layer_mut(layer);
        root.device = Some(escape(name.as_bytes()));
        root.limits = Some(Box::new(limits));
        layer
    }

    fn put(&mut self, id: NodeId, layer: LayerId) {
        self.places.insert(id, layer);
        self.devices.insert(layer, id);
    }

    /// Finds or makes the layer of a node that lies on others.
    fn stacked(&mut self, id: NodeId) {
        if self.served.contains(&id) {
            return;
        }
        let node = self.node(id).clone();
        let below: Vec<LayerId> =
            node.below.iter().filter_map(|below| self.places.get(below).copied()).collect();
        if below.is_empty() {
            return;
        }
        let found = self.find(&node, &below);
        let is_new = found.is_none();
        let Some(layer) = found.or_else(|| self.make(&node, &below)) else { return };
        self.put(id, layer);
        self.claim(&node, layer);
        self.look_into(&node, layer, is_new);
        self.settle();
    }

    fn claim(&mut self, node: &BlockDevice, layer: LayerId) {
        let name = escape(node.name.as_bytes());
        // An array that does not run has the limits of nothing.
        let stacked = !matches!(node.kind, NodeKind::Partition { .. } | NodeKind::Md(None));
        let base = format!("/sys/block/{}", node.name);
        let mut limits = stacked.then(|| Box::new(DeviceLimits::read(self.world.tree, &base)));
        if let (Some(limits), NodeKind::Dm { name, uuid }) = (&mut limits, &node.kind) {
            let tables = self.world.machine.tables.as_ref().ok();
            let targets = tables.and_then(|tables| tables.get(name)).map(Vec::as_slice);
            limits.table_discards =
                targets.and_then(|targets| targets.iter().find_map(|it| it.discards.clone()));
            limits.keeps_flags = uuid.starts_with("CRYPT-LUKS2-");
        }
        let claimed = self.assembler.stack.layer_mut(layer);
        match &node.kind {
            NodeKind::Partition { .. } | NodeKind::Md(_) => claimed.name.clone_from(&name),
            NodeKind::Dm { name, uuid } if !uuid.starts_with("LVM-") => {
                claimed.name = escape(name.as_bytes());
            }
            _ => {}
        }
        claimed.device = Some(name);
        claimed.limits = limits;
    }

    /// Looks at the bytes that the kernel gives of a layer whose content nothing below shows.
    fn look_into(&mut self, node: &BlockDevice, layer: LayerId, is_new: bool) {
        let kind = &self.assembler.stack.layer(layer).kind;
        let is_closed =
            matches!(kind, LayerKind::Luks(_) | LayerKind::Integrity(_) | LayerKind::Mapped(_))
                || matches!(
                    self.assembler.stack.layer(layer).mapping,
                    Mapping::Opaque { .. } | Mapping::Unknown { .. } | Mapping::Scattered { .. }
                );
        if !is_new && !is_closed || !self.assembler.stack.above(layer).is_empty() {
            return;
        }
        match self.world.devices.open(&node.name) {
            None => self.remembered(node, layer),
            Some(Ok(disk)) => {
                let sector = self.assembler.sector_of(layer);
                let tables = match node.kind {
                    NodeKind::Partition { .. } => TablesInForce::None,
                    _ => TablesInForce::Any,
                };
                let depth = node.below.len().min(1);
                self.assembler.stack.give_bytes(layer, Rc::clone(&disk));
                let job = LookedAt::whole(layer, disk, sector, depth);
                self.assembler.jobs.push_back(LookedAt { tables, ..job });
            }
            Some(Err(reason)) => {
                let problem = Problem::new(ProblemKind::Unreadable, 0, reason);
                self.assembler.stack.layer_mut(layer).problems.push(problem);
                self.remembered(node, layer);
            }
        }
    }

    /// The file system that udev saw on a device whose bytes are closed to us.
    ///
    /// Source: systemd `src/libsystemd/sd-device` (the database in `/run/udev/data`, a file
    /// `bMAJOR:MINOR` with lines `E:KEY=VALUE`); `ID_FS_USAGE` is libblkid's.
    fn remembered(&mut self, node: &BlockDevice, layer: LayerId) {
        let Some(number) = node.number else { return };
        let Ok(data) = self.world.tree.read(&format!("/run/udev/data/b{number}")) else { return };
        let value = |key: &str| {
            let mut lines = data.lines().filter_map(|line| line.strip_prefix("E:"));
            lines.find_map(|line| line.split_once('=').filter(|(name, _)| *name == key))
        };
        let is_system = value("ID_FS_USAGE").is_some_and(|(_, usage)| usage == "filesystem");
        let kind = value("ID_FS_TYPE").map(|(_, kind)| escape(kind.as_bytes()));
        if let (true, Some(kind)) = (is_system, kind) {
            self.mounted(layer, &kind, None);
        }
    }

    fn mounts(&mut self) {
        for mount in &self.world.machine.mounts {
            let Some(id) = self.world.machine.of_mount(mount) else { continue };
            let Some(&layer) = self.places.get(&id) else { continue };
            let point = mount.point.to_string();
            let discards = mount.options.iter().any(|it| it.split('=').next() == Some("discard"));
            self.mounted(layer, &mount.kind, Some((point, discards)));
        }
        for swap in self.world.machine.swaps.iter().filter(|swap| swap.is_device) {
            let Some(id) = self.world.machine.of_path(&swap.path.to_string()) else { continue };
            let Some(&layer) = self.places.get(&id) else { continue };
            self.mounted(layer, "swap", None);
        }
    }

    /// A file system of this type is mounted from a layer: the one that the bytes showed, or one
    /// that only the kernel tells of.
    fn mounted(&mut self, on: LayerId, kind: &str, point: Option<(String, bool)>) {
        let stack = &self.assembler.stack;
        let system = stack.above(on).iter().copied().find(|&above| {
            matches!(
                stack.layer(above).kind,
                LayerKind::FileSystem(_) | LayerKind::Swap(_) | LayerKind::Mounted(_)
            )
        });
        let system = system.or_else(|| self.unseen_system(on, kind));
        if let (Some(system), Some((point, discards))) = (system, point) {
            let layer = self.assembler.stack.layer_mut(system);
            layer.discards |= discards;
            let points = &mut layer.mount_points;
            if points.len() < POINTS_MAX && !points.contains(&point) {
                points.push(point);
            }
        }
    }

    fn unseen_system(&mut self, on: LayerId, kind: &str) -> Option<LayerId> {
        let length = self.assembler.stack.layer(on).length_bytes.clone();
        let mapping = if FROM_THE_START.contains(&kind) {
            Mapping::Linear(crate::mapping::Below { layer: on, offset_bytes: 0 })
        } else {
            let reason = "where its data begins stands in bytes that could not be read".to_owned();
            Mapping::Unknown { on: vec![on], reason }
        };
        let layer =
            Layer::new(LayerKind::Mounted(kind.to_owned()), kind.to_owned(), length, mapping);
        self.assembler.add(on, layer)
    }
}

/// The most mount points that are kept of one file system: containers may have thousands.
const POINTS_MAX: usize = 16;

/// File systems whose blocks count from the start of their volume, so that the type alone tells
/// where they lie.
const FROM_THE_START: [&str; 9] =
    ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "reiserfs", "swap"];

/// The kind of a device that is never a disk of its own.
fn stacked(kind: &NodeKind) -> Option<LayerType> {
    match kind {
        NodeKind::Md(_) => Some(LayerType::MdArray),
        NodeKind::Dm { .. } => Some(LayerType::Dm),
        NodeKind::Bcache => Some(LayerType::Bcache),
        _ => None,
    }
}

pub(super) fn is_multipath(node: &BlockDevice) -> bool {
    matches!(&node.kind, NodeKind::Dm { uuid, .. } if uuid.starts_with("mpath-"))
}
