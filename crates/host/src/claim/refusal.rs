//! Why a device is not handed out for writing.

use std::path::{Path, PathBuf};

use rustix::io::Errno;
use thiserror::Error;
use units::text::escape;

use super::forbidden_uses::Use;

/// The words by which a device is named that has no serial number and no world-wide name.
pub(super) const PATH_AND_BYTES: &str = "path with its exact length (PATH=BYTES)";

/// Advice where somebody has a lock.
pub(crate) const LOCKS_HINT: &str = "lslocks shows who holds locks";

/// Relation of a device that shares bytes with the wanted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// It is the one.
    Itself,
    /// A partition of it.
    Partition,
    /// The disk that it is a partition of.
    Disk,
    /// Built on it: device-mapper, md, bcache, a loop device over it.
    Above,
    /// A device that it is built of.
    Below,
    /// The device that it shows, where it is a loop device.
    Backing,
    /// A loop device over the same file.
    Beside,
    /// Another disk, or a partition of its disk, that has some of its sectors too.
    Overlapping,
}

impl Relation {
    /// Same as [`Relation::words`], of a device that another is built on too.
    fn base(self) -> &'static str {
        match self {
            Relation::Below => "the same sectors of ",
            other => other.words(),
        }
    }

    /// The relation in words that stand before the device's name; empty for the device itself.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Relation::Itself => "",
            Relation::Partition => "its partition ",
            Relation::Disk => "its disk ",
            Relation::Above => "what is built on it, ",
            Relation::Below => "what it is built of, ",
            Relation::Backing => "the device behind it, ",
            Relation::Beside => "a loop over the same file, ",
            Relation::Overlapping => "which has the same sectors, ",
        }
    }
}

