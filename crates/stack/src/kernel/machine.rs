//! The block devices of a machine as the kernel has them: what lies on what.
//!
//! Source: Linux `Documentation/ABI/stable/sysfs-block` and `testing/sysfs-block`. `size` and
//! `start` count 512-byte units whatever the logical sector is.

use std::collections::BTreeMap;

use device::KernelTree;

use super::block_device::{BlockDevice, NodeId, NodeKind, Number};
use super::dm::{self, Tables};
use super::mount::{self, Swap};
use super::partitioned_disk::{Listed, PartitionedDisk};
use device::mountinfo::MountLine;

/// Every block device of a machine.
#[derive(Clone, Debug)]
pub struct Machine {
    nodes: Vec<BlockDevice>,
    names: BTreeMap<String, NodeId>,
    numbers: BTreeMap<Number, NodeId>,
    /// Device-mapper's tables, or why they are not known.
    pub tables: Result<Tables, String>,
    /// Devices that hold one file system together.
    shared: Vec<Vec<NodeId>>,
    /// The mounts.
    pub mounts: Vec<MountLine>,
    /// The swap areas.
    pub swaps: Vec<Swap>,
}

impl Machine {
    /// The machine that `tree` describes.
    ///
    /// # Errors
    /// When its block devices cannot be listed; the text says why. What cannot be read of a single
    /// device is unknown with a reason.
    pub fn read(tree: &dyn KernelTree) -> Result<Machine, String> {
        let disks = Listed::all(tree)?;
        let parts = disks.iter().map(|disk| PartitionedDisk::read(tree, disk)).collect();
        Ok(Machine::joined_from(tree, parts))
    }

    /// The machine whose disks were read one by one, in the order of their names.
    #[must_use]
    pub fn joined_from(tree: &dyn KernelTree, parts: Vec<PartitionedDisk>) -> Machine {
        let mut found = Vec::with_capacity(parts.iter().map(|part| part.nodes.len()).sum());
        let mut slaves = Vec::new();
        for part in parts {
            let first = found.len();
            slaves.extend(part.slaves.into_iter().map(|slave| (first, slave)));
            let placed = part.nodes.into_iter().map(|mut node| {
                node.below.iter_mut().for_each(|below| *below += first);
                node
            });
            found.extend(placed);
        }
        let names: BTreeMap<String, NodeId> =
            found.iter().enumerate().map(|(id, node)| (node.name.clone(), id)).collect();
        for (node, slave) in slaves {
            if let Some(&below) = names.get(&slave).filter(|&&below| below != node) {
                found[node].below.push(below);
            }
        }
        let numbers =
            found.iter().enumerate().filter_map(|(id, node)| Some((node.number?, id))).collect();
        let has_dm = found.iter().any(|node| matches!(node.kind, NodeKind::Dm { .. }));
        let tables = if has_dm { dm::tables(tree) } else { Ok(Tables::new()) };
        for (id, node) in found.iter_mut().enumerate() {
            if node.below.is_empty() {
                node.below = told_elsewhere(id, &node.kind, &names, &numbers, &tables);
            }
        }
        let on_devices: Vec<(NodeId, String)> = found
            .iter()
            .enumerate()
            .filter_map(|(id, node)| match &node.kind {
                NodeKind::Loop { file, .. } => Some((id, file.clone())),
                _ => None,
            })
            .collect();
        let mut machine = Machine {
            nodes: found,
            names,
            numbers,
            tables,
            shared: Vec::new(),
            mounts: mount::mounts(tree),
            swaps: mount::swaps(tree),
        };
        // A loop device may lie on a block device; what lies on a file has no device below it here.
        for (id, file) in on_devices {
            if let Some(below) = machine.of_path(&file).filter(|&below| below != id) {
                machine.nodes[id].below.push(below);
            }
        }
        machine.link_above();
        machine.shared = machine.file_systems(tree);
        machine
    }

    /// The devices of each mounted Btrfs that has several.
    ///
    /// Source: Linux `fs/btrfs/sysfs.c` (`/sys/fs/btrfs/UUID/devices`, links named as the disks).
    fn file_systems(&self, tree: &dyn KernelTree) -> Vec<Vec<NodeId>> {
        let found = tree.list("/sys/fs/btrfs").unwrap_or_default();
        let devices = found.iter().filter_map(|name| {
            let names = tree.list(&format!("/sys/fs/btrfs/{name}/devices")).ok()?;
            let nodes: Vec<NodeId> = names.iter().filter_map(|name| self.named(name)).collect();
            (nodes.len() > 1).then_some(nodes)
        });
        devices.collect()
    }

    /// Returns whether a file system lies on this node and on others.
    #[must_use]
    pub fn is_shared(&self, id: NodeId) -> bool {
        self.shared.iter().any(|nodes| nodes.contains(&id))
    }

    /// The nodes that hold one file system together with this one, this one among them; this one
    /// alone where it holds its own.
    #[must_use]
    pub fn beside(&self, id: NodeId) -> Vec<NodeId> {
        let group = self.shared.iter().find(|nodes| nodes.contains(&id));
        group.cloned().unwrap_or_else(|| vec![id])
    }

