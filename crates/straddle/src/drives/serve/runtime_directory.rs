//! The directory of sockets and records of drives that are served.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::PathBuf;

use anyhow::anyhow;

use crate::shared::printer::shown;

/// Its path: `/run/straddle` for root, else below `$XDG_RUNTIME_DIR`, else below `/tmp`.
pub(super) fn path() -> PathBuf {
    if host::is_root() {
        return PathBuf::from("/run/straddle");
    }
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute()) {
        Some(runtime) => runtime.join("straddle"),
        None => PathBuf::from(format!("/tmp/straddle-{}", host::user())),
    }
}

/// The directory, made where it is missing. Only its owner may look into it.
///
/// # Errors
/// When it cannot be made, or belongs to somebody else.
pub(in crate::drives) fn made() -> anyhow::Result<PathBuf> {
    let path = path();
    let failed = |reason: &dyn std::fmt::Display| {
        anyhow!("cannot use {}: {reason}\nhint: name a path: --socket", shown(&path))
    };
    match DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(&error)),
        _ => {}
    }
    let data = std::fs::symlink_metadata(&path).map_err(|error| failed(&error))?;
    if !data.is_dir() || data.uid() != host::user() || data.mode() & 0o022 != 0 {
        return Err(failed(&"others may write to it, or it belongs to another user"));
    }
    Ok(path)
}
