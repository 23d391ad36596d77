//! Opening what is measured.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use units::DiskText;

use super::error::EngineError;
use crate::Pinned;

/// Reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is read.
    Read,
    /// It is read and written.
    Write,
}

/// The file or block device at `path`, opened to be measured; with `direct` the page cache is
/// passed by, or the call fails: it is never passed by in part.
///
/// A block device is not opened for writing here. Who has a claim on one holds an open descriptor,
/// and gives that to a queue.
///
/// # Errors
/// [`EngineError::Open`] when the kernel says no, when it is neither a regular file nor a block
/// device, and when a block device is asked for with [`Access::Write`].
#[doc(alias = "O_DIRECT")]
pub fn open_measured(path: &Path, access: Access, direct: bool) -> Result<OwnedFd, EngineError> {
    let name = DiskText::from_bytes(path.as_os_str().as_encoded_bytes());
    open_called(path, &name, access, direct)
}

/// Same as [`open_measured`], of a pinned file.
///
/// # Errors
/// Same as [`open_measured`].
pub fn open_pinned(pinned: &Pinned, access: Access, direct: bool) -> Result<OwnedFd, EngineError> {
    open_called(&pinned.path(), &pinned.text(), access, direct)
}

/// Same as [`open_measured`], where the file at `path` is called `name`.
fn open_called(
    path: &Path,
    name: &DiskText,
    access: Access,
    direct: bool,
) -> Result<OwnedFd, EngineError> {
    let failed = |reason: String, hint| EngineError::Open {
        path: name.clone(),
        purpose: purpose(access, direct),
        reason,
        hint,
    };
    let refused = |error: Errno| {
        let hint = match error {
            Errno::INVAL if direct => "its file system does not do direct I/O: choose another",
            Errno::ACCESS | Errno::PERM => "you may not open it: try sudo",
            _ => "",
        };
        failed(crate::errno::text_of(error), hint)
    };
    // Asked before it is opened, since opening alone has effects on what is neither.
    check(path, access).map_err(|reason| failed(reason, ""))?;
    let mode = match access {
        Access::Read => OFlags::RDONLY,
        Access::Write => OFlags::RDWR,
    };
    let direct_flag = if direct { OFlags::DIRECT } else { OFlags::empty() };
    let flags = mode | direct_flag | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(refused)?;
    // The path may have led elsewhere by then; a queue must wait, so O_NONBLOCK goes.
    let stat = rustix::fs::fstat(&file).map_err(refused)?;
    suits(FileType::from_raw_mode(stat.st_mode), access).map_err(|reason| failed(reason, ""))?;
    rustix::fs::fcntl_setfl(&file, direct_flag).map_err(refused)?;
    Ok(file)
}

fn check(path: &Path, access: Access) -> Result<(), String> {
    let stat = rustix::fs::stat(path).map_err(crate::errno::text_of)?;
    suits(FileType::from_raw_mode(stat.st_mode), access)
}

fn suits(kind: FileType, access: Access) -> Result<(), String> {
    match (kind, access) {
        (FileType::RegularFile, _) | (FileType::BlockDevice, Access::Read) => Ok(()),
        (FileType::BlockDevice, Access::Write) => {
            Err("a block device is written only by who has an exclusive claim on it".to_owned())
        }
        _ => Err("it is neither a regular file nor a block device".to_owned()),
    }
}

fn purpose(access: Access, direct: bool) -> &'static str {
    match (access, direct) {
        (Access::Read, false) => "reading",
        (Access::Read, true) => "direct reading",
        (Access::Write, false) => "reading and writing",
        (Access::Write, true) => "direct reading and writing",
    }
}

/// Files as the queues keep them.
pub(super) fn checked(files: Vec<OwnedFd>) -> Result<Vec<File>, EngineError> {
    match files.len() {
        1..=65535 => Ok(files.into_iter().map(File::from).collect()),
        files => Err(EngineError::Files { files }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::{Loop, need_loops};

    #[test]
    fn a_block_device_is_not_opened_for_writing_and_a_pipe_not_at_all() {
        let error = open_measured(Path::new("/dev/null"), Access::Read, false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot open /dev/null for reading: it is neither a regular file nor a block device"
        );
        need_loops!();
        let scratch = testkit::Scratch::new();
        let device = Loop::attach(&scratch.image("disk", 1 << 20), 512);
        assert!(open_measured(device.path(), Access::Read, true).is_ok());
        let error = open_measured(device.path(), Access::Write, true).unwrap_err();
        assert!(error.to_string().contains("exclusive claim"), "{error}");
    }

    #[test]
    fn a_missing_file_says_what_was_tried_on_what() {
        let error = open_measured(Path::new("/nonexistent"), Access::Write, true).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot open /nonexistent for direct reading and writing: \
             No such file or directory (os error 2)"
        );
    }
}
