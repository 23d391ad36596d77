//! The converted disk, as a new raw file.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use device::{Disk, disk};
use host::{FileDisk, ImageRefusal, Interrupt, Pinned, Sparse as _};
use report::Refusal;

use super::conversion::Conversion;
use super::refuse;
use crate::arguments::{Convert, is_standard_output};
use crate::shared::atomic_file::AtomicFile;
use crate::shared::printer::shown;

/// Bytes that are read at once, and the unit in which zeros are left out.
const CHUNK_BYTES: u64 = 1 << 20;
const BLOCK_BYTES: usize = 64 << 10;

/// Why there is no new file.
pub(super) enum CopyEnd {
    /// A signal came.
    Interrupted(i32),
    /// The reason.
    Failed(String),
}

/// Facts of a file that change where somebody writes to it; of a device, nothing does.
#[derive(PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> std::io::Result<Stamp> {
        let facts = path.metadata()?;
        Ok(Stamp { bytes: facts.len(), changed: (facts.mtime(), facts.mtime_nsec()) })
    }
}

impl From<std::io::Error> for CopyEnd {
    fn from(error: std::io::Error) -> CopyEnd {
        CopyEnd::Failed(error.to_string())
    }
}

/// Rejects a new file that exists, and standard output.
pub(super) fn require_free(convert: &Convert) -> Result<(), Refusal> {
    if convert.output.as_ref().is_some_and(|path| is_standard_output(path)) {
        let message =
            format!("cannot convert {} to standard output: name a file", shown(&convert.target));
        let hint = "for a file of that name: -o ./-";
        return Err(Refusal::hinted(message, hint));
    }
    let Some(output) = &convert.output else { return Ok(()) };
    let hint = || Some("name a new file: -o FILE".to_owned());
    match output.symlink_metadata() {
        Ok(_) => Err(refuse(convert, &format!("{} exists", shown(output)), hint())),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(refuse(convert, &format!("{}: {error}", shown(output)), hint()))
        }
        Err(_) if output.file_name().is_none() || output.as_os_str().as_bytes().ends_with(b"/") => {
            Err(refuse(convert, &format!("{} is not a file", shown(output)), hint()))
        }
        Err(_) => Ok(()),
    }
}

/// Returns the use of the target, or of a file that it needs, by whoever may write to it.
pub(super) fn writer(convert: &Convert, found: &Conversion) -> Option<ImageRefusal> {
    match &found.files[..] {
        [] => host::device_writer(&convert.target),
        files => {
            files.iter().find_map(|file| host::file_writer(file.identity, &file.path, &file.name))
        }
    }
}

/// Rejects a copy of an image or a device that somebody may write to, as `qemu-img convert` does.
pub(super) fn require_unwritten(convert: &Convert, found: &Conversion) -> Result<(), Refusal> {
    let Some(used) = writer(convert, found) else { return Ok(()) };
    let subject = format!("{} is ", shown(&convert.target));
    let reason = used.reason.strip_prefix(&subject).unwrap_or(&used.reason);
    Err(refuse(convert, reason, used.hint))
}

/// Writes the disk after `found` to the new file `output`, and returns the bytes that are no holes.
/// Until all is there, the file has no name or another one.
///
/// # Errors
/// Why no file was made.
pub(super) fn write(
    convert: &Convert,
    found: &Conversion,
    output: &Path,
    interrupt: &Interrupt,
) -> Result<u64, CopyEnd> {
    let stamp = Stamp::of(&convert.target)?;
    let atomic = AtomicFile::create(output, 0o666)?;
    let file = atomic.file();
    let after = found.after.as_ref();
    file.set_len(after.length_bytes())?;
    let source = found.source.as_ref().and_then(|path| Pinned::at(path).ok());
    let source = source.and_then(|node| FileDisk::of(&node).ok());
    let guest = found.qcow2.as_ref().and_then(|image| image.disk().ok());
    let mut written = 0;
    let length = found.before.length_bytes();
    let mut at = 0;
    loop {
        at = match (&source, &guest) {
            (Some(source), _) if at < length => source.next_data(at),
            (_, Some(guest)) if at < length => guest.next_data(at),
            _ => at,
        };
        if at >= length {
            break;
        }
        let end = length.min(at + CHUNK_BYTES);
        written += copy(after, file, at, end, interrupt)?;
        at = end;
    }
    // Parts of the new disk may be where the old one has holes.
    for range in after.changed() {
        let mut at = range.start_bytes();
        while at < range.end_bytes() {
            let end = range.end_bytes().min(at + CHUNK_BYTES);
            copy(after, file, at, end, interrupt)?;
            at = end;
        }
    }
    if Stamp::of(&convert.target)? != stamp || writer(convert, found).is_some() {
        let reason = "another program wrote to the image, or may, since the copy began";
        return Err(CopyEnd::Failed(reason.to_owned()));
    }
    atomic.finish_new().map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            CopyEnd::Failed("another program made a file with that name meanwhile".to_owned())
        }
        _ => CopyEnd::from(error),
    })?;
    Ok(written)
}

/// Writes what is not zero from `at` to `end`; returns its length in bytes.
fn copy(
    from: &dyn Disk,
    to: &File,
    at: u64,
    end: u64,
    interrupt: &Interrupt,
) -> Result<u64, CopyEnd> {
    if let Some(signal) = interrupt.signal() {
        return Err(CopyEnd::Interrupted(signal));
    }
    let bytes =
        disk::read_vec(from, at, end - at).map_err(|error| CopyEnd::Failed(error.to_string()))?;
    let mut written = 0;
    for (block, at) in bytes.chunks(BLOCK_BYTES).zip((at..).step_by(BLOCK_BYTES)) {
        if !disk::is_filled_with(block, 0) {
            to.write_all_at(block, at)?;
            written += disk::length_of(block);
        }
    }
    Ok(written)
}
