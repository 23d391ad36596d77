//! A served drive as a file of FUSE, mounted on a directory.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::anyhow;
use serve::ServedDrive;
use serve::file::{CountsText, DISK_NAME, DriveFile};

use super::attached::Attached;
use super::fuse_plug::{self, FusePlug};
use super::guard::Guard;
use super::runtime_directory;
use crate::shared::printer::shown;

/// Number of directories that this process made.
static DIRECTORIES: AtomicU32 = AtomicU32::new(0);

/// Mounts `drive` on directory `mount`, else on a new one, with a guard that takes the mount away
/// when this process cannot, and after `patience` seconds without an answer.
///
/// # Errors
/// When it cannot be mounted there.
pub(super) fn insert(
    mount: Option<&Path>,
    drive: &Arc<ServedDrive>,
    counts: CountsText,
    patience: u32,
) -> anyhow::Result<FusePlug> {
    let (point, is_own) = match mount {
        Some(point) => (std::path::absolute(point)?, false),
        None => {
            // An old session ends by unmounting its directory, so none has that of another.
            let number = DIRECTORIES.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{number}", std::process::id());
            let point = runtime_directory::made()?.join(name);
            std::fs::create_dir(&point).map_err(|error| refused(&point, &error))?;
            (point, true)
        }
    };
    let attached = Attached::Point { point: point.clone(), is_own };
    let mut guard = Guard::start(&attached, drive, patience, None)?;
    let owner = (host::user(), host::group());
    let mounted = DriveFile::new(Arc::clone(drive), counts, owner).mounted(&point);
    let session = match mounted {
        Ok(session) => session,
        Err(error) => {
            guard.dismiss();
            return Err(refused(&point, &error));
        }
    };
    let session = fuse_plug::prompt_thread(move || session.run());
    guard.begin()?;
    let address = shown(&point.join(DISK_NAME));
    Ok(FusePlug::new(guard, session, address))
}

fn refused(point: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow!(
        "cannot mount on {}: {error}\nhint: name an empty directory of your own with --mount; \
         without root, install fuse3",
        shown(point)
    )
}
