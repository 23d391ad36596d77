//! A served drive as a block device: a loop device over a file of FUSE that is mounted nowhere.

use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{anyhow, bail};
use host::DetachedFuse;
use serve::ServedDrive;
use serve::file::{CountsText, DISK_NAME, DriveFile};

use super::guard::{Attached, Guard};
use super::plug::Plug;

/// A loop device, which its guard holds.
pub(super) struct LoopPlug {
    guard: Guard,
    session: Option<JoinHandle<std::io::Result<()>>>,
}

impl LoopPlug {
    /// Attaches `drive`, which is pulled after `patience` seconds without an answer.
    ///
    /// # Errors
    /// When this process may not, or the kernel has no loop devices or no FUSE.
    pub(super) fn insert(
        drive: &Arc<ServedDrive>,
        counts: CountsText,
        patience: u32,
    ) -> anyhow::Result<LoopPlug> {
        if !host::is_root() {
            bail!(
                "cannot attach a loop device: only root may\nhint: try sudo, or --as file, which \
                 needs no root"
            );
        }
        let failed = |error: std::io::Error| {
            anyhow!("cannot make a file for the loop device: {error}\nhint: try --as nbd")
        };
        let (connection, root) = DetachedFuse::new().map_err(failed)?.into_parts();
        let owner = (host::user(), host::group());
        let file = DriveFile::new(Arc::clone(drive), counts, owner);
        let session = file.attached(connection).map_err(failed)?;
        let session = std::thread::spawn(move || session.run());
        let disk = root.open(DISK_NAME).map_err(failed)?;
        let mut guard = Guard::start(&Attached::Loop, drive, patience, Some(disk))?;
        if let Err(error) = guard.begin() {
            guard.dismiss();
            return Err(error);
        }
        Ok(LoopPlug { guard, session: Some(session) })
    }
}

impl Plug for LoopPlug {
    fn address(&self) -> &str {
        self.guard.node()
    }

    fn is_gone(&self) -> bool {
        self.guard.is_gone() || self.session.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn look(&mut self) {
        self.guard.tick();
    }

    /// Unmounts what is on it and detaches it, when nobody uses it any more.
    ///
    /// # Errors
    /// When it stays.
    fn pull(&mut self) -> anyhow::Result<()> {
        // The connection ends with this process, where it has not ended with its last file.
        self.guard.end()
    }
}
