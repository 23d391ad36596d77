//! Mounts and swap areas.
//!
//! Source: proc_pid_mountinfo(5), proc_swaps(5).

use device::KernelTree;
use units::DiskText;

use device::mountinfo::{self, MountLine};

/// Something that is swapped to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// The device or file.
    pub path: DiskText,
    /// True if it is a partition, as the kernel calls any device.
    pub is_device: bool,
}

/// Every mount that this process sees; none where they cannot be read.
#[must_use]
pub fn mounts(tree: &dyn KernelTree) -> Vec<MountLine> {
    // Captures of others keep it where it does not depend on a process.
    let table = tree.bytes("/proc/self/mountinfo").or_else(|_| tree.bytes("/proc/mountinfo"));
    table.map(|table| mountinfo::lines(&table).collect()).unwrap_or_default()
}

/// Returns what is mounted at `path`: the last mount there, which is the one in force; `None` when
/// nothing is, or the mounts cannot be read.
#[must_use]
pub fn at(tree: &dyn KernelTree, path: &[u8]) -> Option<MountLine> {
    mounts(tree).into_iter().rfind(|mount| mount.point.raw() == path)
}

/// Everything that is swapped to; nothing where that cannot be read.
#[must_use]
pub fn swaps(tree: &dyn KernelTree) -> Vec<Swap> {
    let Ok(table) = tree.bytes("/proc/swaps") else { return Vec::new() };
    let lines = table.split(|&byte| byte == b'\n').skip(1).filter_map(|line| {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let path = DiskText::from_bytes(&mountinfo::unescaped(fields.next()?));
        Some(Swap { path, is_device: fields.next()? == b"partition" })
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::MemoryTree;

    #[test]
    fn swaps_are_devices_or_files() {
        let table = "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n\
                     /my\\040swap file 1 0 -3\n";
        let found = swaps(&MemoryTree::new().with_file("/proc/swaps", table));
        assert_eq!(found.len(), 2);
        assert!(found[0].is_device && !found[1].is_device);
        assert_eq!(found[1].path.to_string(), "/my swap");
    }

    #[test]
    fn the_last_mount_on_a_path_with_blanks_is_the_one_in_force() {
        let table = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
                     2 1 8:2 / /my\\040data rw shared:1 - xfs /dev/sda2 rw\n\
                     3 1 0:5 / /my\\040data rw - tmpfs tmpfs rw";
        let tree = MemoryTree::new().with_file("/proc/self/mountinfo", table);
        assert_eq!(at(&tree, b"/my data").unwrap().kind, "tmpfs");
        assert_eq!(at(&tree, b"/none"), None);
    }

    #[test]
    fn what_is_mounted_is_named_with_its_source() {
        let line = "1 0 0:45 / /data rw - btrfs /dev/sdb rw,space_cache";
        let found = mounts(&MemoryTree::new().with_file("/proc/self/mountinfo", line));
        assert_eq!(found[0].source.to_string(), "/dev/sdb");
        assert_eq!(found[0].device, "0:45");
    }
}
