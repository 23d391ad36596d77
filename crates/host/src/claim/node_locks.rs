//! The locks by which processes tell each other that they work on a disk.
//!
//! A process that writes to a disk takes an exclusive lock (flock(2)) on the node of the whole disk
//! and keeps it; udev and others then leave the disk alone, and no one who finds it locked writes.
//! A lock is one of an inode, so that each node of the disk has its own: those in `/dev` are taken,
//! and the one that was named.
//!
//! Source: systemd.io, "Locking Block Device Access"; flock(2).

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use super::device::ClaimedDevice;
use super::refusal::ClaimRefusal;
use crate::PathIdentity;

/// For how long a lock is waited for: udev takes one for as long as it reads a disk's first blocks.
const PATIENCE: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(10);

/// Locks on nodes; they end when this is dropped.
#[derive(Debug)]
pub(super) struct NodeLocks {
    /// That of the device itself comes first.
    files: Vec<OwnedFd>,
}

impl NodeLocks {
    /// Locks the open `file`, and the usual nodes of `devices`. A device without such a node has
    /// none that somebody could lock.
    ///
    /// # Errors
    /// When somebody has one of them.
    pub(super) fn take(
        file: BorrowedFd<'_>,
        devices: &[ClaimedDevice],
        node: &Path,
    ) -> Result<NodeLocks, ClaimRefusal> {
        let refused = |device: String| ClaimRefusal::Locked { node: node.to_owned(), device };
        let own = rustix::io::fcntl_dupfd_cloexec(file, 0);
        let own = own.map_err(|error| ClaimRefusal::kernel(node, error))?;
        locked(&own)
            .map_err(|_| refused(units::text::escape(node.as_os_str().as_encoded_bytes())))?;
        let known = rustix::fs::fstat(&own).map_err(|error| ClaimRefusal::kernel(node, error))?;
        let mut files = vec![own];
        for device in devices {
            let Some((other, inode)) = opened(device) else { continue };
            // The same inode would be kept out by this very lock.
            if inode != (known.st_dev, known.st_ino) {
                locked(&other).map_err(|_| refused(device.node()))?;
                files.push(other);
            }
        }
        Ok(NodeLocks { files })
    }

    /// Ends all locks but that of the device itself: the kernel removes no partition whose node
    /// somebody has open.
    pub(super) fn keep_own(&mut self) {
        self.files.truncate(1);
    }
}

/// The node of a device, opened for reading, and its inode; `None` where there is none.
fn opened(device: &ClaimedDevice) -> Option<(OwnedFd, (u64, u64))> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let path = device.path();
    let (major, minor) = device.number;
    // Nothing else is opened that may be there.
    let is_it = |stat: &_| PathIdentity::of(stat) == (PathIdentity::Block { major, minor });
    rustix::fs::stat(&path).ok().filter(is_it)?;
    let file = rustix::fs::open(&path, flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&file).ok().filter(is_it)?;
    Some((file, (stat.st_dev, stat.st_ino)))
}

/// Takes the lock; waits a little.
fn locked(file: &OwnedFd) -> Result<(), Errno> {
    let until = Instant::now() + PATIENCE;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < until => {
                std::thread::sleep(STEP);
            }
            other => return other,
        }
    }
}
