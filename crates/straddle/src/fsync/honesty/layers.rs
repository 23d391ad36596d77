//! From a directory down to what its bytes finally lie on.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use host::Pinned;

use durability::SyncLayerKind;
use stack::kernel::{NodeId, NodeKind};
use units::text;

use super::device::{self, CountedLayer};
use super::external_device;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::off_disk_mount::{self, Away};
use crate::shared::path_mount::{self, PathMount};

/// The most layers of one path.
const LAYERS_MAX: usize = 256;
const TOO_MANY: &str = "there are too many layers";

/// Every layer under `directory`, the file system first.
pub(super) fn under(inspected: &InspectedMachine, directory: &Pinned) -> Vec<CountedLayer> {
    let mut walk =
        LayerWalk { inspected, found: Vec::new(), nodes: Vec::new(), systems: Vec::new() };
    match PathMount::of(inspected, directory) {
        Ok(mounted) => drop(walk.system(&mounted)),
        Err(reason) => drop(walk.lost("the directory", reason)),
    }
    walk.found
}

/// The walk down, with what was found so far.
struct LayerWalk<'a> {
    inspected: &'a InspectedMachine,
    found: Vec<CountedLayer>,
    /// Block devices that were met, and their places.
    nodes: Vec<(NodeId, usize)>,
    /// File systems that were met, by their mounts' device numbers.
    systems: Vec<(String, usize)>,
}

impl LayerWalk<'_> {
    fn push(&mut self, found: CountedLayer) -> usize {
        self.found.push(found);
        self.found.len() - 1
    }

    fn lost(&mut self, name: &str, reason: impl Into<String>) -> usize {
        self.push(CountedLayer::without_queue(name, SyncLayerKind::Lost(reason.into())))
    }

    fn lies_on(&mut self, place: usize, below: usize) {
        let found = &mut self.found[place].layer.below;
        // What lies in itself, by way of loop devices, has no bottom there.
        if below > place && !found.contains(&below) {
            found.push(below);
        }
    }

    /// The file system of a mount, and all below; its place.
    fn system(&mut self, mounted: &PathMount) -> usize {
        let mount = &mounted.mount;
        let known = self.systems.iter().find(|(number, _)| *number == mount.device);
        if let Some((_, place)) = known {
            return *place;
        }
        if self.found.len() >= LAYERS_MAX {
            return self.lost(&mount.kind, TOO_MANY);
        }
        let (kind, options) = (mount.kind.clone(), mount.options.clone());
        let mount_point = mount.point.to_string();
        let system =
            SyncLayerKind::FileSystem { kind: kind.clone(), options: options.clone(), mount_point };
        let hides = |reason: &str| SyncLayerKind::Opaque {
            kind: kind.clone(),
            options: options.clone(),
            reason: reason.to_owned(),
        };
        let (layer, upper) = match off_disk_mount::away(&kind) {
            None => (system, None),
            Some(Away::Memory) => (SyncLayerKind::Memory(kind.clone()), None),
            Some(Away::Overlay) => match mounted.upper(self.inspected) {
                Ok(upper) => (system, Some(upper)),
                Err(reason) => (hides(&reason), None),
            },
            Some(Away::Network | Away::Program) => (hides(""), None),
        };
        let is_on_devices = matches!(layer, SyncLayerKind::FileSystem { .. }) && upper.is_none();
        let place = self.push(CountedLayer::without_queue(&kind, layer));
        self.systems.push((mount.device.clone(), place));
        if let Some(upper) = upper {
            let below = self.system(&upper);
            self.lies_on(place, below);
        }
        if is_on_devices {
            self.on_devices(place, mounted);
        }
        place
    }

    /// Puts the file system at `place` on its devices.
    fn on_devices(&mut self, place: usize, mounted: &PathMount) {
        let kind = &mounted.mount.kind;
        let nodes = match mounted.devices(self.inspected) {
            Ok(nodes) => nodes,
            Err(reason) => {
                let below = self.lost(kind, reason);
                return self.lies_on(place, below);
            }
        };
        let first = self.found.len();
        for &node in &nodes {
            let below = self.node(node);
            self.lies_on(place, below);
        }
        let own = self.found.len();
        let Some(&node) = nodes.first() else { return };
        for companion in external_device::of(self.inspected, mounted, node) {
            let known = self.found.len();
            let below = match companion.device {
                Ok(id) => self.node(id),
                Err(reason) => self.lost(kind, reason),
            };
            self.lies_on(place, below);
            let (own_why, its_why) = companion.holds.uncounted();
            self.found[first..own].iter_mut().for_each(|found| found.leaves_out(own_why));
            self.found[known..].iter_mut().for_each(|found| found.leaves_out(its_why));
        }
    }

    /// A block device, and all below; its place.
    fn node(&mut self, id: NodeId) -> usize {
        if let Some((_, place)) = self.nodes.iter().find(|(node, _)| *node == id) {
            return *place;
        }
        let Ok(machine) = self.inspected.machine() else {
            return self.lost("a device", "/sys/block cannot be listed");
        };
        let node = machine.node(id);
        if self.found.len() >= LAYERS_MAX {
            return self.lost(&text::escape(node.name.as_bytes()), TOO_MANY);
        }
        let place = self.push(device::of(self.inspected.tree(), node));
        self.nodes.push((id, place));
        for &below in &node.below {
            let below = self.node(below);
            self.lies_on(place, below);
            if matches!(node.kind, NodeKind::Dm { .. }) && !self.found[place].counters.is_empty() {
                let by = self.found[place].layer.name.clone();
                self.found[below].counted_by(&by);
            }
        }
        if let NodeKind::Loop { file, .. } = &node.kind
            && node.below.is_empty()
        {
            let below =
                self.file(&node.name, Path::new(OsStr::from_bytes(file.trim_end().as_bytes())));
            self.lies_on(place, below);
        }
        place
    }

    /// The file behind a loop device, and all below; its place.
    fn file(&mut self, device: &str, path: &Path) -> usize {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = text::escape(name.as_bytes());
        let mounted = path_mount::behind_loop(self.inspected, device, path);
        let place = self.push(CountedLayer::without_queue(&name, SyncLayerKind::File));
        let below = match mounted {
            Ok(mounted) => self.system(&mounted),
            Err(reason) => self.lost(&name, reason),
        };
        // A file system that is there already stands further up only where it lies in itself.
        self.lies_on(place, below);
        place
    }
}
