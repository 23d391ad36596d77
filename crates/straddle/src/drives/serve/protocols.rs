//! The plug of each protocol.

use std::sync::Arc;

use report::drive::served_json;
use serve::ServedDrive;
use serve::file::CountsText;

use super::counts::Counts;
use super::nbd_plug::NbdPlug;
use super::plug::Plug;
use super::{file_plug, loop_plug};
use crate::arguments::{Protocol, Serve};

/// Makes `drive` usable as `asked`; `counts` are shown where there is a place for them.
///
/// # Errors
/// When that is not possible here; nothing is left then.
pub(super) fn insert(
    asked: &Serve,
    drive: &Arc<ServedDrive>,
    counts: &Arc<Counts>,
) -> anyhow::Result<Box<dyn Plug>> {
    let told = Arc::clone(counts);
    let counts: CountsText = Box::new(move || served_json(&told.document()).into_bytes());
    Ok(match asked.protocol {
        Protocol::Nbd => Box::new(NbdPlug::insert(asked, drive)?),
        Protocol::File => {
            let mount = asked.mount.as_deref();
            Box::new(file_plug::insert(mount, drive, counts, asked.patience)?)
        }
        Protocol::Loop => Box::new(loop_plug::insert(drive, counts, asked.patience)?),
    })
}

/// Makes `drive` usable as a file or a block device in a place of its own, without counts. It is
/// pulled after `patience` seconds without an answer.
///
/// # Errors
/// Those of [`insert`].
pub(in super::super) fn attach(
    protocol: Protocol,
    drive: &Arc<ServedDrive>,
    patience: u32,
) -> anyhow::Result<Box<dyn Plug + Send>> {
    let counts: CountsText = Box::new(Vec::new);
    Ok(match protocol {
        Protocol::Loop => Box::new(loop_plug::insert(drive, counts, patience)?),
        _ => Box::new(file_plug::insert(None, drive, counts, patience)?),
    })
}
