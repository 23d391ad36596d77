//! tracefs: where the kernel describes its events.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use super::error::{TracepointError, words_of};
use super::event_format::EventFormat;

/// Directories in which tracefs is mounted, if it is.
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// The longest description of an event that is read, in bytes.
const FORMAT_BYTES_MAX: usize = 64 << 10;

/// tracefs, open: the one that is mounted, or a mount of this process's own that nobody else sees
/// and that goes with it.
#[derive(Debug)]
pub struct Tracefs {
    root: OwnedFd,
}

impl Tracefs {
    /// Opens tracefs where it is mounted, or mounts it for this process alone.
    ///
    /// # Errors
    /// When it is mounted nowhere that this process may look into, and it may not mount it.
    pub fn open() -> Result<Tracefs, TracepointError> {
        let mut denied = None;
        for path in MOUNTED {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let Ok(root) = openat(CWD, path, flags, Mode::empty()) else { continue };
            let look = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            match openat(&root, "events", look, Mode::empty()) {
                Ok(_) => return Ok(Tracefs { root }),
                Err(Errno::NOENT) => {}
                Err(errno) => denied = Some(errno),
            }
        }
        private_mount().map(|root| Tracefs { root }).map_err(|errno| {
            let reason = match denied {
                Some(denied) => format!("{}: {}", MOUNTED[0], words_of(denied)),
                None => format!("tracefs is not mounted, and cannot be: {}", words_of(errno)),
            };
            TracepointError::NoTracefs { reason: format!("{reason}; run it as root") }
        })
    }

    /// The form of the event `name`, with its group: `block/block_rq_issue`.
    ///
    /// # Errors
    /// When the kernel has no such event, or its description has another form than
    /// `Documentation/trace/events.rst` says.
    pub fn event(&self, name: &str) -> Result<EventFormat, TracepointError> {
        let fault = |reason| TracepointError::NoEvent { event: name.to_owned(), reason };
        let path = format!("events/{name}/format");
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(self.root.as_fd(), path, flags, Mode::empty());
        let file = file.map_err(|errno| fault(words_of(errno)))?;
        let text = read_all(&file).map_err(|errno| fault(words_of(errno)))?;
        EventFormat::parse(name, &text).map_err(fault)
    }
}

/// A mount of tracefs that is in no directory (fsopen(2), fsmount(2)); since Linux 5.2.
fn private_mount() -> Result<OwnedFd, Errno> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn read_all(file: &OwnedFd) -> Result<String, Errno> {
    let mut bytes = vec![0; FORMAT_BYTES_MAX];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::io::read(file, &mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    bytes.truncate(filled);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
