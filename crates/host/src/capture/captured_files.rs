//! Files that a capture holds: tables of those that straddle reads.
//!
//! Only what is named here is read, so that a capture stays small and nothing is touched that has
//! effects. Source of the names: `Documentation/ABI/stable/sysfs-block`, `sysfs-block-bcache`,
//! `Documentation/admin-guide/md.rst` and `drivers/{scsi/scsi_sysfs,nvme/host/sysfs}.c` of the
//! Linux kernel.

/// Files of their own.
pub(super) const FILES: [&str; 9] = [
    "/proc/devices",
    "/proc/mdstat",
    "/proc/mounts",
    "/proc/partitions",
    "/proc/self/mountinfo",
    "/proc/swaps",
    "/proc/sys/kernel/osrelease",
    "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/sys_vendor",
];

/// Directories of links to block devices.
pub(super) const BLOCK_DEVICES: [&str; 3] = ["/sys/block", "/sys/class/block", "/sys/dev/block"];

/// Directories of links to what block devices are attached to.
pub(super) const CONTROLLERS: [&str; 2] = ["/sys/class/nvme", "/sys/class/nvme-subsystem"];

/// Directories of which the names alone tell which file systems are mounted.
pub(super) const NAMES: [&str; 5] =
    ["/sys/fs/bcache", "/sys/fs/btrfs", "/sys/fs/ext4", "/sys/fs/f2fs", "/sys/fs/xfs"];

/// Directory of udev's records; files of block devices start with a `b`.
pub(super) const UDEV: &str = "/run/udev/data";

/// Files of a block device or a partition.
pub(super) const BLOCK_FILES: [&str; 24] = [
    "alignment_offset",
    "backing_dev_name",
    "cache_type",
    "capability",
    "csi",
    "dev",
    "discard_alignment",
    "diskseq",
    "eui",
    "ext_range",
    "hidden",
    "metadata_bytes",
    "nguid",
    "nsid",
    "partition",
    "partscan",
    "range",
    "removable",
    "ro",
    "serial",
    "size",
    "start",
    "uuid",
    "wwid",
];

/// Directories of a block device, and how deep each is looked into.
pub(super) const BLOCK_DIRECTORIES: [(&str, u32); 8] = [
    ("bcache", 1),
    ("dm", 1),
    ("holders", 1),
    ("integrity", 1),
    ("loop", 1),
    ("md", 2),
    ("queue", 1),
    ("slaves", 1),
];

/// Files in these directories that say nothing about a layout and take long to answer.
pub(super) const SLOW: [&str; 2] = ["priority_stats", "writeback_rate_debug"];

/// Links of a block device or of what it is attached to.
pub(super) const LINKS: [&str; 3] = ["device", "driver", "subsystem"];

/// Files of what a block device is attached to: a SCSI, ATA, NVMe, MMC or virtio device.
pub(super) const DEVICE_FILES: [&str; 46] = [
    "address",
    "cid",
    "cntlid",
    "cntrltype",
    "csd",
    "date",
    "dctype",
    "device",
    "devtype",
    "erase_size",
    "features",
    "firmware_rev",
    "fwrev",
    "hostid",
    "hostnqn",
    "hwrev",
    "inquiry",
    "iopolicy",
    "kato",
    "manfid",
    "model",
    "name",
    "nodename",
    "numa_node",
    "oemid",
    "preferred_erase_size",
    "protection_type",
    "queue_count",
    "queue_depth",
    "rev",
    "scsi_level",
    "serial",
    "sqsize",
    "state",
    "status",
    "subsysnqn",
    "subsystype",
    "transport",
    "type",
    "unique_id",
    "vendor",
    "vpd_pg0",
    "vpd_pg80",
    "vpd_pg83",
    "vpd_pg89",
    "wwid",
];

/// Pages of a SCSI device that say how it is built.
pub(super) const PAGES: [&str; 4] = ["vpd_pgb0", "vpd_pgb1", "vpd_pgb2", "vpd_pgb7"];

/// Files of the directory `scsi_disk/H:C:T:L` of a SCSI device.
pub(super) const SCSI_DISK_FILES: [&str; 9] = [
    "FUA",
    "app_tag_own",
    "cache_type",
    "max_medium_access_timeouts",
    "max_write_same_blocks",
    "protection_mode",
    "protection_type",
    "provisioning_mode",
    "zoned_cap",
];
