//! One disk with its partitions, read from its own directory in `/sys/block`.
//!
//! Source: Linux `Documentation/ABI/stable/sysfs-block`. `size` and `start` count 512-byte units
//! whatever the logical sector is.

use std::collections::BTreeSet;

use device::KernelTree;
use units::Known;

use super::block_device::{BlockDevice, NodeId, NodeKind, Number};
use super::md::{self, MdNode};

/// A disk with its partitions, as far as its own directory tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionedDisk {
    /// The disk, and then its partitions, which lie on it; places count from it.
    pub(super) nodes: Vec<BlockDevice>,
    /// The devices that the disk lies on, by name.
    pub(super) slaves: Vec<String>,
}

impl PartitionedDisk {
    /// Returns what `tree` says of a disk: nothing where it is gone, or is a hidden path to another
    /// one.
    #[must_use]
    pub fn read(tree: &dyn KernelTree, disk: &Listed) -> PartitionedDisk {
        let mut part = PartitionedDisk::default();
        if disk.is_idle {
            part.nodes.push(idle(tree, &disk.name));
        } else {
            read_disk(tree, &disk.name, &mut part);
        }
        part
    }
}

/// A disk that the kernel lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    name: String,
    /// True if it is a loop number without a file.
    is_idle: bool,
}

impl Listed {
    /// The kernel's name of the disk.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All disks, in the order of their names.
    ///
    /// There may be hundreds of loop numbers without a file. `/proc/partitions` has no disk without
    /// a length (Linux `block/genhd.c`, `show_partition`), so that one read tells them all.
    ///
    /// # Errors
    /// When `/sys/block` cannot be listed; the text says why.
    pub fn all(tree: &dyn KernelTree) -> Result<Vec<Listed>, String> {
        let names = tree.list("/sys/block").map_err(|error| error.to_string())?;
        let lines = tree.read("/proc/partitions").unwrap_or_default();
        let sized: BTreeSet<&str> =
            lines.lines().filter_map(|line| line.split_whitespace().nth(3)).collect();
        let is_told = names.iter().any(|name| sized.contains(name.as_str()));
        let listed = names.into_iter().map(|name| {
            let is_idle = is_told && name.starts_with("loop") && !sized.contains(name.as_str());
            Listed { name, is_idle }
        });
        Ok(listed.collect())
    }
}

/// A loop number without a file.
fn idle(tree: &dyn KernelTree, name: &str) -> BlockDevice {
    let number = tree.read(&format!("/sys/block/{name}/dev")).ok();
    BlockDevice {
        name: name.to_owned(),
        number: number.and_then(|text| Number::parse(text.trim())),
        kind: NodeKind::Disk,
        length_bytes: Known::yes(0, units::Source::Sysfs),
        below: Vec::new(),
        above: Vec::new(),
    }
}

fn read_disk(tree: &dyn KernelTree, disk: &str, part: &mut PartitionedDisk) {
    let base = format!("/sys/block/{disk}");
    let Ok(files) = tree.list(&base) else { return };
    let text = |file: &str| tree.read(&format!("{base}/{file}")).ok();
    // The hidden paths of an NVMe namespace that is reached by several are not disks of their own.
    if text("hidden").is_some_and(|hidden| hidden.trim() == "1") {
        return;
    }
    let has = |name: &str| files.iter().any(|file| file == name);
    let on = tree.list(&format!("{base}/slaves")).unwrap_or_default();
    if has("md") && md::is_container(tree, &base) {
        return;
    }
    let kind = if has("md") {
        NodeKind::Md(MdNode::read(tree, disk))
    } else if has("dm") {
        NodeKind::Dm {
            name: text("dm/name").unwrap_or_else(|| disk.to_owned()),
            uuid: text("dm/uuid").unwrap_or_default(),
        }
    } else if let Some(file) = has("loop").then(|| text("loop/backing_file")).flatten() {
        let offset = text("loop/offset").and_then(|offset| offset.trim().parse().ok());
        NodeKind::Loop { file, offset_bytes: offset.unwrap_or(0) }
    } else if disk.starts_with("bcache") {
        NodeKind::Bcache
    } else if on.is_empty() {
        NodeKind::Disk
    } else {
        NodeKind::Other
    };
    part.slaves = on;
    part.nodes.push(node(tree, &base, disk.to_owned(), kind, Vec::new()));
    for file in files.iter().filter(|file| file.starts_with(disk)) {
        let base = format!("{base}/{file}");
        let number =
            |name: &str| tree.read(&format!("{base}/{name}")).ok()?.trim().parse::<u64>().ok();
        let Some(start_bytes) = number("start").and_then(|start| start.checked_mul(512)) else {
            continue;
        };
        let number = number("partition").and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
        let kind = NodeKind::Partition { number, start_bytes };
        part.nodes.push(node(tree, &base, file.clone(), kind, vec![0]));
    }
}

fn node(
    tree: &dyn KernelTree,
    base: &str,
    name: String,
    kind: NodeKind,
    below: Vec<NodeId>,
) -> BlockDevice {
    let text = |file: &str| tree.read(&format!("{base}/{file}"));
    let number = text("dev").ok().and_then(|text| Number::parse(text.trim()));
    let length_bytes = match text("size") {
        Ok(text) => match text.trim().parse::<u64>().ok().and_then(|size| size.checked_mul(512)) {
            Some(bytes) => Known::yes(bytes, units::Source::Sysfs),
            None => Known::no(format!("size holds `{}`", units::text::escape(text.as_bytes()))),
        },
        Err(error) => Known::no(error.to_string()),
    };
    BlockDevice { name, number, kind, length_bytes, below, above: Vec::new() }
}
