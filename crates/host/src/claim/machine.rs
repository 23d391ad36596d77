//! Questions of the checks to the machine: so that they run on a tree in memory too.

use std::io;
use std::path::Path;

use device::KernelTree;
use rustix::io::Errno;

use super::forbidden_uses::{Sought, User};
use super::users;
use crate::{LiveTree, PathIdentity, loops};

/// The bytes that a loop device shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoopBacking {
    pub(super) what: PathIdentity,
    /// Its first byte there.
    pub(super) from_bytes: u64,
    /// Largest number of bytes of it; `None` for all that follow.
    pub(super) limit_bytes: Option<u64>,
}

pub(super) trait ClaimWorld {
    /// Its `/sys` and `/proc`.
    fn tree(&self) -> &dyn KernelTree;

    /// Returns the identity of the file that a path of it leads to.
    fn identity(&self, path: &Path) -> Option<PathIdentity>;

    /// Returns the bytes that loop device `index` shows; `None` when it shows nothing.
    ///
    /// # Errors
    /// When the device cannot be asked.
    fn behind(&self, index: u32) -> io::Result<Option<LoopBacking>>;

    /// The first user of any of `sought` that was found.
    ///
    /// # Errors
    /// With the reason, where users cannot be looked for.
    fn user(&self, sought: &Sought) -> Result<Option<User>, String>;
}

#[derive(Debug)]
pub(super) struct LiveMachine {
    tree: LiveTree,
}

impl LiveMachine {
    pub(super) fn new() -> LiveMachine {
        LiveMachine { tree: LiveTree::new(Path::new("/")) }
    }
}

impl ClaimWorld for LiveMachine {
    fn tree(&self) -> &dyn KernelTree {
        &self.tree
    }

    fn identity(&self, path: &Path) -> Option<PathIdentity> {
        crate::identity(path).ok()
    }

    fn behind(&self, index: u32) -> io::Result<Option<LoopBacking>> {
        match loops::status(Path::new(&format!("/dev/loop{index}"))) {
            Ok(status) if status.number == index => Ok(Some(LoopBacking {
                what: status.identity(),
                from_bytes: status.offset_bytes,
                limit_bytes: Some(status.limit_bytes).filter(|&limit| limit > 0),
            })),
            Ok(_) => Err(io::Error::other("its node is that of another device")),
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn user(&self, sought: &Sought) -> Result<Option<User>, String> {
        users::first(&self.tree, sought)
    }
}