/// Why a device is not handed out for writing. Each is a refusal for safety: nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ClaimRefusal {
    /// The kernel says no, or the node is not there.
    #[error("cannot claim {} for writing: {reason}", shown(.node))]
    Kernel {
        /// The path as it was given.
        node: PathBuf,
        /// The kernel's error text.
        reason: String,
        /// Advice; empty when there is none.
        hint: &'static str,
    },
    /// It is something else.
    #[error("cannot claim {} for writing: it is {found}, not a block device", shown(.node))]
    NotABlockDevice {
        /// The path as it was given.
        node: PathBuf,
        /// The kind of file that it is.
        found: &'static str,
    },
    /// An answer that is needed is missing: so the device is taken to be in use.
    #[error("cannot tell who uses {device}: {reason}")]
    Unknown {
        /// The device's node or number.
        device: String,
        /// The answer that could not be read or understood.
        reason: String,
    },
    /// It has no bytes.
    #[error("{device} is empty: it is 0 bytes long")]
    Empty {
        /// The device's node.
        device: String,
    },
    /// It holds the metadata of arrays, and no bytes of its own.
    #[error("{device} is a container of {metadata} arrays and holds no data of its own")]
    Container {
        /// The device's node.
        device: String,
        /// The metadata's name, as the kernel has it.
        metadata: String,
    },
    /// The kernel lets nobody write to it.
    #[error("{device} is read-only")]
    ReadOnly {
        /// The device's node.
        device: String,
    },
    /// It is mounted, or what shares its bytes is.
    #[error("{wanted} is in use: {}{device} is mounted on {point}", .relation.words())]
    Mounted {
        /// The node of the device that is wanted.
        wanted: String,
        /// Relation of the mounted device to it.
        relation: Relation,
        /// The mounted device's node.
        device: String,
        /// The mount point, escaped.
        point: String,
    },
    /// The kernel swaps to it, or to what shares its bytes.
    #[error("{wanted} is in use: the kernel swaps to {}{device}", .relation.words())]
    Swap {
        /// The node of the device that is wanted.
        wanted: String,
        /// Relation of the device or file that is swapped to.
        relation: Relation,
        /// The node of the device that is swapped to, or shows the file that is.
        device: String,
    },
    /// Another device is built on it, on a partition of it or on its disk.
    #[error("{wanted} is in use: {holder} is built on {}{device}", .relation.base())]
    Holder {
        /// The node of the device that is wanted.
        wanted: String,
        /// Relation of the device that is built on.
        relation: Relation,
        /// The node of the device that is built on.
        device: String,
        /// The node of what is built on it.
        holder: String,
    },
    /// A loop device shows it, a partition of it or its disk.
    #[error("{wanted} is in use: the loop device {by} shows {}{device}", .relation.words())]
    BacksLoop {
        /// The node of the device that is wanted.
        wanted: String,
        /// Relation of the device that is shown.
        relation: Relation,
        /// The node of the device that is shown.
        device: String,
        /// The loop device's node.
        by: String,
    },
    /// It is a loop device, and another shows the same file.
    #[error("{wanted} is in use: the loop device {other} shows the same file")]
    SharedFile {
        /// The node of the device that is wanted.
        wanted: String,
        /// The other loop device's node.
        other: String,
    },
    /// Somebody uses it, or what shares its bytes, without a claim.
    #[error("{wanted} is in use: {who} {}", used(*.how, .device))]
    Used {
        /// The node of the device that is wanted.
        wanted: String,
        /// Who: `process 12 (qemu)`.
        who: String,
        /// Its number, where it is a process that is known.
        pid: Option<u32>,
        /// How.
        how: Use,
        /// What: the node of a device, with its relation in words before it, or a file in words.
        device: String,
    },
    /// It is a loop device over a file that others may write to unseen.
    #[error("cannot tell who uses {wanted}: the file behind it is on {kind}")]
    Away {
        /// The node of the device that is wanted.
        wanted: String,
        /// The type of the file system.
        kind: String,
    },
    /// There is something on it.
    #[error("there is data on {}: {}", shown(.node), list(.signatures))]
    Signature {
        /// The path as it was given.
        node: PathBuf,
        /// The recognized signatures.
        signatures: Vec<String>,
        /// True if the right words were typed for it.
        is_named: bool,
    },
    /// There is something on it that nobody recognizes.
    #[error("{} is not blank: {place}", shown(.node))]
    Data {
        /// The path as it was given.
        node: PathBuf,
        /// The address of the first such byte, in words.
        place: String,
        /// True if the right words were typed for it.
        is_named: bool,
    },
    /// The typed words do not name this device.
    #[error("{}{}", unfit(.node, .given, .wanted), also(.signatures))]
    NotConfirmed {
        /// The path as it was given.
        node: PathBuf,
        /// The typed words; empty for none.
        given: String,
        /// The kind of words that is wanted: `serial number`, for example.
        wanted: &'static str,
        /// The signatures recognized on it.
        signatures: Vec<String>,
    },
    /// Somebody has locked its node, as systemd's convention asks for.
    #[error("{} is in use: another process holds a lock on {device}", shown(.node))]
    Locked {
        /// The path as it was given.
        node: PathBuf,
        /// The path of the node that is locked.
        device: String,
    },
    /// Somebody has claimed it, its disk or a partition of it.
    #[error("{} is in use: somebody holds it, its disk or a partition of it", shown(.node))]
    HeldElsewhere {
        /// The path as it was given.
        node: PathBuf,
    },
    /// It is another device than the one that was looked at.
    #[error("cannot claim {} for writing: {what} changed meanwhile", shown(.node))]
    Changed {
        /// The path as it was given.
        node: PathBuf,
        /// The property that changed.
        what: &'static str,
    },
}

impl ClaimRefusal {
    /// Refuses `node` with the kernel's error and advice.
    pub(super) fn kernel(node: &Path, error: Errno) -> ClaimRefusal {
        let reason = crate::errno::text_of(error);
        let hint = match error {
            Errno::NOENT => "check the path; lsblk -p lists block devices",
            Errno::ACCESS | Errno::PERM => "writing to a device needs root: try sudo",
            Errno::NXIO | Errno::NODEV => {
                "no device answers behind this node; lsblk -p lists those"
            }
            Errno::NOMEDIUM => "insert a medium first",
            Errno::ROFS => "the device is read-only",
            _ => "",
        };
        ClaimRefusal::Kernel { node: node.to_owned(), reason, hint }
    }

