//! `straddle generate sysroot`: a capture of this machine, for others.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use anyhow::bail;
use host::LiveTree;
use host::capture::{self, Mask};
use units::text::escape;

use crate::arguments::{Sysroot, is_standard_output};
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, PrintedKind};

pub(crate) fn write(sysroot: &Sysroot) -> anyhow::Result<CommandOutcome> {
    let file = sysroot.output.as_deref().filter(|path| !is_standard_output(path));
    // Before the disks are asked, since that may take long.
    if let Some(path) = file
        && !sysroot.force
        && path.symlink_metadata().is_ok()
    {
        return refuse(path, "it exists", "--force replaces it");
    }
    let tree = LiveTree::new(Path::new("/"));
    let mut mask = Mask::new(sysroot.keep_paths);
    let text = mask.apply(&capture::capture(&tree)).to_text();
    put(file, sysroot.force, text.as_bytes())?;
    let masked = mask.count();
    printer::note(&format!("{masked} serials, identifiers, hosts and directories are masked"));
    Ok(CommandOutcome::Done)
}

/// Writes `bytes` to `path`, which must not exist yet unless `force` is set, or to standard output.
fn put(path: Option<&Path>, force: bool, bytes: &[u8]) -> anyhow::Result<()> {
    let Some(path) = path else {
        printer::print_bytes(PrintedKind::Data, bytes)?;
        return Ok(());
    };
    let mut options = OpenOptions::new();
    options.write(true).truncate(force).create(force).create_new(!force);
    let written = options.open(path).and_then(|mut file| file.write_all(bytes));
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            refuse(path, "it exists", "--force replaces it")
        }
        Err(error) => refuse(path, &error.to_string(), "check the path"),
    }
}

fn refuse<T>(path: &Path, reason: &str, hint: &str) -> anyhow::Result<T> {
    let path = escape(path.as_os_str().as_encoded_bytes());
    bail!("cannot write {path}: {reason}\nhint: {hint}")
}
