//! A block device as the kernel has it: its number, its name, what it is.

use std::fmt;

use units::Known;

use super::md::MdNode;

/// A device's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Number {
    /// The driver.
    pub major: u32,
    /// The device within it.
    pub minor: u32,
}

impl Number {
    /// `8:16` as sysfs and device-mapper write it; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Number> {
        let (major, minor) = text.split_once(':')?;
        Some(Number { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// The place of a node in a [`Machine`](super::Machine).
pub type NodeId = usize;

/// A block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    /// The kernel's name as it stands in `/sys/block`, where `!` is a slash.
    pub name: String,
    /// Its number.
    pub number: Option<Number>,
    /// Its kind.
    pub kind: NodeKind,
    /// Its length in bytes.
    pub length_bytes: Known<u64>,
    /// The devices that it lies on, in no order.
    pub below: Vec<NodeId>,
    /// The devices that lie on it.
    pub above: Vec<NodeId>,
}

/// Kind of a block device to the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A disk that lies on no other block device, as far as the kernel tells.
    Disk,
    /// A partition.
    Partition {
        /// Its number on its disk.
        number: u32,
        /// Its first byte on its disk.
        start_bytes: u64,
    },
    /// An md array; `None` where it does not run.
    Md(Option<MdNode>),
    /// A device-mapper device.
    Dm {
        /// The name of its table: `vg-lv`.
        name: String,
        /// Its maker: `LVM-…`, `CRYPT-LUKS2-…`, `mpath-…`; empty where nobody said.
        uuid: String,
    },
    /// A loop device over a file.
    Loop {
        /// The file's path as the kernel has it.
        file: String,
        /// The byte of the file where it begins.
        offset_bytes: u64,
    },
    /// A bcache device over a backing device.
    Bcache,
    /// A device that lies on others in a way that is not known here.
    Other,
}
