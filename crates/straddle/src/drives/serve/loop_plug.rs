//! A served drive as a block device: a loop device over a file of FUSE that is mounted nowhere.

use std::sync::Arc;

use anyhow::{anyhow, bail};
use host::DetachedFuse;
use serve::ServedDrive;
use serve::file::{CountsText, DISK_NAME, DriveFile};

use super::attached::Attached;
use super::fuse_plug::{self, FusePlug};
use super::guard::Guard;

/// Attaches `drive` to a loop device, which its guard holds; it is pulled after `patience` seconds
/// without an answer.
///
/// # Errors
/// When this process may not, or the kernel has no loop devices or no FUSE.
pub(super) fn insert(
    drive: &Arc<ServedDrive>,
    counts: CountsText,
    patience: u32,
) -> anyhow::Result<FusePlug> {
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
    let session = fuse_plug::prompt_thread(move || session.run());
    let disk = root.open(DISK_NAME).map_err(failed)?;
    let mut guard = Guard::start(&Attached::Loop, drive, patience, Some(disk))?;
    if let Err(error) = guard.begin() {
        guard.dismiss();
        return Err(error);
    }
    let address = guard.node().to_owned();
    Ok(FusePlug::new(guard, session, address))
}