    /// The same machine, in which nothing lies beneath a loop device.
    #[must_use]
    pub fn ending_at_loops(mut self) -> Machine {
        for node in &mut self.nodes {
            node.above.clear();
            if matches!(node.kind, NodeKind::Loop { .. }) {
                node.below.clear();
            }
        }
        self.link_above();
        self
    }

    fn link_above(&mut self) {
        for id in 0..self.nodes.len() {
            for below in self.nodes[id].below.clone() {
                self.nodes[below].above.push(id);
            }
        }
    }

    /// Every node, with its place.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &BlockDevice)> {
        self.nodes.iter().enumerate()
    }

    /// The node at a place that this machine gave.
    ///
    /// # Panics
    /// When the place is another machine's.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &BlockDevice {
        &self.nodes[id]
    }

    /// The node that the kernel calls `name`.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<NodeId> {
        self.names.get(name).copied()
    }

    /// The node with this number.
    #[must_use]
    pub fn numbered(&self, number: Number) -> Option<NodeId> {
        self.numbers.get(&number).copied()
    }

    /// The node that a mount's or a swap's source names: a number, `/dev/sda1`, `/dev/mapper/NAME`.
    #[must_use]
    pub fn of_path(&self, path: &str) -> Option<NodeId> {
        let name = path.strip_prefix("/dev/")?;
        if let Some(mapped) = name.strip_prefix("mapper/") {
            return self.nodes.iter().position(|node| match &node.kind {
                NodeKind::Dm { name, .. } => name == mapped,
                _ => false,
            });
        }
        self.named(&name.replace('/', "!"))
    }

    /// The node that something is mounted from.
    #[must_use]
    pub fn of_mount(&self, mount: &MountLine) -> Option<NodeId> {
        let numbered = Number::parse(&mount.device).and_then(|number| self.numbered(number));
        numbered.or_else(|| self.of_path(&mount.source.to_string()))
    }

    /// The node that is mounted at `path`.
    #[must_use]
    pub fn mounted(&self, path: &str) -> Option<NodeId> {
        let mount = self.mounts.iter().rfind(|mount| mount.point.raw() == path.as_bytes())?;
        self.of_mount(mount)
    }

    /// All nodes, in groups of those that are joined, in the order of their first places.
    #[must_use]
    pub fn components(&self) -> Vec<Vec<NodeId>> {
        let mut seen = vec![false; self.nodes.len()];
        (0..self.nodes.len())
            .filter_map(|id| {
                let group = self.reach(id, &mut seen);
                (!group.is_empty()).then_some(group)
            })
            .collect()
    }

    /// Everything that is joined to `id`, directly or not, below or above: what has to be looked at
    /// together. In the order of places.
    #[must_use]
    pub fn joined(&self, id: NodeId) -> Vec<NodeId> {
        self.reach(id, &mut vec![false; self.nodes.len()])
    }

    /// Everything that is joined to `id` and not seen yet.
    fn reach(&self, id: NodeId, seen: &mut [bool]) -> Vec<NodeId> {
        if std::mem::replace(&mut seen[id], true) {
            return Vec::new();
        }
        let mut found = vec![id];
        let mut done = 0;
        while let Some(&here) = found.get(done) {
            done += 1;
            let node = &self.nodes[here];
            let beside = self.shared.iter().filter(|nodes| nodes.contains(&here)).flatten();
            for &next in node.below.iter().chain(&node.above).chain(beside) {
                if !std::mem::replace(&mut seen[next], true) {
                    found.push(next);
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// `nodes` so that each stands behind all that it lies on. Nodes in a circle, which no kernel
    /// makes and a damaged capture may hold, are left out.
    #[must_use]
    pub fn from_below(&self, nodes: &[NodeId]) -> Vec<NodeId> {
        let mut waits: BTreeMap<NodeId, usize> = nodes
            .iter()
            .map(|&id| {
                (id, self.nodes[id].below.iter().filter(|below| nodes.contains(below)).count())
            })
            .collect();
        let mut ready: Vec<NodeId> =
            nodes.iter().copied().filter(|id| waits.get(id) == Some(&0)).collect();
        let mut done = 0;
        while let Some(&id) = ready.get(done) {
            done += 1;
            for above in &self.nodes[id].above {
                let Some(wait) = waits.get_mut(above) else { continue };
                *wait = wait.saturating_sub(1);
                if *wait == 0 {
                    ready.push(*above);
                }
            }
        }
        ready
    }
}

/// Returns what a device lies on by md's own files or by device-mapper's tables: a capture may lack
/// `slaves`.
fn told_elsewhere(
    id: NodeId,
    kind: &NodeKind,
    names: &BTreeMap<String, NodeId>,
    numbers: &BTreeMap<Number, NodeId>,
    tables: &Result<Tables, String>,
) -> Vec<NodeId> {
    let mut below: Vec<NodeId> = match (kind, tables) {
        (NodeKind::Md(Some(array)), _) => {
            array.members.iter().filter_map(|member| names.get(&member.device)).copied().collect()
        }
        (NodeKind::Dm { name, .. }, Ok(tables)) => {
            let targets = tables.get(name).into_iter().flatten();
            let devices = targets.flat_map(|target| target.kind.devices());
            devices.filter_map(|number| numbers.get(&number)).copied().collect()
        }
        _ => Vec::new(),
    };
    below.retain(|&other| other != id);
    below.sort_unstable();
    below.dedup();
    below
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::MemoryTree;

    fn machine() -> Machine {
        let tree = MemoryTree::new()
            .with_file("/sys/block/sda/size", "1000")
            .with_file("/sys/block/sda/dev", "8:0")
            .with_file("/sys/block/sda/sda1/start", "63")
            .with_file("/sys/block/sda/sda1/size", "100")
            .with_file("/sys/block/sda/sda1/partition", "1")
            .with_file("/sys/block/sda/sda1/dev", "8:1")
            .with_file("/sys/block/sdb/size", "1000")
            .with_file("/sys/block/dm-0/dm/name", "vg-lv")
            .with_file("/sys/block/dm-0/dm/uuid", "LVM-x")
            .with_file("/sys/block/dm-0/slaves/sda1/dev", "8:1");
        Machine::read(&tree).unwrap()
    }

    #[test]
    fn what_lies_on_what_is_followed_through_partitions_and_slaves() {
        let machine = machine();
        let lv = machine.named("dm-0").unwrap();
        let partition = machine.named("sda1").unwrap();
        assert_eq!(machine.node(lv).below, [partition]);
        assert_eq!(machine.node(partition).above, [lv]);
        assert_eq!(machine.of_path("/dev/mapper/vg-lv"), Some(lv));
        assert_eq!(machine.numbered(Number { major: 8, minor: 1 }), Some(partition));
        let joined = machine.joined(lv);
        assert_eq!(joined.len(), 3);
        let names: Vec<&str> =
            machine.from_below(&joined).iter().map(|&id| machine.node(id).name.as_str()).collect();
        assert_eq!(names, ["sda", "sda1", "dm-0"]);
    }

    #[test]
    fn a_partitions_start_counts_512_bytes() {
        let machine = machine();
        let partition = machine.node(machine.named("sda1").unwrap());
        assert_eq!(partition.kind, NodeKind::Partition { number: 1, start_bytes: 63 * 512 });
        assert_eq!(partition.length_bytes.value(), Some(&51200));
    }

    #[test]
    fn a_loop_number_without_a_file_has_its_number_and_no_length() {
        let tree = MemoryTree::new()
            .with_file("/proc/partitions", "major minor  #blocks  name\n\n   7  0  500 loop0\n")
            .with_file("/sys/block/loop0/size", "1000")
            .with_file("/sys/block/loop0/loop/backing_file", "/image")
            .with_file("/sys/block/loop1/dev", "7:1")
            .with_file("/sys/block/loop1/size", "unread");
        let machine = Machine::read(&tree).unwrap();
        let node = |name: &str| machine.node(machine.named(name).unwrap());
        assert!(matches!(node("loop0").kind, NodeKind::Loop { .. }));
        assert_eq!(node("loop1").number, Some(Number { major: 7, minor: 1 }));
        assert_eq!(node("loop1").length_bytes.value(), Some(&0));
    }

    #[test]
    fn a_loop_device_on_a_partition_can_be_taken_for_a_disk_of_its_own() {
        let tree = MemoryTree::new()
            .with_file("/sys/block/sda/sda1/start", "63")
            .with_file("/sys/block/sda/sda1/partition", "1")
            .with_file("/sys/block/loop0/size", "1000")
            .with_file("/sys/block/loop0/loop/backing_file", "/dev/sda1")
            .with_file("/sys/block/loop0/loop0p1/start", "8")
            .with_file("/sys/block/loop0/loop0p1/partition", "1");
        let machine = Machine::read(&tree).unwrap();
        let names = |machine: &Machine, of: &str| -> Vec<String> {
            let joined = machine.joined(machine.named(of).unwrap());
            joined.iter().map(|&id| machine.node(id).name.clone()).collect()
        };
        assert_eq!(names(&machine, "loop0p1"), ["loop0", "loop0p1", "sda", "sda1"]);
        let machine = machine.ending_at_loops();
        assert_eq!(names(&machine, "loop0p1"), ["loop0", "loop0p1"]);
        assert_eq!(names(&machine, "sda1"), ["sda", "sda1"]);
    }

    #[test]
    fn a_circle_of_slaves_ends() {
        let tree = MemoryTree::new()
            .with_file("/sys/block/dm-0/dm/name", "a")
            .with_file("/sys/block/dm-0/slaves/dm-1/dev", "1:1")
            .with_file("/sys/block/dm-1/dm/name", "b")
            .with_file("/sys/block/dm-1/slaves/dm-0/dev", "1:0");
        let machine = Machine::read(&tree).unwrap();
        assert_eq!(machine.joined(0), [0, 1]);
        assert!(machine.from_below(&[0, 1]).is_empty());
    }
}
