//! The devices and files that nobody may use, and who uses one.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};
use rustix::io::Errno;

use super::number::Number;
use crate::PathIdentity;

/// Devices and files that nobody may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sought {
    pub(super) devices: BTreeSet<Number>,
    /// Character devices through which the same disks are written.
    pub(super) characters: BTreeSet<Number>,
    /// Files in which their bytes are.
    pub(super) files: BTreeSet<PathIdentity>,
    /// Nodes of the devices, on which locks are taken.
    pub(super) nodes: Vec<PathBuf>,
}

/// A used device or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Used {
    Device(Number),
    Character(Number),
    File(PathIdentity),
}

/// Kind of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is open for writing.
    Open,
    /// It is mapped into memory, and may be written there.
    Mapped,
    /// There is a lock on it.
    Locked,
    /// The kernel serves it to other machines.
    Served,
}

/// A user of one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct User {
    /// `process 12 (qemu)`; harmless to print.
    pub(super) who: String,
    /// Its number, where it is a process that is known.
    pub(super) pid: Option<u32>,
    pub(super) what: Used,
    pub(super) how: Use,
}

impl Sought {
    /// Returns the one of them that has this number or inode.
    pub(super) fn has(&self, found: &NodeFacts) -> Option<Used> {
        let number = found.number;
        match found.kind {
            FileType::BlockDevice => self.devices.contains(&number).then_some(Used::Device(number)),
            FileType::CharacterDevice => {
                self.characters.contains(&number).then_some(Used::Character(number))
            }
            _ => self.files.contains(&found.identity).then_some(Used::File(found.identity)),
        }
    }

    /// Returns the one of them that is at `path`; `None` where none of them is, or nothing at all.
    pub(super) fn at(&self, path: &Path) -> Option<Used> {
        self.has(&NodeFacts::of(path).ok()?)
    }
}

/// Identity and kind of a file.
pub(super) struct NodeFacts {
    kind: FileType,
    /// Of a device.
    number: Number,
    pub(super) identity: PathIdentity,
}

impl NodeFacts {
    /// Returns the facts of the file that `path` leads to. No file system asks its server or its
    /// daemon, which may hang.
    pub(super) fn of(path: &Path) -> Result<NodeFacts, Errno> {
        let flags = AtFlags::STATX_DONT_SYNC;
        let stat = rustix::fs::statx(CWD, path, flags, StatxFlags::TYPE | StatxFlags::INO)?;
        let device = rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor);
        Ok(NodeFacts {
            kind: FileType::from_raw_mode(stat.stx_mode.into()),
            number: (stat.stx_rdev_major, stat.stx_rdev_minor),
            identity: PathIdentity::File { device, inode: stat.stx_ino },
        })
    }
}

/// True if the error says that a process, thread or descriptor is gone.
pub(super) fn has_gone(error: &io::Error) -> bool {
    let gone = [Errno::NOENT, Errno::SRCH].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|number| gone.contains(&number))
}
