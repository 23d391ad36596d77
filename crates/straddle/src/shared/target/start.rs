//! Start of the stack of a file.

use std::path::Path;
use std::rc::Rc;

use device::FileIdentity;
use host::{FileDisk, HeadCache, PathIdentity};
use report::Refusal;
use stack::assemble::{Start, StartKind};
use units::text;

use crate::shared::printer::shown;

/// Returns where the stack starts of what a directory has under the name of an image, and is no
/// file.
pub(crate) fn start_odd(path: &Path, what: &str) -> Start {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let identity = FileIdentity { device: 0, inode: 0 };
    let path = path.as_os_str().as_encoded_bytes().to_vec();
    let kind = StartKind::File { path, identity };
    let bytes = Some(Err(format!("cannot read it: {what}, not a file")));
    Start { kind, name: text::escape(name), bytes }
}

/// Returns where the stack of a file starts.
///
/// # Errors
/// When it cannot be opened; says why, and what helps.
pub(crate) fn start_file(path: &Path) -> Result<Start, Refusal> {
    let disk = FileDisk::open(path)
        .map_err(|error| Refusal::new(error.to_string(), error.hint().map(str::to_owned)))?;
    let identity = match disk.identity() {
        PathIdentity::File { device, inode } => FileIdentity { device, inode },
        PathIdentity::Block { major, minor } => {
            FileIdentity { device: u64::from(major), inode: u64::from(minor) }
        }
    };
    let name =
        path.file_name().map_or_else(|| shown(path), |name| text::escape(name.as_encoded_bytes()));
    let path = path.as_os_str().as_encoded_bytes().to_vec();
    let kind = StartKind::File { path, identity };
    Ok(Start { kind, name, bytes: Some(Ok(Rc::new(HeadCache::new(disk)))) })
}
