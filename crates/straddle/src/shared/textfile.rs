//! Files of metrics in the directory of node_exporter's textfile collector, each put there whole.

use std::io::Write as _;
use std::path::Path;

use anyhow::anyhow;
use report::Refusal;
use units::text::shell_word;

use crate::shared::atomic_file::AtomicFile;
use crate::shared::printer::shown;

/// Rights of such a file: the collector runs as another user.
const READABLE: u32 = 0o644;

/// Refuses a place for metrics that is no directory, before anything is done for it.
pub(crate) fn require_place(directory: Option<&Path>) -> Result<(), Refusal> {
    let Some(directory) = directory.filter(|directory| !directory.is_dir()) else { return Ok(()) };
    Err(Refusal::hinted(
        format!("cannot write metrics to {}: no such directory", shown(directory)),
        format!("make it first: mkdir {}", shell_word(&shown(directory))),
    ))
}

/// Puts `text` in its place, whole.
///
/// # Errors
/// When it cannot be written; what was there is then still there.
pub(crate) fn write(directory: &Path, name: &str, text: &str) -> anyhow::Result<()> {
    let path = directory.join(name);
    let write = || {
        let mut file = AtomicFile::create(&path, READABLE)?;
        file.write_all(text.as_bytes())?;
        file.finish()
    };
    // As text: an error of the kernel's would be taken for one of standard output.
    write().map_err(|error: std::io::Error| {
        anyhow!("cannot write {}: {error}\nhint: check its rights and room", shown(&path))
    })
}
