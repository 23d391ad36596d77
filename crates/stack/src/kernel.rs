//! What the kernel has on a disk: partitions and mounts.
//!
//! Source: `Documentation/ABI/testing/sysfs-block` (partitions), proc_pid_mountinfo(5).

use device::KernelTree;
use units::{ByteRange, DiskText};

use crate::mountinfo;

/// A partition as the kernel has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPartition {
    /// The kernel's name: `sda1`.
    pub name: String,
    /// Its bytes on the disk.
    pub range: ByteRange,
}

/// A file system that is mounted, as `/proc/self/mountinfo` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The kernel's name of the device that it is on: `sda1`.
    pub device: String,
    /// The file system's type.
    pub kind: String,
    /// Where it is mounted; the first place where there are several.
    pub point: DiskText,
}

/// The partitions that `/sys/block/NAME` lists. `start` and `size` count 512-byte units.
pub(crate) fn partitions(tree: &dyn KernelTree, name: &str) -> Vec<KernelPartition> {
    let base = format!("/sys/block/{name}");
    let read = |partition: &str| {
        let bytes = |file: &str| -> Option<u64> {
            let text = tree.read(&format!("{base}/{partition}/{file}")).ok()?;
            text.trim().parse::<u64>().ok()?.checked_mul(512)
        };
        tree.read(&format!("{base}/{partition}/partition")).ok()?;
        let range = ByteRange::new(bytes("start")?, bytes("size")?)?;
        Some(KernelPartition { name: units::text::escape(partition.as_bytes()), range })
    };
    let names = tree.list(&base).unwrap_or_default();
    let mut found: Vec<KernelPartition> = names.iter().filter_map(|name| read(name)).collect();
    found.sort_by_key(|partition| partition.range);
    found
}

/// What is mounted from a disk and its partitions, by the device numbers in their `dev` files.
pub(crate) fn mounts(tree: &dyn KernelTree, name: &str) -> Vec<Mount> {
    let base = format!("/sys/block/{name}");
    let Ok(table) = tree.read("/proc/self/mountinfo") else { return Vec::new() };
    let numbered =
        |device: String, file: String| Some((tree.read(&file).ok()?.trim().to_owned(), device));
    let whole = numbered(name.to_owned(), format!("{base}/dev"));
    let parts = tree.list(&base).unwrap_or_default().into_iter().filter_map(|part| {
        tree.read(&format!("{base}/{part}/partition")).ok()?;
        let file = format!("{base}/{part}/dev");
        numbered(part, file)
    });
    let mut found = Vec::new();
    for (number, device) in whole.into_iter().chain(parts) {
        let line = mountinfo::lines(&table).find(|mount| mount.device == number);
        if let Some(mount) = line {
            let device = units::text::escape(device.as_bytes());
            found.push(Mount { device, kind: mount.kind, point: mount.point });
        }
    }
    found
}
