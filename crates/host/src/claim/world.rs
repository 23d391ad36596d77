//! What the checks ask of the machine: so that they run on a tree in memory too.

use std::io;
use std::path::Path;

use device::KernelTree;
use rustix::io::Errno;

use crate::{Identity, LiveTree, loops};

/// A device's number: major and minor.
pub(super) type Number = (u32, u32);

/// The machine.
pub(super) trait World {
    /// Its `/sys` and `/proc`.
    fn tree(&self) -> &dyn KernelTree;

    /// What a path of it leads to.
    fn identity(&self, path: &Path) -> Option<Identity>;

    /// What is behind loop device `index`; `None` when nothing is.
    ///
    /// # Errors
    /// When the device cannot be asked.
    fn behind(&self, index: u32) -> io::Result<Option<Identity>>;
}

/// This machine.
#[derive(Debug)]
pub(super) struct Live {
    tree: LiveTree,
}

impl Live {
    pub(super) fn new() -> Live {
        Live { tree: LiveTree::new(Path::new("/")) }
    }
}

impl World for Live {
    fn tree(&self) -> &dyn KernelTree {
        &self.tree
    }

    fn identity(&self, path: &Path) -> Option<Identity> {
        crate::identity(path).ok()
    }

    fn behind(&self, index: u32) -> io::Result<Option<Identity>> {
        match loops::status(Path::new(&format!("/dev/loop{index}"))) {
            Ok(status) if status.number == index => Ok(Some(status.identity())),
            Ok(_) => Err(io::Error::other("its node is that of another device")),
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
