//! A loop device of ours once more, for a queue.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};

use super::attach::{LoopDevice, LoopError};

impl LoopDevice {
    /// The device, opened on its own for reading and writing; with `direct` past the page cache.
    /// Writes go to the file that this process attached, and nowhere else.
    ///
    /// # Errors
    /// [`LoopError::NoNode`] when the node cannot be opened, or leads to another device.
    pub fn open(&self, direct: bool) -> Result<OwnedFd, LoopError> {
        let failed = |reason: String| LoopError::NoNode { node: self.node().to_owned(), reason };
        let direct = if direct { OFlags::DIRECT } else { OFlags::empty() };
        let flags = OFlags::RDWR | OFlags::CLOEXEC | direct;
        let of = |error: rustix::io::Errno| failed(crate::errno::text_of(error));
        let file = rustix::fs::open(self.node(), flags, Mode::empty()).map_err(of)?;
        let (own, other) = (rustix::fs::fstat(self.fd()), rustix::fs::fstat(&file));
        if own.map_err(of)?.st_rdev != other.map_err(of)?.st_rdev {
            return Err(failed("it is the node of another device".to_owned()));
        }
        Ok(file)
    }

    /// Holds the device open for reading alone from now on, so that nobody takes this process for
    /// one that writes to it.
    ///
    /// # Errors
    /// [`LoopError::NoNode`] when the node cannot be opened; it is held as before then.
    pub fn hold_for_reading(&mut self) -> Result<(), LoopError> {
        let node = self.node().to_owned();
        let file = rustix::fs::open(&node, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let failed = |error| LoopError::NoNode { node, reason: crate::errno::text_of(error) };
        self.device = Some(file.map_err(failed)?);
        Ok(())
    }
}