    /// Advice, in lower case and without a full stop; `None` when there is none. It never holds the
    /// words that `--confirm` wants, and says how to wipe a device only where that was named right.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let fixed = |text: &str| Some(text.to_owned());
        match self {
            ClaimRefusal::Kernel { hint, .. } => (!hint.is_empty()).then(|| (*hint).to_owned()),
            ClaimRefusal::NotABlockDevice { .. } => fixed("lsblk -p lists block devices"),
            ClaimRefusal::Unknown { .. } => {
                fixed("run as root where /sys, /proc and /dev are the machine's own")
            }
            ClaimRefusal::Empty { .. } => fixed("insert a medium, or attach the device first"),
            ClaimRefusal::Container { .. } => {
                fixed("name an array in it: cat /proc/mdstat lists those")
            }
            ClaimRefusal::ReadOnly { device } => Some(format!(
                "if it may be written to: blockdev --setrw {device}; a switch may forbid it"
            )),
            ClaimRefusal::Mounted { point, .. } if point == "/" => {
                fixed("name another device; lsblk -p lists them")
            }
            ClaimRefusal::Mounted { point, .. } => {
                Some(format!("unmount it first: umount {point}"))
            }
            ClaimRefusal::Swap { device, .. } => Some(format!("swapoff {device}")),
            ClaimRefusal::Holder { device, .. } => {
                Some(format!("lsblk {device} shows what is built on it"))
            }
            ClaimRefusal::BacksLoop { by: other, .. } | ClaimRefusal::SharedFile { other, .. } => {
                Some(format!("if it is not needed: losetup --detach {other}"))
            }
            ClaimRefusal::Used { pid: Some(pid), .. } => {
                Some(format!("ps -fp {pid} shows it; end it first, then try again"))
            }
            ClaimRefusal::Used { how: Use::Locked, .. } | ClaimRefusal::Locked { .. } => {
                fixed(LOCKS_HINT)
            }
            ClaimRefusal::Used { .. } => {
                fixed("grep -r . /sys/kernel/config shows what the kernel serves; end that first")
            }
            ClaimRefusal::Away { .. } => {
                fixed("show a file of a local file system instead: losetup --find --show FILE")
            }
            ClaimRefusal::Signature { node, is_named: false, .. } => {
                Some(format!("straddle check {} shows it", shown(node)))
            }
            ClaimRefusal::Signature { node, .. } => Some(format!(
                "if nothing on it is needed: wipefs --all {0}; straddle check {0} shows it",
                shown(node)
            )),
            ClaimRefusal::Data { .. } => fixed("if nothing on it is needed, add --overwrite-data"),
            ClaimRefusal::NotConfirmed { node, wanted, .. } => {
                Some(confirmed_by(&shown(node), wanted))
            }
            ClaimRefusal::HeldElsewhere { node } => Some(format!(
                "fuser --verbose {} tells who; lsns --type mnt lists other mount namespaces",
                shown(node)
            )),
            ClaimRefusal::Changed { .. } => fixed("look which device it is now, and try again"),
        }
    }
}

fn used(how: Use, device: &str) -> String {
    match how {
        Use::Open => format!("has {device} open for writing"),
        Use::Mapped => format!("has {device} mapped into its memory"),
        Use::Locked => format!("holds a lock on {device}"),
        Use::Served => format!("serves {device} to others"),
    }
}

fn confirmed_by(node: &str, wanted: &str) -> String {
    if wanted == PATH_AND_BYTES {
        return format!(
            "read its length: blockdev --getsize64 {node}; then --confirm {node}=BYTES"
        );
    }
    format!("read it: straddle check {node}, or the label of the drive; then --confirm WORDS")
}

fn shown(path: &Path) -> String {
    escape(path.as_os_str().as_encoded_bytes())
}

/// Quotes the typed words, to the blank: a path with its length has to fit exactly.
fn unfit(node: &Path, given: &str, wanted: &str) -> String {
    let node = shown(node);
    match escape(given.as_bytes()).as_str() {
        "" => format!("--confirm is missing: type the {wanted} of {node}"),
        given => {
            format!("--confirm does not name {node}: `{given}` was given, its {wanted} is wanted")
        }
    }
}

fn also(signatures: &[String]) -> String {
    match signatures {
        [] => String::new(),
        some => format!("; and there is data on it: {}", list(some)),
    }
}

fn list(signatures: &[String]) -> String {
    let escaped = signatures.iter().map(|signature| escape(signature.as_bytes()));
    escaped.collect::<Vec<_>>().join(", ")
}
