//! One file that may hold anything, in a directory that may be anyone's.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use report::probe::{SAVED_BYTES_MAX, Saved, saved_parse};

use super::trust::{trusted, trusted_directory};

/// Returns what the file at `path` holds; `None` where there is none.
///
/// # Errors
/// With the reason, when it cannot be read or trusted, or says what no probe finds. It neither
/// waits nor follows a link.
pub(super) fn read(path: &Path) -> Result<Option<Saved>, String> {
    // A link could lead anywhere, and a FIFO would wait for ever.
    let options = File::options().read(true).custom_flags(host::neither_follow_nor_wait()).clone();
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(format!("cannot be opened: {error}")),
    };
    let data = file.metadata().map_err(|error| format!("cannot be read: {error}"))?;
    if !data.is_file() {
        return Err("not a regular file".to_owned());
    }
    trusted(&data)?;
    if let Some(directory) = path.parent() {
        trusted_directory(directory)?;
    }
    let mut bytes = Vec::new();
    let most = SAVED_BYTES_MAX.saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    saved_parse(&bytes).map(Some).map_err(|fault| fault.to_string())
}
