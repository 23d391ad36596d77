//! The disks of this machine, and which disk a device node, a partition or a mount point is on.

use device::KernelTree;
use stack::mountinfo;
use units::text;

/// A block device as the kernel names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    /// The whole disk: `sda`.
    pub(crate) disk: String,
    /// The partition on it, where it is one.
    pub(crate) partition: Option<KernelPartition>,
}

/// A partition as the kernel knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelPartition {
    /// `sda1`.
    pub(crate) name: String,
    /// Its start on the disk in bytes.
    pub(crate) start_bytes: u64,
}

/// The names of devices that are no disks of their own: they stand on others, or hold no data.
const NO_DISKS: [&str; 6] = ["loop", "ram", "zram", "fd", "sr", "nbd"];

/// Every disk: block devices with a size that are made of no others, in the order of their names.
///
/// # Errors
/// When `/sys/block` cannot be listed; the text says why.
pub(crate) fn disks(tree: &dyn KernelTree) -> Result<Vec<String>, String> {
    let names = tree.list("/sys/block").map_err(|error| error.to_string())?;
    let is_disk = |name: &String| {
        let has = |file: &str| tree.read(&format!("/sys/block/{name}/{file}")).ok();
        let empty = has("size").is_none_or(|size| size.trim() == "0");
        let made = tree.list(&format!("/sys/block/{name}/slaves")).is_ok_and(|on| !on.is_empty());
        let hidden = has("hidden").is_some_and(|hidden| hidden.trim() == "1");
        let kind = name.trim_end_matches(|last: char| last.is_ascii_digit());
        !empty && !made && !hidden && !NO_DISKS.contains(&kind)
    };
    Ok(names.into_iter().filter(is_disk).collect())
}

/// The device with a number.
///
/// # Errors
/// When the kernel's tree does not have it; the text says what was looked for.
pub(crate) fn device(tree: &dyn KernelTree, major: u32, minor: u32) -> Result<Device, String> {
    let path = format!("/sys/dev/block/{major}:{minor}");
    let target = tree.link(&path).map_err(|error| error.to_string())?;
    let mut parts = target.rsplit('/');
    let name = parts.next().unwrap_or_default().to_owned();
    let Ok(start) = tree.read(&format!("{target}/start")) else {
        return Ok(Device { disk: name, partition: None });
    };
    let parent = parts.next().unwrap_or_default().to_owned();
    // The kernel counts in 512-byte units here, whatever the sector is.
    let start_bytes = start.trim().parse::<u64>().ok().and_then(|start| start.checked_mul(512));
    let start_bytes = start_bytes.ok_or_else(|| {
        format!("{target}/start holds `{}`, which is no number", text::escape(start.as_bytes()))
    })?;
    Ok(Device { disk: parent, partition: Some(KernelPartition { name, start_bytes }) })
}

/// What is mounted at `path`: the device's number and the file system's type; `None` when nothing
/// is.
///
/// Source: proc_pid_mountinfo(5). The last line for a path is the one in force.
///
/// # Errors
/// When `/proc/self/mountinfo` cannot be read.
pub(crate) fn mounted(
    tree: &dyn KernelTree,
    path: &str,
) -> Result<Option<(u32, u32, String)>, String> {
    let table = tree.read("/proc/self/mountinfo").map_err(|error| error.to_string())?;
    let here = mountinfo::lines(&table).filter(|mount| mount.point.raw() == path.as_bytes());
    Ok(here.last().and_then(|mount| {
        let (major, minor) = mount.device.split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?, mount.kind))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::MemoryTree;

    #[test]
    fn loops_arrays_and_empty_devices_are_no_disks() {
        let tree = MemoryTree::new()
            .with_file("/sys/block/sda/size", "100")
            .with_file("/sys/block/sdb/size", "0")
            .with_file("/sys/block/loop0/size", "100")
            .with_file("/sys/block/zram0/size", "100")
            .with_file("/sys/block/nvme0n1/size", "100")
            .with_file("/sys/block/md0/size", "100")
            .with_link("/sys/block/md0/slaves/sda", "/sys/block/sda");
        assert_eq!(disks(&tree).unwrap(), ["nvme0n1", "sda"]);
    }

    #[test]
    fn a_partition_is_found_on_its_disk_with_its_start_in_512_byte_units() {
        let tree = MemoryTree::new()
            .with_file("/sys/devices/x/sda/sda1/start", "2048\n")
            .with_link("/sys/dev/block/8:1", "/sys/devices/x/sda/sda1");
        let found = device(&tree, 8, 1).unwrap();
        assert_eq!(found.disk, "sda");
        assert_eq!(found.partition.unwrap().start_bytes, 1 << 20);
    }

    #[test]
    fn the_last_mount_on_a_path_with_blanks_is_the_one_in_force() {
        let table = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
                     2 1 8:2 / /my\\040data rw shared:1 - xfs /dev/sda2 rw\n\
                     3 1 0:5 / /my\\040data rw - tmpfs tmpfs rw";
        let tree = MemoryTree::new().with_file("/proc/self/mountinfo", table);
        let found = mounted(&tree, "/my data").unwrap().unwrap();
        assert_eq!(found, (0, 5, "tmpfs".to_owned()));
        assert_eq!(mounted(&tree, "/none").unwrap(), None);
    }
}
