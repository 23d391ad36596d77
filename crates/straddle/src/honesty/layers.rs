//! From a directory down to what its bytes finally lie on.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use host::FileFacts;
use stack::honesty::Kind;
use stack::kernel::{Machine, NodeId, NodeKind, Number};
use stack::mountinfo::{self, MountLine};
use units::text;

use super::device::{self, Found};
use super::log;
use crate::scene::Scene;
use crate::trace;
use crate::trace::mount::{self, Away};

/// The most layers of one path.
const LAYERS_MAX: usize = 256;

/// Every layer under `directory`, the file system first.
pub(super) fn under(scene: &Scene, directory: &Path) -> Vec<Found> {
    let mut walk = Walk { scene, found: Vec::new(), nodes: Vec::new(), systems: Vec::new() };
    let mounted = host::file_facts(directory)
        .map_err(|error| error.to_string())
        .and_then(|facts| mount_of(scene, &facts, directory).map(|mount| (mount, facts)));
    match mounted {
        Ok((mount, facts)) => drop(walk.system(&mount, Some(facts.device))),
        Err(reason) => drop(walk.lost("the directory", reason)),
    }
    walk.found
}

fn mount_of(scene: &Scene, facts: &FileFacts, path: &Path) -> Result<MountLine, String> {
    trace::mount_of(scene, facts, path)
        .ok_or_else(|| "/proc/self/mountinfo does not say what it is on".to_owned())
}

/// What was found so far.
struct Walk<'a> {
    scene: &'a Scene,
    found: Vec<Found>,
    /// Block devices that were met, and their places.
    nodes: Vec<(NodeId, usize)>,
    /// File systems that were met, by their mounts' device numbers.
    systems: Vec<(String, usize)>,
}

impl Walk<'_> {
    fn push(&mut self, found: Found) -> usize {
        self.found.push(found);
        self.found.len() - 1
    }

    fn lost(&mut self, name: &str, reason: impl Into<String>) -> usize {
        self.push(Found::without_queue(name, Kind::Lost(reason.into())))
    }

    fn lies_on(&mut self, place: usize, below: usize) {
        let found = &mut self.found[place].layer.below;
        // What lies in itself, by way of loop devices, has no bottom there.
        if below > place && !found.contains(&below) {
            found.push(below);
        }
    }

    /// The file system of a mount, and all below; its place. `device` is what statx says.
    fn system(&mut self, mount: &MountLine, device: Option<(u32, u32)>) -> usize {
        let known = self.systems.iter().find(|(number, _)| *number == mount.device);
        if let Some((_, place)) = known {
            return *place;
        }
        let (kind, options) = (mount.kind.clone(), mount.options.clone());
        let layer = match mount::away(&kind) {
            Some(Away::Memory) => Kind::Memory(kind.clone()),
            Some(_) => Kind::Opaque { kind: kind.clone(), options },
            None => Kind::FileSystem { kind: kind.clone(), options },
        };
        let is_opaque = !matches!(layer, Kind::FileSystem { .. });
        let place = self.push(Found::without_queue(&kind, layer));
        self.systems.push((mount.device.clone(), place));
        if is_opaque {
            return place;
        }
        let below = self.devices(mount, device);
        match below {
            Ok(nodes) => {
                for &node in &nodes {
                    let below = self.node(node);
                    self.lies_on(place, below);
                }
                nodes.first().into_iter().for_each(|&node| self.log(place, mount, node));
            }
            Err(reason) => {
                let below = self.lost(&kind, reason);
                self.lies_on(place, below);
            }
        }
        place
    }

    /// The log of the file system at `place`, which is on `node`, where that has a device of its
    /// own.
    fn log(&mut self, place: usize, mount: &MountLine, node: NodeId) {
        let Ok(machine) = self.scene.machine() else { return };
        let own = &machine.node(node).name;
        let Some(log) = log::of(self.scene.tree(), machine, mount, own) else { return };
        let known = self.found.len();
        let below = match log {
            Ok(id) => self.node(id),
            Err(reason) => self.lost(&mount.kind, reason),
        };
        self.lies_on(place, below);
        self.found[known..].iter_mut().for_each(Found::has_only_a_log);
    }

    /// The block devices that a mounted file system is on.
    fn devices(
        &self,
        mount: &MountLine,
        device: Option<(u32, u32)>,
    ) -> Result<Vec<NodeId>, String> {
        let machine = self.scene.machine().map_err(Clone::clone)?;
        let numbers =
            [Number::parse(&mount.device), device.map(|(major, minor)| Number { major, minor })];
        let numbered = numbers.into_iter().flatten().find_map(|number| machine.numbered(number));
        let source = mount.source.to_string();
        let named = || machine.of_path(&source).or_else(|| of_link(machine, &source));
        let node = numbered.or_else(named);
        let node =
            node.ok_or_else(|| format!("{} is on no block device known here", mount.kind))?;
        Ok(machine.beside(node))
    }

    /// A block device, and all below; its place.
    fn node(&mut self, id: NodeId) -> usize {
        if let Some((_, place)) = self.nodes.iter().find(|(node, _)| *node == id) {
            return *place;
        }
        let Ok(machine) = self.scene.machine() else {
            return self.lost("a device", "/sys/block cannot be listed");
        };
        let node = machine.node(id);
        if self.found.len() >= LAYERS_MAX {
            return self.lost(&text::escape(node.name.as_bytes()), "there are too many layers");
        }
        let place = self.push(device::of(self.scene.tree(), node));
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
        let mounted = self.behind(device, path);
        let place = self.push(Found::without_queue(&name, Kind::File));
        let below = match mounted {
            Ok((mount, number)) => self.system(&mount, Some(number)),
            Err(reason) => self.lost(&name, reason),
        };
        // A file system that is there already stands further up only where it lies in itself.
        self.lies_on(place, below);
        place
    }

    /// The mount that the file behind a loop device is on: by its path where that leads to the
    /// same file, else by the number of its file system.
    fn behind(&self, device: &str, path: &Path) -> Result<(MountLine, (u32, u32)), String> {
        let node = PathBuf::from("/dev").join(device.replace('!', "/"));
        let told = host::loop_file(&node);
        let facts = host::file_facts(path);
        if let Ok(facts) = &facts {
            let same = told
                .as_ref()
                .map_or(true, |file| (file.device, file.inode) == (facts.device, facts.inode));
            if same {
                return mount_of(self.scene, facts, path).map(|mount| (mount, facts.device));
            }
        }
        let file = told.map_err(|error| {
            format!("the file behind {device} cannot be found: {error}; try sudo")
        })?;
        let number = format!("{}:{}", file.device.0, file.device.1);
        let table = self.scene.tree().bytes("/proc/self/mountinfo").unwrap_or_default();
        let found = mountinfo::lines(&table).find(|line| line.device == number);
        found.map(|line| (line, file.device)).ok_or_else(|| {
            format!("the file behind {device} was deleted, or is in another mount namespace")
        })
    }
}

/// The device that a link such as `/dev/disk/by-uuid/…` or `/dev/vg/lv` leads to.
pub(super) fn of_link(machine: &Machine, source: &str) -> Option<NodeId> {
    let path = Path::new(source).is_absolute().then(|| host::canonical(Path::new(source)))?;
    machine.of_path(path.ok()?.to_str()?)
}
