//! Files of the kernel about the drive of the world.

use device::{KernelTree, MemoryTree, TreeError};

use super::{DIRECTORY, NUMBER, SharedDrive};

/// Facts of the drive and of the file system on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DriveFacts {
    /// The addressable unit, in bytes.
    pub(crate) logical_bytes: u64,
    /// The physical sector that it reports, in bytes.
    pub(crate) physical_bytes: u64,
    pub(crate) is_rotating: bool,
    /// True if it reports a write cache.
    pub(crate) has_cache: bool,
    /// The file system of [`DIRECTORY`].
    pub(crate) filesystem: &'static str,
    pub(crate) model: &'static str,
}

impl Default for DriveFacts {
    fn default() -> DriveFacts {
        DriveFacts {
            logical_bytes: 512,
            physical_bytes: 4096,
            is_rotating: false,
            has_cache: true,
            filesystem: "ext4",
            model: "MODEL DRIVE",
        }
    }
}

/// Length of the drive, in sectors of 512 bytes.
const SECTORS: u64 = 256 << 21;
const STAT: &str = "/sys/block/sda/stat";

impl DriveFacts {
    /// Returns the kernel's files.
    pub(super) fn tree(&self, drive: SharedDrive) -> ModelTree {
        let number = format!("{}:{}", NUMBER.0, NUMBER.1);
        // The directory is one of this machine, and its number here is that of the drive there.
        let facts = host::file_facts(std::path::Path::new(DIRECTORY)).expect("it is there");
        let here = format!("{}:{}", facts.device.0, facts.device.1);
        let mount = facts.mount.value().copied().unwrap_or(1);
        let files = [
            ("dev", number.clone()),
            ("size", SECTORS.to_string()),
            ("device/model", self.model.to_owned()),
            ("queue/logical_block_size", self.logical_bytes.to_string()),
            ("queue/physical_block_size", self.physical_bytes.to_string()),
            ("queue/rotational", u8::from(self.is_rotating).to_string()),
            ("queue/write_cache", cache(self.has_cache).to_owned()),
            ("queue/fua", "0".to_owned()),
            ("mq/0/cpu_list", "0".to_owned()),
        ];
        let tree = files.iter().fold(MemoryTree::new(), |tree, (name, content)| {
            tree.with_file(&format!("/sys/block/sda/{name}"), content)
        });
        let tree = tree.with_link(&format!("/sys/dev/block/{number}"), "/sys/block/sda");
        let mounts = format!(
            "{mount} 1 {here} / {DIRECTORY} rw,relatime - {} /dev/sda rw\n",
            self.filesystem
        );
        let tree = tree.with_file("/proc/self/mountinfo", &mounts);
        ModelTree { files: tree, drive }
    }
}

fn cache(has_cache: bool) -> &'static str {
    if has_cache { "write back" } else { "write through" }
}

/// The kernel's files, of which the drive's counters go on.
pub(super) struct ModelTree {
    files: MemoryTree,
    drive: SharedDrive,
}

impl KernelTree for ModelTree {
    fn read(&self, path: &str) -> Result<String, TreeError> {
        if path != STAT {
            return self.files.read(path);
        }
        let counts = self.drive.state().all_counts();
        let device::DiskCounts { reads, read_sectors, writes, write_sectors, busy_ms, .. } = counts;
        let flushes = counts.flushes.unwrap_or(0);
        Ok(format!(
            "{reads} 0 {read_sectors} 0 {writes} 0 {write_sectors} 0 0 {busy_ms} 0 0 0 0 0 \
             {flushes} 0"
        ))
    }

    fn list(&self, path: &str) -> Result<Vec<String>, TreeError> {
        self.files.list(path)
    }

    fn link(&self, path: &str) -> Result<String, TreeError> {
        self.files.link(path)
    }
}
