//! Users who can have written a file: whoever may write it can say what a drive is.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::shared::printer::shown;

/// Others may write it: group or world.
pub(super) const OTHERS_WRITE: u32 = 0o022;

/// That only root and this user can have put anything there.
///
/// # Errors
/// With the reason.
pub(crate) fn trusted_directory(directory: &Path) -> Result<(), String> {
    let name = shown(directory);
    let data = fs::metadata(directory)
        .map_err(|error| format!("its directory {name} cannot be read: {error}"))?;
    trusted(&data).map_err(|reason| format!("its directory {name}: {reason}"))
}

/// That only root and this user can have written what has this metadata.
///
/// # Errors
/// With the reason.
pub(crate) fn trusted(data: &fs::Metadata) -> Result<(), String> {
    if data.mode() & OTHERS_WRITE != 0 {
        return Err("others may write it: chmod go-w".to_owned());
    }
    if data.uid() != 0 && data.uid() != host::user() {
        return Err(format!("user {} owns it, who is neither root nor you", data.uid()));
    }
    Ok(())
}
