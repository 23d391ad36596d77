//! A writer whose writes are off the granule, and the place that it writes to.

use serde::{Deserialize, Serialize};

/// A writer, and the place that it writes to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriterIdentity {
    /// Name of the process, harmless to print; `null` where nobody was seen to hand the write in.
    pub process: Option<String>,
    /// Number of the process; `null` where it is not known.
    pub process_id: Option<u32>,
    /// True for a thread of the kernel, which writes for others.
    pub is_kernel: bool,
    /// Path of its control group (pod, unit), harmless to print; `null` where it is not known.
    pub control_group: Option<String>,
    /// Layer that the address belongs to, the topmost that is known: `ext4 on sda1`; `null` where
    /// none is.
    pub layer: Option<String>,
    /// Kind of what is written there.
    pub region: Region,
    /// Path of the file, harmless to print, where `region` is a file.
    pub file: Option<String>,
    /// Length of a block of the file system that is written to, in bytes; `null` where it is not
    /// known.
    pub file_system_block_bytes: Option<u64>,
}

/// Kind of what is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    /// The journal or log of a file system.
    Journal,
    /// Swap.
    Swap,
    /// A file, known by its extents.
    File,
    /// Somewhere in a file system: its metadata, or a file that is not open.
    FileSystem,
    /// A partition or volume on which no file system was recognized.
    Raw,
    /// Not known.
    Unknown,
}

units::words!(Region);
